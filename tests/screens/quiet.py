"""Until an app has done all that follows from a key, however slow the machine is.

Textual's own pilot takes a process that used no processor time for a fiftieth of a second for one that is done. On a
loaded machine that is also one whose turn has not come: in the middle of what a key sets off, between one message and
the message that its handler posts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import PropertyMock, patch

import textual._wait

SOON_SEC = 0.02
"""What a timer does within this counts as part of it: screens are painted by one."""
QUIET_TURNS = 3
TIMERS = 50
"""So many times a timer is waited for at most: one that plays a recording always has a next time."""
BOUND_SEC = 30.0

_idle = textual._wait.wait_for_idle


async def until_quiet(min_sleep: float = SOON_SEC, max_sleep: float = 1.0) -> None:
    """No message is under way in the event loop, and no timer is due. Work in threads is not waited for longer than
    Textual does: a test that needs its end waits for that."""
    await _idle(min_sleep, max_sleep)
    loop: Any = asyncio.get_running_loop()
    ends = time.monotonic() + BOUND_SEC
    still = timers = 0
    while still < QUIET_TURNS and timers < TIMERS and time.monotonic() < ends:
        if loop._ready:
            still = 0
            await asyncio.sleep(0)
        elif any(not timer.cancelled() and timer.when() <= loop.time() + SOON_SEC for timer in loop._scheduled):
            still, timers = 0, timers + 1
            await asyncio.sleep(SOON_SEC / 4)
        else:
            still += 1
            await asyncio.sleep(0)


@contextmanager
def notices_that_stay() -> Iterator[None]:
    """What is said goes away by itself only after an hour: it may be looked for late."""
    with patch("textual.notifications.Notification.time_left", PropertyMock(return_value=3600.0)):
        yield


@contextmanager
def pilots_wait_until_quiet() -> Iterator[None]:
    with patch("textual.pilot.wait_for_idle", until_quiet), patch("textual.app.wait_for_idle", until_quiet):
        yield
