"""Who owns a run: the engine's process, told apart from any later process with the same number.

A process is named by host, boot and start time beside its pid, so neither pid re-use nor a run folder seen from another
machine makes a dead run look alive.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import msgspec
import psutil

from engine.layout import ENGINE


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """`started` is the process's start time in seconds since the epoch; `boot` names the boot of that host."""

    pid: int
    started: float
    host: str
    boot: str = ""
    socket: str = ""

    @property
    def mark(self) -> str:
        """The owner in one word, as a label on Docker objects: `pid:start time`."""
        return f"{self.pid}:{self.started:.2f}"


def boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return str(int(psutil.boot_time()))


def this_process(control_socket: str = "") -> Owner:
    process = psutil.Process()
    return Owner(
        pid=os.getpid(),
        started=process.create_time(),
        host=socket.gethostname(),
        boot=boot_id(),
        socket=control_socket,
    )


def process_alive(pid: int, started: float) -> bool:
    """Is this very process (not a later one with its number) still there?"""
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, psutil.AccessDenied, ValueError):
        return False


def read_owner(run_folder: Path) -> Owner | None:
    try:
        return msgspec.json.decode((run_folder / ENGINE).read_bytes(), type=Owner)
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
