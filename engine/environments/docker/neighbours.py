"""The environments of one provider that are up, so that one which finds no room can wait for another to go."""

from __future__ import annotations

import anyio


class Neighbours:
    """By project. Nobody waits for a kept one: it goes where room is needed, one at a time."""

    def __init__(self) -> None:
        self.making_room = anyio.Lock()
        self.room_was_made = False
        self._up: set[str] = set()
        self._gone = anyio.Event()
        self.departures = 0

    def comes(self, project: str) -> None:
        self._up.add(project)

    def stays(self, project: str) -> None:
        self._up.discard(project)

    def keeps(self, project: str) -> None:
        """It may go now if it must: whoever waits can look again."""
        self.goes(project)

    def goes(self, project: str) -> None:
        if project in self._up:
            self._up.discard(project)
            self.departures += 1
            self._gone.set()
            self._gone = anyio.Event()

    async def another_goes(self, project: str, seen: int, seconds: float) -> bool:
        """True once there are more `departures` than `seen`; False where nobody is left to go, or none went in time."""
        if self.departures > seen:
            return True
        if not self._up - {project}:
            return False
        with anyio.move_on_after(seconds):
            await self._gone.wait()
            return True
        return False
