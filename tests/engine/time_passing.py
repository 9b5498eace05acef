"""Time that passes all at once, where a test says so: a limit that may be long is then reached there and nowhere else,
however slow the machine is."""

from __future__ import annotations

import asyncio


def pass_time(seconds: float) -> None:
    """For everything that waits on the event loop."""
    loop = asyncio.get_running_loop()
    time = loop.time
    loop.time = lambda: time() + seconds  # type: ignore[method-assign]
