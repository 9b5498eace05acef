"""Whose run it is: a pid alone says nothing."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import msgspec
import pytest

from engine import owner as own
from engine.layout import ENGINE, EVENTS
from engine.owner import Owner, engine_alive, owner_alive, process_alive, read_owner, this_process


def write(folder: Path, owner: Owner) -> None:
    (folder / ENGINE).write_bytes(msgspec.json.encode(owner))


def changed(**changes: object) -> Owner:
    return msgspec.structs.replace(this_process(), **changes)


def test_this_process_is_alive_also_after_a_round_through_the_file(tmp_path: Path) -> None:
    write(tmp_path, this_process("/tmp/x.sock"))
    owner = read_owner(tmp_path)
    assert owner is not None and owner.socket == "/tmp/x.sock"
    assert owner_alive(owner) is True
    assert engine_alive(tmp_path)


def test_a_later_process_with_the_same_pid_is_another_one_case_76() -> None:
    assert owner_alive(changed(started=this_process().started - 60)) is False
    assert owner_alive(changed(started=this_process().started + 0.02)) is False


def test_another_boot_of_this_host_left_no_process_alive_case_76() -> None:
    assert owner_alive(changed(boot="another-boot")) is False


def test_a_clock_that_is_set_does_not_kill_the_owner_case_77() -> None:
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    assert 0 < this_process().started <= uptime  # counted from the boot, as nothing that reads the wall clock is


def test_an_ended_process_is_dead_even_while_nobody_has_waited_for_it() -> None:
    with subprocess.Popen(["true"]) as child:
        started = own.process_started(child.pid)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert Path(f"/proc/{child.pid}").exists()
        assert not process_alive(child.pid, started or 0.0)


def test_numbers_that_are_no_pid_are_nobody() -> None:
    for pid in (0, -1, 2**22 + 1, 2**70):
        assert not process_alive(pid, 0.0)


def test_an_owner_on_another_host_cannot_be_told_from_here() -> None:
    assert owner_alive(changed(host="elsewhere.invalid")) is None


def test_a_run_on_another_host_lives_while_its_files_grow_case_76(tmp_path: Path) -> None:
    write(tmp_path, changed(host="elsewhere.invalid"))
    assert not engine_alive(tmp_path)
    events = tmp_path / EVENTS
    events.write_bytes(b"")
    assert engine_alive(tmp_path)
    long_ago = time.time() - own.SILENT_SEC - 10
    os.utime(events, (long_ago, long_ago))
    assert not engine_alive(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b'{"pid": "one"}', b"\xff\xfe", b"[]"])
def test_half_an_owner_file_is_no_owner_case_80(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ENGINE).write_bytes(content)
    assert read_owner(tmp_path) is None
    assert owner_alive(read_owner(tmp_path)) is False


def test_a_folder_without_an_engine_has_no_owner(tmp_path: Path) -> None:
    assert read_owner(tmp_path) is None
    assert not engine_alive(tmp_path)
