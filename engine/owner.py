"""Who owns a run: the engine's process, told apart from any later process with the same number.

A process is named by host, boot and start time beside its pid, so neither pid re-use nor a run folder seen from another
machine makes a dead run look alive.
"""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import msgspec
import psutil

from engine.layout import ENGINE, EVENTS, HOST_SAMPLES
from engine.regular_file import regular_file

SILENT_SEC = 120.0
"""A run on another host that has written nothing for so long gives no sign of life any more; a live one samples its
host every few seconds."""

_SAME_START_SEC = 0.005


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """`started` is the process's start in seconds since the boot (since the epoch where there is no `/proc`): a clock
    that is set does not move it. `boot` names the boot of that host."""

    pid: int
    started: float
    host: str
    boot: str = ""
    socket: str = ""


def boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return str(int(psutil.boot_time()))


def this_process(control_socket: str = "") -> Owner:
    return Owner(
        pid=os.getpid(),
        started=process_started(os.getpid()) or 0.0,
        host=socket.gethostname(),
        boot=boot_id(),
        socket=control_socket,
    )


def process_alive(pid: int, started: float) -> bool:
    """Is this very process (not a later one with its number) still there?"""
    found = process_started(pid)
    return found is not None and abs(found - started) < _SAME_START_SEC


def process_started(pid: int) -> float | None:
    """As in `Owner.started`. None where there is no such process, or only what is left of one that ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None if Path("/proc/self/stat").exists() else _started_elsewhere(pid)
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _started_elsewhere(pid: int) -> float | None:
    """Where there is no `/proc`."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except (psutil.Error, ValueError):
        return None


_MOST_OWNER = 1 << 20


def read_owner(run_folder: Path) -> Owner | None:
    try:
        with regular_file(run_folder / ENGINE) as file:
            return msgspec.json.decode(file.read(_MOST_OWNER), type=Owner)
    except (OSError, msgspec.DecodeError):
        return None


def owner_alive(owner: Owner | None) -> bool | None:
    """None where it can't be told from here: the owner is on another host."""
    if owner is None:
        return False
    if owner.host != socket.gethostname():
        return None
    if owner.boot and owner.boot != boot_id():
        return False
    return process_alive(owner.pid, owner.started)


def engine_alive(run_folder: Path) -> bool:
    """Does an engine run this now? One on another host does while the run's files still grow."""
    alive = owner_alive(read_owner(run_folder))
    return _written_lately(run_folder) if alive is None else alive


def _written_lately(run_folder: Path) -> bool:
    times = []
    for name in (EVENTS, HOST_SAMPLES):
        try:
            times.append((run_folder / name).stat().st_mtime)
        except OSError:
            continue
    return bool(times) and time.time() - max(times) < SILENT_SEC
