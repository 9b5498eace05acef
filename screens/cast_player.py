"""Where a recording is, and how it gets elsewhere: forwards by carrying events out, backwards from a kept picture."""

from __future__ import annotations

import time
from bisect import bisect_right

from screens.cast_file import RESIZE, CastFile
from screens.cast_terminal import Snapshot, Terminal

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
IDLE_SEC = 2.0
"""What pauses are shortened to on demand, unless the recording says otherwise."""
_PICTURE_EVERY = 128 * 1024
"""Characters between two kept pictures, at first."""
_MOST_PICTURES = 32
_PIECE = 2_048
"""Characters carried out between two looks at the time."""


class CastPlayer:
    """`position` is where a person wants to be, in seconds; `catch_up` brings the terminal there, in slices."""

    def __init__(self, cast: CastFile) -> None:
        self.cast = cast
        self.terminal = Terminal(cast.columns, cast.rows)
        self.position = 0.0
        self.playing = False
        self.speed = 1.0
        self.short_pauses = False
        self._next = 0
        self._left = ""
        self._fed = 0
        self._every = _PICTURE_EVERY
        self._pictures: list[tuple[int, int, Snapshot]] = [(0, 0, self.terminal.snapshot())]

    @property
    def idle_sec(self) -> float:
        return self.cast.idle_limit or IDLE_SEC

    @property
    def behind(self) -> float:
        """How much of the way to the position is still to be carried out, 0 to 1."""
        goal = self.cast.first_after(self.position)
        if self._next >= goal and not self._left:
            return 0.0
        return (goal - self._next + 1) / (goal + 1)

    @property
    def at_end(self) -> bool:
        return self.cast.complete and self.position >= self.cast.duration and not self.behind

    def advance(self, seconds: float) -> None:
        """Time went by while it plays."""
        if self.behind:
            return  # the terminal can't keep up: time waits for it
        self.position += seconds * self.speed
        if self.short_pauses and self._next < len(self.cast):
            self.position = max(self.position, self.cast.time(self._next) - self.idle_sec)
        if self.position >= self.cast.duration:
            self.position = self.cast.duration
            if self.cast.complete:
                self.playing = False

    def seek(self, seconds: float) -> None:
        self.position = max(0.0, min(seconds, self.cast.duration))
        goal = self.cast.first_after(self.position)
        at = bisect_right([picture[0] for picture in self._pictures], goal) - 1
        known, fed, picture = self._pictures[at]
        if goal < self._next or known > self._next:
            self.terminal.restore(picture)
            self._next, self._fed, self._left = known, fed, ""

    def seek_marker(self, step: int) -> str | None:
        """To the next marker (1) or the one before (-1); its name, None where there is none."""
        moments = [moment for moment, _ in self.cast.markers]
        at = bisect_right(moments, self.position + 1e-6)
        if step < 0:
            at = at - 2 if at and moments[at - 1] > self.position - 0.5 else at - 1
        if not 0 <= at < len(moments):
            return None
        self.seek(moments[at])
        return self.cast.markers[at][1]

    @property
    def marker(self) -> tuple[int, str]:
        """The marker that was passed last: its number from 1, and its name; 0 before the first."""
        at = bisect_right([moment for moment, _ in self.cast.markers], self.position + 1e-6)
        return at, self.cast.markers[at - 1][1] if at else ""

    def catch_up(self, budget_sec: float) -> bool:
        """Carries events out for about that long; whether the terminal now shows the position."""
        goal = self.cast.first_after(self.position)
        until = time.perf_counter() + budget_sec
        while self._left or self._next < goal:
            if not self._left:
                self._take()
            piece, self._left = self._left[:_PIECE], self._left[_PIECE:]
            if piece:
                self.terminal.feed(piece)
                self._fed += len(piece)
            if not self._left:
                self._keep_picture()
            if time.perf_counter() > until:
                break
        return not self._left and self._next >= goal

    def _take(self) -> None:
        kind, said = self.cast.event(self._next)
        self._next += 1
        if kind != RESIZE:
            self._left = said
            return
        columns, _, rows = said.partition("x")
        if columns.isdecimal() and rows.isdecimal() and len(said) < 16:
            self.terminal.resize(int(columns), int(rows))

    def _keep_picture(self) -> None:
        known, fed, _ = self._pictures[-1]
        if self._next <= known or self._fed - fed < self._every:
            return
        self._pictures.append((self._next, self._fed, self.terminal.snapshot()))
        if len(self._pictures) > _MOST_PICTURES:
            self._every *= 2
            del self._pictures[1::2]
