"""Real containers: values arrive as written, only allowed host variables, no network where none was asked for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.end_to_end.deck import only_run, state_of, trial_of, trialdeck
from tests.end_to_end.small_tasks import small_task

pytestmark = pytest.mark.docker

SECRET = "s3cr3t-$HOME-'quoted'-\"too\""
COMPOSE = 'services:\n  main:\n    environment: {SEEN: "${TD_SECRET:-not allowed}"}\n'


WEB = "services:\n  web: {image: debian:bookworm-slim, init: true, command: [sleep, '600']}\n"
WRITTEN = "a$b ${c} $$d \\ 'e' \"f\" `g`"


def value_task(folder: Path, test: str = "", **files: str) -> None:
    small_task(
        folder,
        toml=f"[environment]\nenv = {{ WRITTEN = '''{WRITTEN}''', GIVEN = \"${{TD_SECRET}}\" }}\n",
        test=(
            'printf %s "$WRITTEN" > /logs/artifacts/written; printf %s "$GIVEN" | sha256sum > /logs/artifacts/given\n'
            f"{test}cp -r /logs/artifacts/. /logs/verifier/; echo 1 > /logs/verifier/reward.txt\n"
        ),
        **files,
    )


def closed_task(folder: Path, test: str = "", **files: str) -> None:
    small_task(
        folder,
        toml='[environment]\nnetwork_mode = "no-network"\n',
        test=f"ok=1\ngetent hosts example.org >/dev/null && ok=0\n{test}echo $ok > /logs/verifier/reward.txt\n",
        **files,
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """One run over all of them, each for a single container and for a Compose project: its folder, and its output."""
    place = tmp_path_factory.mktemp("values")
    tasks = place / "tasks"
    value_task(tasks / "values")
    seen = 'printf %s "$SEEN" | sha256sum > /logs/artifacts/seen\n'
    value_task(tasks / "values-composed", seen, **{"environment__docker-compose_dot_yaml": COMPOSE})
    closed_task(tasks / "closed")
    inside = "getent hosts web >/dev/null || ok=0\n"
    closed_task(tasks / "closed-composed", inside, **{"environment__docker-compose_dot_yaml": WEB})
    arguments = ("run", "tasks", "--agent", "oracle", "--plain", "--allow-host-env", "TD_SECRET")
    answer = trialdeck(*arguments, cwd=place, env={"TD_SECRET": SECRET})
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return only_run(place), answer.stdout + answer.stderr


@pytest.mark.parametrize(("task", "seen"), [("values", False), ("values-composed", True)])
def test_values_arrive_as_written_and_stay_out_of_every_file(ran: tuple[Path, str], task: str, seen: bool) -> None:
    """Nobody on the way reads `$`, quotes and backslashes."""
    run, output = ran
    logs = run / f"{task}__oracle__1" / "verifier"
    assert (logs / "written").read_text() == WRITTEN
    digest = hashlib.sha256(SECRET.encode()).hexdigest()
    assert (logs / "given").read_text().startswith(digest)
    if seen:
        assert (logs / "seen").read_text().startswith(digest)
    assert [path for path in run.rglob("*") if path.is_file() and b"s3cr3t" in path.read_bytes()] == []
    assert "s3cr3t" not in output


def test_a_variable_that_was_not_allowed_refuses_the_task_by_name(tmp_path: Path) -> None:
    small_task(tmp_path / "asks", toml='[environment]\nenv = { KEY = "${TD_SECRET}" }\n')
    answer = trialdeck("run", "asks", "--agent", "oracle", "--plain", cwd=tmp_path, env={"TD_SECRET": SECRET})
    assert answer.returncode == 2
    assert "TD_SECRET" in answer.stderr and "--allow-host-env" in answer.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("task", ["closed", "closed-composed"])
def test_no_network_reaches_nothing_outside_but_its_own_services(ran: tuple[Path, str], task: str) -> None:
    run, output = ran
    assert trial_of(state_of(run), task).state == "passed", output
