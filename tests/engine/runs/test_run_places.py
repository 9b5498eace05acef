"""A run whose folder or disk gives no room, goes away, or can't be measured."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import anyio
import psutil
import pytest

from engine.issues import Code, Severity
from engine.layout import EVENTS
from engine.runs import run as run_module
from engine.trial_state import CANCELLED, QUEUED
from tests.engine.fake_environment import Command
from tests.engine.runs.runs import COMMAND, REWARD, SIX, RunRig, codes
from tests.engine.trial.trials import writes

pytestmark = pytest.mark.anyio


async def test_a_disk_that_is_nearly_full_stops_admission_case_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = [10 << 30]

    class Usage:
        @property
        def free(self) -> int:
            return free[0]

    monkeypatch.setattr(psutil, "disk_usage", lambda path: Usage())
    rig = RunRig(tmp_path, SIX, arms=COMMAND, concurrency=1)

    def fill(command: Command) -> None:
        free[0] = 1 << 20

    rig.provider.when("work", times=1)
    rig.provider.when("work", does=fill)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 3
    assert (rig.state.count("passed"), rig.state.count(CANCELLED)) == (2, 4)
    (issue,) = [issue for issue in rig.state.run_issues if issue.code is Code.DISK_FULL]
    assert issue.severity is Severity.ERROR and "1 MiB free" in issue.message
    free[0] = 10 << 30
    assert await rig.execute() == 3
    assert rig.state.count("passed") == 3, "a resume goes on, until that disk is full too"


async def test_a_trial_whose_folder_finds_no_room_met_a_full_disk_case_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "trial")

    monkeypatch.setattr(run_module, "run_trial", full)
    rig = RunRig(tmp_path, ("a",))
    assert await rig.execute() == 3
    (trial,) = rig.state.trials.values()
    assert [issue.code for issue in trial.issues] == [Code.DISK_FULL]


@pytest.mark.parametrize("how", ["moved", "removed", "replaced"])
async def test_a_run_folder_that_somebody_takes_away_ends_the_run(tmp_path: Path, how: str) -> None:
    """Every further verdict would be paid for and lost."""
    rig = RunRig(tmp_path, SIX, arms=COMMAND, concurrency=1)
    moved = tmp_path / "moved"

    def take_away(command: Command) -> None:
        rig.folder.rename(moved)
        if how == "removed":
            shutil.rmtree(moved)
        if how == "replaced":
            shutil.copytree(moved, rig.folder)

    rig.provider.when("work", times=1)
    rig.provider.when("work", does=take_away)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 130
    assert rig.state.count("passed") in (1, 2) and rig.state.count(QUEUED) == 4
    (issue,) = [issue for issue in rig.state.run_issues if issue.severity is Severity.FATAL]
    assert "removed or moved" in issue.message
    assert rig.state.finished is not None and rig.state.finished.reason == "the run folder is gone"
    assert rig.provider.up() == []
    if how == "moved":  # what is known goes with it, and a resume goes on there
        assert b"removed or moved" in (moved / EVENTS).read_bytes()


async def test_a_paused_run_on_a_full_disk_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = RunRig(tmp_path, ("a",))
    run = rig.run()
    run._disk_was_full = True
    run.handle({"command": "pause"})
    with anyio.move_on_after(0.05):
        await run.execute()
    assert rig.state.count(QUEUED) == 1


async def test_a_disk_that_takes_no_harbor_files_ends_no_run_case_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "result.json")

    rig = RunRig(tmp_path, ("a", "b"))
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    run = rig.run()
    for name in ("run_started", "trial_started", "trial_finished", "write_result"):
        monkeypatch.setattr(run.harbor, name, full)
    assert await run.execute() == 0
    assert set(codes(rig)) == {Code.DISK_FULL}


async def test_a_harbor_file_that_cant_be_made_is_said_once_and_ends_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*arguments: object) -> None:
        raise ValueError("not a SHA-256")

    rig = RunRig(tmp_path, ("a", "b"))
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    run = rig.run()
    monkeypatch.setattr(run.harbor, "trial_finished", wrong)
    assert await run.execute() == 0
    (issue,) = rig.state.run_issues
    assert issue.severity is Severity.WARNING and "not a SHA-256" in issue.message


async def test_a_host_that_cant_be_measured_ends_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: str) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(run_module, "HOST_SAMPLE_SEC", 0.01)
    monkeypatch.setattr(psutil, "disk_usage", gone)
    rig = RunRig(tmp_path, ("a",), arms=COMMAND)

    async def work(command: Command) -> None:
        await rig.until(lambda: rig.state.host is not None)

    rig.provider.when("work", does=work)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 0
