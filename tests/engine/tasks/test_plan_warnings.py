"""What a plan tells of a task before it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.issues import Code, Issue, Severity
from engine.tasks.compose_names import ComposeUnreadable, GlobalName, global_names, read_compose, taken_alone
from engine.tasks.folder import read_task
from engine.tasks.lint import plan_warnings
from tests.engine.tasks.task_folders import make_task
from tests.shared_data import shared_data

SEPARATE = '[verifier]\nenvironment_mode = "separate"\n'
Files = dict[str, str | bytes | None]


def warnings_of(folder: Path, toml: str = "", files: Files | None = None, **allowed: str) -> list[Issue]:
    found = plan_warnings(read_task(make_task(folder, toml, files)), allowed)
    assert {issue.severity for issue in found} <= {Severity.WARNING}
    assert {issue.phase for issue in found} <= {None}
    return list(found)


def compose(text: str) -> Files:
    return {"environment/docker-compose.yaml": text}


def test_a_task_without_surprises_has_no_warnings(tmp_path: Path) -> None:
    assert warnings_of(tmp_path / "hello") == []


def test_real_tasks_have_no_warnings() -> None:
    folder = shared_data("deep-swe")
    for child in sorted(folder.iterdir()):
        if child.is_dir():
            assert plan_warnings(read_task(child)) == ()


def test_an_unknown_key_is_told_in_the_plan(tmp_path: Path) -> None:
    (issue,) = warnings_of(tmp_path / "hello", "[environment]\ncpu = 1\n")
    assert (issue.code, issue.message) == (
        Code.TASK_WARNING,
        'task.toml: environment.cpu: unknown key, ignored; did you mean "cpus"?',
    )


def test_a_separate_verifier_that_is_handed_nothing_is_told(tmp_path: Path) -> None:
    """Case 40."""
    (issue,) = warnings_of(tmp_path / "hello", SEPARATE)
    assert issue.code is Code.NOTHING_HANDED_OVER
    assert "/logs/artifacts" in issue.message


@pytest.mark.parametrize(
    "toml",
    [
        'artifacts = ["/app/answer.txt"]\n' + SEPARATE,
        SEPARATE + '[[verifier.collect]]\ncommand = "dump"\n',
        '[verifier]\nenvironment_mode = "shared"\n',
    ],
)
def test_a_verifier_that_is_handed_something_is_not(tmp_path: Path, toml: str) -> None:
    """Case 40."""
    assert warnings_of(tmp_path / "hello", toml) == []


def test_the_step_whose_verifier_is_handed_nothing_is_named(tmp_path: Path) -> None:
    """Case 40."""
    toml = SEPARATE + '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\nartifacts = ["/x"]\n'
    files: Files = {"steps/one/instruction.md": "1", "steps/two/instruction.md": "2"}
    (issue,) = warnings_of(tmp_path / "hello", toml, files)
    assert (issue.code, issue.step) == (Code.NOTHING_HANDED_OVER, "one")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"tests/Dockerfile": "FROM x\nCOPY . /tests\n", "tests/test.sh": None}, "there is no test.sh"),
        ({"tests/Dockerfile": "FROM x\nRUN true\n"}, "the Dockerfile copies nothing"),
        ({"tests/Dockerfile": "FROM x\n  copy . /tests\n"}, ""),
        ({"tests/Dockerfile": "FROM x\nRUN echo > /tests/test.sh\n"}, ""),
    ],
)
def test_a_verifier_image_without_a_test_script_is_told(tmp_path: Path, files: Files, said: str) -> None:
    """Case 40."""
    found = warnings_of(tmp_path / "hello", 'artifacts = ["/x"]\n' + SEPARATE, files)
    assert [said in issue.message and issue.code for issue in found] == ([Code.TASK_WARNING] if said else [])


FIXED = """
services:
  main: {image: debian:bookworm-slim, command: [sleep, "60"], init: true,
         container_name: fixed, ports: ["127.0.0.1:18999:80"]}
"""


def test_a_fixed_container_name_or_host_port_is_told_before_the_run(tmp_path: Path) -> None:
    """Case 4."""
    (issue,) = warnings_of(tmp_path / "hello", files=compose(FIXED))
    assert issue.code is Code.TASK_WARNING and "set aside" in issue.message
    assert issue.message.startswith("environment/docker-compose.yaml: ")
    assert [(evidence.label, evidence.text) for evidence in issue.evidence] == [
        ("services.main.container_name", "fixed"),
        ("services.main.ports", "18999"),
    ]


STATIC = """
services: {a: {networks: {n: {ipv4_address: 10.1.0.5}}}}
networks: {n: {ipam: {config: [{subnet: 10.1.0.0/24}]}}}
"""


def test_fixed_addresses_keep_their_range_so_that_trials_run_one_after_another(tmp_path: Path) -> None:
    """Case 4, case 16."""
    (issue,) = warnings_of(tmp_path / "hello", files=compose(STATIC))
    assert issue.code is Code.TASK_SERIALISED and "10.1.0.0/24" in issue.message
    file = tmp_path / "hello" / "environment" / "docker-compose.yaml"
    assert taken_alone(file) == ("10.1.0.0/24",)
    file.write_text(STATIC.replace("{ipv4_address: 10.1.0.5}", "{}"))
    assert taken_alone(file) == taken_alone(None) == taken_alone(tmp_path / "none.yaml") == ()


def test_the_verifiers_own_compose_file_is_looked_at_too(tmp_path: Path) -> None:
    """Case 4."""
    toml = 'artifacts = ["/x"]\n' + SEPARATE
    (issue,) = warnings_of(tmp_path / "hello", toml, {"tests/docker-compose.yaml": FIXED})
    assert issue.message.startswith("tests/docker-compose.yaml: ")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("services: {a: {ports: [80]}}", []),
        ("services: {a: {ports: ['80', '127.0.0.1::80', '0:80']}}", []),
        ("services: {a: {ports: ['8080:80']}}", [("services.a.ports", "8080")]),
        ("services: {a: {ports: [22:22]}}", [("services.a.ports", "22")]),
        ("services: {a: {ports: ['[::1]:8080:80/udp']}}", [("services.a.ports", "8080")]),
        ("services: {a: {ports: ['8000-8010:80-90']}}", [("services.a.ports", "8000-8010")]),
        ("services: {a: {ports: [{target: 80, published: 8080}]}}", [("services.a.ports", "8080")]),
        ("services: {a: {ports: [{target: 80}]}}", []),
        ("services: {a: {ports: !override ['1:1']}}", [("services.a.ports", "1")]),
        ("services: {a: {container_name: !reset null}}", []),
        ("x: &x {container_name: n}\nservices: {a: {<<: *x}}", [("services.a.container_name", "n")]),
        ("volumes: {v: {name: n}, w: {name: n, external: true}, x: {}}", [("volumes.v.name", "n")]),
        ("networks: {n: {name: m}}", [("networks.n.name", "m")]),
        ("networks: {n: {ipam: {config: [{subnet: 10.1.0.0/24}]}}}", [("networks.n.ipam", "10.1.0.0/24")]),
        ("services: [a]\nnetworks: 1\nvolumes:", []),
        ("services: {a: , b: {ports: x}}", []),
    ],
)
def test_which_names_are_global_on_the_daemon(tmp_path: Path, text: str, names: list[tuple[str, str]]) -> None:
    """Case 4."""
    file = tmp_path / "docker-compose.yaml"
    file.write_text(text)
    assert global_names(read_compose(file)) == tuple(GlobalName(where=where, value=value) for where, value in names)


@pytest.mark.parametrize(
    "text",
    [
        b"services: {a: [}",
        b"a: b: c",
        b"[1]",
        b"",
        b"\xff\xfe\xfd",
        b"a: *b",
        b"? [1, {a: b}]\n: 1",
        b"\0",
        b"[" * 5000,
    ],
)
def test_a_compose_file_that_is_none_is_a_warning_and_never_a_crash(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "docker-compose.yaml"
    file.write_bytes(text)
    with pytest.raises(ComposeUnreadable):
        read_compose(file)
    (issue,) = warnings_of(tmp_path / "hello", files={"environment/docker-compose.yaml": text})
    assert issue.code is Code.COMPOSE_INVALID
    assert issue.message.startswith("environment/docker-compose.yaml")


def test_a_syntax_error_of_a_compose_file_names_its_line(tmp_path: Path) -> None:
    (issue,) = warnings_of(tmp_path / "hello", files=compose("services:\n  a: b\n c: d\n"))
    assert issue.message.startswith("environment/docker-compose.yaml, line 3: ")


def test_collecting_from_a_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    toml = 'artifacts = [{source = "/x", service = "sied"}, {source = "/y", service = "side"}]\n'
    (issue,) = warnings_of(tmp_path / "hello", toml, compose("services: {main: {}, side: {}}"))
    assert 'collects from service "sied"' in issue.message
    included = compose("include: [more.yaml]\nservices: {side: {}}")
    assert warnings_of(tmp_path / "included", toml, included) == []


def test_variables_of_the_host_are_told_by_name(tmp_path: Path) -> None:
    toml = '[environment.env]\nA = "${TOKEN:-none}"\nB = "${URL}"\nC = "x${TOKEN}"\n[solution.env]\nD = "${NEEDED}"\n'
    found = [issue.message for issue in warnings_of(tmp_path / "hello", toml, URL="http://x")]
    assert len(found) == 3
    assert "environment.env.A: asks for the host's TOKEN" in found[0] and "--allow-host-env TOKEN" in found[0]
    assert "environment.env.B: is filled with the host's URL" in found[1]
    assert "environment.env.C: ${TOKEN} is only a part of the value" in found[2]
    assert "http://x" not in "".join(found)
