"""The run's events on disk: whole lines, in order, whatever the disk and the process do (case 80)."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import events as ev
from engine.issues import Code, Issue, Severity
from engine.layout import EVENTS, HOST_SAMPLES, SAMPLES
from engine.runs.event_log import EventLog, LogTaken
from tests.engine.descriptors import open_descriptors
from tests.engine.run_events import finished, planned, started
from tests.engine.tasks.task_folders import UNTIMED


def lines(folder: Path) -> list[bytes]:
    """Every line of the file; fails where one has no end or is no event."""
    data = (folder / EVENTS).read_bytes()
    assert data == b"" or data.endswith(b"\n")
    found = data.splitlines()
    assert all(ev.decode(line) is not None for line in found)
    return found


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    log = EventLog(tmp_path)
    yield log
    log.close()


def test_what_is_appended_is_there_at_once_and_in_the_state(log: EventLog, tmp_path: Path) -> None:
    for event in planned("t1"):
        log.append(event)
    assert len(lines(tmp_path)) == 2
    assert set(log.state.trials) == {"t1"}
    log.sync()
    assert log.failed is None


def test_a_log_that_is_opened_again_knows_everything_and_goes_on(tmp_path: Path) -> None:
    first = EventLog(tmp_path)
    for event in [*planned("t1", "t2"), started("t1"), finished("t1", 1.0)]:
        first.append(event)
    first.close()
    second = EventLog(tmp_path)
    assert (second.cut_bytes, second.state.done) == (0, 1)
    second.append(started("t2"))
    second.close()
    assert len(lines(tmp_path)) == 6


@UNTIMED
@given(st.integers(0, 1500))
def test_wherever_a_crash_cuts_the_file_it_opens_and_no_whole_line_is_lost_case_80(cut: int) -> None:
    data = b"".join(ev.encode(event) for event in [*planned("t1"), started("t1"), finished("t1", 1.0)])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / EVENTS).write_bytes(data[:cut])
        log = EventLog(folder)
        assert log.cut_bytes == len(data[:cut]) - data[:cut].rfind(b"\n") - 1
        log.append(ev.RunPaused())
        log.close()
        assert len(lines(folder)) == data[:cut].count(b"\n") + 1


def test_a_file_of_one_long_cut_line_becomes_empty(tmp_path: Path) -> None:
    (tmp_path / EVENTS).write_bytes(b"x" * 200_000)
    log = EventLog(tmp_path)
    assert log.cut_bytes == 200_000
    log.close()
    assert (tmp_path / EVENTS).read_bytes() == b""


class Disk:
    """A disk that takes so many bytes more, and may take a line only in part."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room = 1 << 40
        self._real = os.write
        monkeypatch.setattr(os, "write", self.write)

    def write(self, descriptor: int, data: bytes) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = self._real(descriptor, data[: self.room])
        self.room -= taken
        return taken


@pytest.mark.parametrize("room", [0, 1, 40, 150, 300])
def test_a_full_disk_loses_nothing_and_keeps_the_order_case_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    log = EventLog(tmp_path)
    disk = Disk(monkeypatch)
    disk.room = room
    for number in range(10):
        log.append(ev.ConcurrencyChanged(concurrency=number + 1))
    assert log.failed is not None and log.failed.errno == errno.ENOSPC
    lines(tmp_path)  # what is there is whole, also while the disk is full
    assert log.state.concurrency == 10
    assert not log.flush()
    disk.room = 1 << 40
    log.append(ev.RunPaused())
    assert log.failed is None
    log.close()
    told = [json.loads(line).get("concurrency") for line in lines(tmp_path)]
    assert told == [*range(1, 11), None]


def test_a_reader_never_meets_half_a_line_of_a_full_disk_case_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = EventLog(tmp_path)
    disk = Disk(monkeypatch)
    chance = random.Random(1)
    for _ in range(50):
        disk.room = chance.randrange(0, 200)
        log.append(ev.RunPaused())
        lines(tmp_path)
    disk.room = 1 << 40
    log.close()
    assert len(lines(tmp_path)) == 50


def _issue(number: int) -> Issue:
    return Issue(Severity.WARNING, None, Code.TASK_WARNING, f"{number} " + "x" * 500)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small disk")
def test_on_a_real_full_disk_nothing_is_lost_case_11(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], check=False)
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        log = EventLog(small)
        (small / "filler").write_bytes(b"x" * 40_000)
        written = 0
        while log.failed is None:
            log.append(ev.RunIssue(issue=_issue(written)))
            written += 1
        log.append(ev.RunIssue(issue=_issue(written)))
        whole = len(lines(small))
        assert 0 < whole < written
        (small / "filler").unlink()
        assert log.flush()
        log.close()
        assert [json.loads(line)["issue"]["message"] for line in lines(small)] == [
            _issue(number).message for number in range(written + 1)
        ]
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_samples_go_to_files_of_their_own(log: EventLog, tmp_path: Path) -> None:
    (tmp_path / "t1").mkdir()
    for event in [*planned("t1"), started("t1")]:
        log.append(event)
    before = len(lines(tmp_path))
    log.append(ev.ResourceSampled(trial="t1", service="main", cpu_percent=5))
    log.append(ev.HostSampled(disk_free=1))
    assert len(lines(tmp_path)) == before
    assert (tmp_path / "t1" / SAMPLES).read_bytes().count(b"\n") == 1
    assert (tmp_path / HOST_SAMPLES).read_bytes().count(b"\n") == 1


def test_samples_of_an_unknown_or_finished_trial_make_no_file(log: EventLog, tmp_path: Path) -> None:
    for event in [*planned("t1"), started("t1"), finished("t1", 1.0)]:
        log.append(event)
    for trial in ("t1", "nobody"):
        (tmp_path / trial).mkdir()
        log.append(ev.ResourceSampled(trial=trial, service="main"))
        assert not (tmp_path / trial / SAMPLES).exists()


def test_no_descriptor_grows_per_finished_trial_case_73(log: EventLog, tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(60)]
    for event in planned(*names):
        log.append(event)
    before = open_descriptors()
    for name in names:
        (tmp_path / name).mkdir()
        log.append(started(name))
        log.append(ev.ResourceSampled(trial=name, service="main"))
        log.append(finished(name, 1.0))
    assert open_descriptors() == before


def test_names_that_are_not_utf8_leave_the_log_valid_case_19(log: EventLog, tmp_path: Path) -> None:
    log.append(ev.RunPaused(by=os.fsdecode(b"bad\xffname\nsecond line")))
    (line,) = lines(tmp_path)
    assert json.loads(line.decode("utf-8"))["by"] == "bad\\udcffname\nsecond line"


def test_a_log_has_one_writer(log: EventLog, tmp_path: Path) -> None:
    with pytest.raises(LogTaken, match="another process already runs this"):
        EventLog(tmp_path)
    log.append(ev.RunPaused())
    assert len(lines(tmp_path)) == 1


def test_a_writer_that_died_leaves_no_lock_behind_case_76(tmp_path: Path) -> None:
    script = "import sys, os; from pathlib import Path; from engine.runs.event_log import EventLog\n"
    script += "log = EventLog(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    died = subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=Path(__file__).parents[3], check=False)
    assert died.returncode == -9
    EventLog(tmp_path).close()
