"""A container as the host's kernel shows it, control groups and processes: only where the daemon runs on this host."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

from engine.environments.docker.containers import Container
from engine.environments.docker.processes import Process, read_process

FREEZE_SEC = 1.0


class HostView:
    """`folders` maps a controller to the container's folder; with cgroup v2 all of them are one folder."""

    def __init__(self, container: str, init: int, unified: bool, folders: dict[str, Path]) -> None:
        self.container = container
        self.init = init
        self.unified = unified
        self.folders = folders

    @property
    def may_kill(self) -> bool:
        return os.geteuid() == 0

    def folder(self, controller: str) -> Path | None:
        return self.folders.get("" if self.unified else controller)

    def alive(self) -> bool:
        """Whether the container's first process is still there; cheap, and true for a moment after its death."""
        folder = self.folder("memory") or self.folder("pids")
        if folder is None or not folder.is_dir():
            return False
        process = read_process(self.init)
        return process is not None and process.state not in "ZX"

    def pids(self) -> list[int]:
        """Every process in the container, those in groups that it made itself included."""
        found: set[int] = set()
        top = self.folder("pids") or self.folder("memory")
        if top is None:
            return []
        for folder in (top, *_groups_below(top)):
            with suppress(OSError, ValueError):
                found.update(int(line) for line in (folder / "cgroup.procs").read_text().split())
        return sorted(found)

    def processes(self) -> list[Process]:
        read = (read_process(pid) for pid in self.pids())
        return [process for process in read if process is not None]

    def oom_kills(self) -> int | None:
        """How often the kernel killed something here for the memory limit's sake."""
        folder = self.folder("memory")
        if folder is None:
            return None
        return number_in(folder / ("memory.events" if self.unified else "memory.oom_control"), "oom_kill")

    @asynccontextmanager
    async def frozen(self) -> AsyncIterator[None]:
        """Nothing in the container runs inside the block (or, on a host that can't, it goes on running)."""
        folder = self.folder("freezer")
        if folder is None or not self.may_kill:
            yield
            return
        switch, on, off = (
            (folder / "cgroup.freeze", "1", "0") if self.unified else (folder / "freezer.state", "FROZEN", "THAWED")
        )
        try:
            with suppress(OSError):
                switch.write_text(on)
                await self._await_frozen(folder, switch)
            yield
        finally:
            with suppress(OSError):
                switch.write_text(off)

    async def _await_frozen(self, folder: Path, switch: Path) -> None:
        until = time.monotonic() + FREEZE_SEC
        while time.monotonic() < until:
            if self.unified:
                if number_in(folder / "cgroup.events", "frozen") == 1:
                    return
            elif switch.read_text().strip() == "FROZEN":
                return
            await anyio.sleep(0.001)

    def kill(self, processes: Iterable[Process]) -> int:
        """KILL each of them that still is the process it was; returns how many were hit."""
        killed = 0
        for process in processes:
            now = read_process(process.pid)
            if now is None or now.start != process.start or now.state in "ZX":
                continue
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
                killed += 1
        return killed


def find_view(container: Container) -> HostView | None:
    """None where the container's processes are not this kernel's: a remote daemon, or one in a virtual machine."""
    if container.pid <= 0:
        return None
    try:
        lines = Path(f"/proc/{container.pid}/cgroup").read_text().splitlines()
    except OSError:
        return None
    if not any(container.id in line for line in lines):
        return None
    folders: dict[str, Path] = {}
    unified_path = ""
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            unified_path = path
        for controller in controllers.split(","):
            folder = Path("/sys/fs/cgroup") / controller / path.lstrip("/")
            if controller and folder.is_dir():
                folders[controller] = folder
    if "memory" in folders:
        return HostView(container.id, container.pid, False, folders)
    folder = Path("/sys/fs/cgroup") / unified_path.lstrip("/")
    if (folder / "cgroup.procs").is_file():
        return HostView(container.id, container.pid, True, {"": folder})
    return None


def number_in(file: Path, key: str) -> int | None:
    """The number beside `key` in a file of `key number` lines."""
    try:
        for line in file.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == key:
                return int(value)
    except (OSError, ValueError):
        return None
    return None


def _groups_below(top: Path) -> list[Path]:
    found: list[Path] = []
    try:
        with os.scandir(top) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    below = Path(entry.path)
                    found += [below, *_groups_below(below)]
    except OSError:
        pass
    return found
