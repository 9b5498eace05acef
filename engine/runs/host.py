"""The engine's host while a run lasts: samples of it, and the free space where the run lies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import psutil

from engine import events as ev
from engine.runs.event_log import EventLog

HOST_SAMPLE_SEC = 2.0


async def sample_host(log: EventLog, disk_folders: Sequence[Path]) -> None:
    """Until cancelled. `disk_free` is that of the fullest of the folders' disks."""
    psutil.cpu_percent()
    while True:
        await anyio.sleep(HOST_SAMPLE_SEC)
        memory = psutil.virtual_memory()
        free = [space for folder in disk_folders if (space := free_space(folder)) is not None]
        log.append(
            ev.HostSampled(
                cpu_percent=psutil.cpu_percent(),
                memory_used=memory.total - memory.available,
                memory_total=memory.total,
                disk_free=min(free, default=0),
            )
        )


def free_space(folder: Path) -> int | None:
    """Bytes; None where the folder can't be asked."""
    try:
        return psutil.disk_usage(str(folder)).free
    except OSError:
        return None
