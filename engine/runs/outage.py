"""Starts nothing while the engine behind the environments can't be reached: every trial would end for nothing."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio

from engine.issues import Code, Evidence, Issue, Severity

PATIENCE_SEC = 1800.0
"""Longer than a daemon, a tunnel or a host takes to come back by itself."""
PAUSE_SEC, PAUSE_MOST_SEC = 1.0, 10.0


class Outage:
    """`why` is "" while trials may start."""

    def __init__(
        self, answers: Callable[[], Awaitable[str]], say: Callable[[Issue], None], wake: Callable[[], None]
    ) -> None:
        """`answers` says why the engine can't be reached, "" where it answers."""
        self._answers = answers
        self._say = say
        self._wake = wake
        self._suspected = anyio.Event()
        self.why = ""
        self._hopeless = False

    def raised(self, issue: Issue) -> None:
        """An issue of any trial: the first that the engine's absence ended lets nothing start after it."""
        if issue.severity is Severity.FATAL and issue.code is Code.DAEMON_UNREACHABLE and not self.why:
            self.why = issue.message
            self._suspected.set()

    def reached(self, left: int) -> Issue | None:
        """What is to be said when the trials that are left (so many) are given up: the engine stayed away too long."""
        if not left or not self._hopeless:
            return None
        told = f"the Docker daemon did not come back: {left} trials are not started"
        way_out = Evidence("way out", "`trialdeck resume` goes on once it answers")
        return Issue(Severity.ERROR, None, Code.DAEMON_UNREACHABLE, told, (way_out,))

    async def watch(self) -> None:
        """Runs until cancelled."""
        while True:
            await self._suspected.wait()
            self._suspected = anyio.Event()
            await self._wait_until_it_answers()
            self._wake()

    async def _wait_until_it_answers(self) -> None:
        began = time.monotonic()
        pause, told = PAUSE_SEC, False
        while why := await self._answers():
            self.why = why
            if not told:
                told = True
                self._say(_begins(why))
            if time.monotonic() - began > PATIENCE_SEC:
                self._hopeless = True
                return
            await anyio.sleep(pause)
            pause = min(pause * 2, PAUSE_MOST_SEC)
        self.why = ""
        if told:
            self._say(_ends(time.monotonic() - began))


def _begins(why: str) -> Issue:
    way_out = (
        f"the run goes on by itself once it answers, for {PATIENCE_SEC / 60:.0f} min, else with `trialdeck resume`"
    )
    return Issue(
        Severity.ERROR,
        None,
        Code.DAEMON_UNREACHABLE,
        f"no new trials: {why}",
        (Evidence("way out", way_out),),
    )


def _ends(seconds: float) -> Issue:
    message = f"the Docker daemon answers again after {seconds:.0f} s: trials start again"
    return Issue(Severity.WARNING, None, Code.DAEMON_UNREACHABLE, message)
