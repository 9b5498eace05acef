"""Events on a disk that is full."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from engine import events as ev
from engine.events import EnvironmentGone, decode
from engine.layout import EVENTS, RESERVE
from engine.runs import event_log
from engine.runs.event_log import RESERVE_BYTES, EventLog, LogTaken, append_afterwards


class Disk:
    """A disk on which `free` bytes are left, beside the reserve."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.free = 1 << 40
        self.reserve = folder / RESERVE
        self._had = False
        self._write = os.write
        monkeypatch.setattr(os, "write", self.write)

    def write(self, descriptor: int, data: bytes) -> int:
        if self._had and not self.reserve.exists():
            self.free += RESERVE_BYTES
        self._had = self.reserve.exists()
        if len(data) > self.free:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.free -= len(data)
        return self._write(descriptor, data)

    def fill(self) -> None:
        self._had = self.reserve.exists()
        self.free = 0


def finished(number: int) -> ev.Event:
    return ev.TrialFinished(trial=f"t{number}", outcome="scored", reward=1.0, passed=True)


def planned(number: int) -> ev.Event:
    return ev.TrialPlanned(trial=f"t{number}", task="t", arm="a", attempt=number, position=number)


def test_a_verdict_that_comes_when_the_disk_is_full_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 11: the results of finished trials must still load, whenever the engine ends."""
    disk = Disk(monkeypatch, tmp_path)
    log = EventLog(tmp_path)
    assert (tmp_path / RESERVE).stat().st_size == RESERVE_BYTES
    for number in (1, 2):
        log.append(planned(number))
    log.append(finished(1))
    disk.fill()
    log.append(finished(2))
    assert log.failed is None and not (tmp_path / RESERVE).exists()
    log.close()
    again = EventLog(tmp_path)
    assert [trial.state for trial in again.state.trials.values()] == ["passed", "passed"]
    again.close()
    assert not (tmp_path / RESERVE).exists()


def test_what_no_reserve_holds_waits_in_order_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 11."""
    monkeypatch.setattr(event_log, "RESERVE_OF_FREE", 1 << 40)
    disk = Disk(monkeypatch, tmp_path)
    log = EventLog(tmp_path)
    assert not (tmp_path / RESERVE).exists()
    log.append(planned(1))
    disk.fill()
    log.append(planned(2))
    log.append(finished(1))
    assert log.failed is not None and (tmp_path / EVENTS).read_text().count("\n") == 1
    disk.free = 1 << 20
    assert log.flush() and log.failed is None
    assert (tmp_path / EVENTS).read_text().count("\n") == 3
    log.close()


def test_what_is_told_afterwards_is_appended_unless_an_engine_runs_and_makes_the_run_no_younger(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    log.append(planned(1))
    gone = EnvironmentGone(trial="t1", container="0a1b2c", reason="swept")
    with pytest.raises(LogTaken):
        append_afterwards(tmp_path, [gone])
    log.close()
    with (tmp_path / EVENTS).open("ab") as file:
        file.write(b'{"type":"tri')
    os.utime(tmp_path / EVENTS, (1000, 1000))
    append_afterwards(tmp_path, [gone])
    assert decode((tmp_path / EVENTS).read_bytes().splitlines(keepends=True)[-1]) == gone
    assert (tmp_path / EVENTS).stat().st_mtime == 1000


def test_a_cut_last_line_is_cut_off_and_told(tmp_path: Path) -> None:
    """Case 80."""
    log = EventLog(tmp_path)
    log.append(planned(1))
    log.close()
    with (tmp_path / EVENTS).open("ab") as file:
        file.write(b'{"type":"trial_finished","tri')
    again = EventLog(tmp_path)
    assert again.cut_bytes == 29
    again.append(planned(2))
    again.close()
    assert list(EventLog(tmp_path).state.trials) == ["t1", "t2"]
