"""A run is told that what it kept up went: by its engine while one runs, else in its events."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from engine import events as ev
from engine.layout import EVENTS
from engine.runs.event_log import EventLog
from engine.runs.tell_gone import tell_gone
from tests.engine.run_events import finished, planned, started
from tests.engine.runs.runs import RunRig
from tests.engine.runs.test_control import own_runtime_folder, served

__all__ = ["own_runtime_folder"]
pytestmark = pytest.mark.anyio

UP = ev.ServiceChanged(trial="t1", service="main", state="running", container="0a1b2c")
GONE = ev.EnvironmentGone(trial="t1", container="0a1b2c", reason="swept")


def kept(folder: Path) -> EventLog:
    log = EventLog(folder)
    for event in (*planned("t1"), started("t1"), UP, finished("t1", 0.0, kept=True)):
        log.append(event)
    return log


async def test_a_run_that_is_over_is_told_in_its_events(tmp_path: Path) -> None:
    kept(tmp_path).close()
    assert tell_gone(tmp_path, "r", [GONE]) == ""
    log = EventLog(tmp_path)
    assert (log.state.trials["t1"].kept, log.state.trials["t1"].kept_gone) == (False, "swept")
    log.close()


async def test_a_living_engine_is_told_and_tells_it_itself(tmp_path: Path) -> None:
    log = kept(tmp_path)
    asked: list[dict[str, Any]] = []

    def handle(command: dict[str, Any]) -> dict[str, Any]:
        asked.append(command)
        return {"ok": True}

    async with served(tmp_path, handle):
        assert await anyio.to_thread.run_sync(partial(tell_gone, tmp_path, "r", [GONE])) == ""
    log.close()
    assert asked == [{"command": "gone", "trial": "t1", "container": "0a1b2c", "reason": "swept"}]
    rig = RunRig(tmp_path / "rig")
    assert rig.run().handle(asked[0]) == {"ok": True}
    rig.log.close()
    assert (rig.folder / EVENTS).read_text().count('"environment_gone"') == 1


async def test_a_folder_of_another_run_is_left_alone_and_one_that_cant_be_told_is_named(tmp_path: Path) -> None:
    log = kept(tmp_path)
    before = (tmp_path / EVENTS).read_bytes()
    assert tell_gone(tmp_path, "another", [GONE]) == tell_gone(tmp_path / "gone", "r", [GONE]) == ""
    assert "no engine has run here" in tell_gone(tmp_path, "r", [GONE])
    log.close()
    assert (tmp_path / EVENTS).read_bytes() == before
