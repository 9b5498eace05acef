"""`.harborignore` leaves files of tests and solution at home, as Harbor does."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.agents.oracle import OracleAgent
from engine.events import ArmInfo
from engine.issues import TrialFailed
from engine.tasks.folder import read_task
from engine.tasks.harbor_ignore import NAME, HarborIgnore, selected
from engine.tasks.invalid import TaskInvalid
from tests.engine.agents.sessions import Session
from tests.engine.tasks.task_folders import make_task, write_files
from tests.engine.trial.trials import Rig

FILES: dict[str, str | bytes | None] = {
    "tests/.harborignore": "# what only authors need\n*.bak\n/notes/\n!keep.bak\n",
    "tests/a.bak": "x",
    "tests/keep.bak": "x",
    "tests/deep/a.bak": "x",
    "tests/deep/.harborignore": "!a.bak\nsecret\n",
    "tests/deep/secret/key": "x",
    "tests/deep/notes/n": "x",
    "tests/notes/keep.bak": "x",
    "solution/solve.sh": "true\n",
    "solution/a.bak": "x",
    "solution/.harborignore": "draft*\n",
    "solution/draft.md": "x",
    "steps/one/tests/.harborignore": "*.bak\n",
    "steps/one/tests/a.bak": "x",
    "steps/one/workdir/a.bak": "x",
    "environment/a.bak": "x",
}


def below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_the_deeper_file_wins_and_a_folder_that_is_left_out_takes_all_in_it_along(tmp_path: Path) -> None:
    task = make_task(tmp_path / "t", files=FILES)
    ignore = HarborIgnore(task)
    out = {name for name in FILES if ignore.leaves_out(task / name)}
    assert out == {
        *("tests/.harborignore", "tests/deep/.harborignore", "solution/.harborignore", "steps/one/tests/.harborignore"),
        *("tests/a.bak", "tests/deep/secret/key", "tests/notes/keep.bak", "solution/draft.md"),
        "steps/one/tests/a.bak",
    }


def test_what_is_carried_in_is_the_rest_with_its_modes_and_links(tmp_path: Path) -> None:
    task = make_task(tmp_path / "t", files=FILES)
    (task / "tests" / "test.sh").chmod(0o751)
    (task / "tests" / "link").symlink_to("keep.bak")
    (task / "tests" / "to-secret").symlink_to("deep/secret")
    chosen = selected(task, task / "tests", tmp_path / "place")
    assert below(chosen) == ["deep/a.bak", "deep/notes/n", "keep.bak", "link", "test.sh"]
    assert (chosen / "test.sh").stat().st_mode & 0o777 == 0o751
    assert (chosen / "link").readlink() == Path("keep.bak")


def test_a_task_without_rules_is_carried_in_as_it_lies(tmp_path: Path) -> None:
    task = make_task(tmp_path / "t")
    assert selected(task, task / "tests", tmp_path / "place") == task / "tests"
    assert not (tmp_path / "place").exists()


def test_the_digest_is_of_what_counts(tmp_path: Path) -> None:
    task = make_task(tmp_path / "t", files=FILES)
    before = read_task(task).digest
    write_files(task, {"tests/a.bak": "other", "solution/draft.md": "other", "tests/new.bak": "new"})
    assert read_task(task).digest == before
    write_files(task, {"tests/keep.bak": "other"})
    assert read_task(task).digest != before
    changed = read_task(task).digest
    write_files(task, {"tests/.harborignore": "*.bak\n"})
    assert read_task(task).digest != changed, "other files count now"


def test_a_verifier_that_is_left_out_is_no_verifier(tmp_path: Path) -> None:
    with pytest.raises(TaskInvalid, match=r"tests/test\.sh: is left out by \.harborignore"):
        read_task(make_task(tmp_path / "t", files={"tests/.harborignore": "*.sh\n"}))
    baked: dict[str, str | bytes | None] = {
        "tests/.harborignore": "*.sh\n",
        "tests/Dockerfile": "FROM x\nCOPY . /tests\n",
    }
    assert read_task(make_task(tmp_path / "b", '[verifier]\nenvironment_mode = "separate"\n', baked)).digest


def test_a_link_out_of_the_task_is_no_harm_where_it_is_left_out(tmp_path: Path) -> None:
    task = make_task(tmp_path / "t", files={"tests/.harborignore": "/out\n"})
    (task / "tests" / "out").symlink_to("/etc/hostname")
    assert read_task(task).id == "t"
    (task / "tests" / "other").symlink_to("/etc/hostname")
    with pytest.raises(TaskInvalid, match="leaves the task folder"):
        read_task(task)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"!\n", None])
def test_rules_that_cannot_be_read_are_named(tmp_path: Path, content: bytes | None) -> None:
    task = make_task(tmp_path / "t")
    place = task / "tests" / NAME
    if content is None:
        place.mkdir()
    else:
        place.write_bytes(content)
    with pytest.raises(TaskInvalid, match=r"tests/\.harborignore: expected"):
        read_task(task)


def test_rules_that_lead_out_of_the_task_are_not_followed(tmp_path: Path) -> None:
    task = make_task(tmp_path / "t")
    (tmp_path / "rules").write_text("*.sh\n")
    (task / "tests" / NAME).symlink_to(tmp_path / "rules")
    with pytest.raises(TaskInvalid, match=r"\.harborignore"):
        read_task(task)


def test_rules_where_they_say_nothing_are_a_warning(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {NAME: "tests/test.sh\n", f"environment/{NAME}": "Dockerfile\n"}
    warnings = read_task(make_task(tmp_path / "t", files=files)).warnings
    assert [(warning.file, "no effect" in warning.message) for warning in warnings] == [
        (NAME, True),
        (f"environment/{NAME}", True),
    ]


@pytest.mark.anyio
async def test_neither_verifier_nor_oracle_gets_what_is_left_out(tmp_path: Path) -> None:
    files = {name: content for name, content in FILES.items() if not name.startswith("steps/")}
    rig = Rig(tmp_path, files=files)
    rig.scores()
    await rig.trial()
    tests = rig.provider.environments[0].place("/tests", "main")
    assert below(tests) == ["deep/a.bak", "deep/notes/n", "keep.bak", "test.sh"]


@pytest.mark.anyio
async def test_the_oracle_s_solution_comes_without_what_is_left_out(tmp_path: Path) -> None:
    session = Session(tmp_path, ArmInfo(name="o", agent="oracle"), files=FILES)
    await OracleAgent().set_up(session.given)
    assert below(session.environment.place("/solution", "main")) == ["a.bak", "solve.sh"]
    (session.given.task.folder / "solution" / NAME).write_text("*.sh\n")
    with pytest.raises(TrialFailed, match=r"needs solution/solve\.sh, which \.harborignore of task task leaves out"):
        await OracleAgent().set_up(session.given)
