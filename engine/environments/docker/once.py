"""Work that many ask for at the same time and that is done once: image builds and pulls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import anyio

from engine.issues import Issue, TrialFailed

Result = TypeVar("Result")


class _Attempt:
    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.issue: Issue | None = None


class Once(Generic[Result]):
    """Keyed by what is made. A success stays; a failure is told to those who waited for it, and whoever comes later
    tries again. Where the one who does the work is cancelled, the next in line takes over."""

    def __init__(self) -> None:
        self._done: dict[str, Result] = {}
        self._running: dict[str, _Attempt] = {}

    async def get(self, key: str, make: Callable[[], Awaitable[Result]]) -> Result:
        while True:
            if key in self._done:
                return self._done[key]
            running = self._running.get(key)
            if running is None:
                return await self._make(key, make)
            await running.ended.wait()
            if running.issue is not None:
                raise TrialFailed(running.issue)

    async def _make(self, key: str, make: Callable[[], Awaitable[Result]]) -> Result:
        attempt = self._running[key] = _Attempt()
        try:
            self._done[key] = await make()
        except TrialFailed as error:
            attempt.issue = error.issue
            raise
        finally:
            del self._running[key]
            attempt.ended.set()
        return self._done[key]

    def forget(self, key: str) -> None:
        self._done.pop(key, None)
