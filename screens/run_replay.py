"""The controls of a replay, where the run that is shown is one."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from engine.readers.replayed import Replay
from screens.pieces import Pieces


class RunReplay:
    """Each control says whether there was a replay to control. The app holds the replay."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    @property
    def _replay(self) -> Replay | None:
        found = getattr(self._screen.app, "replay", None)
        return found if isinstance(found, Replay) else None

    @property
    def on(self) -> bool:
        return self._replay is not None

    @property
    def paused(self) -> bool:
        return self._replay is not None and self._replay.paused

    def pause_or_go_on(self) -> bool:
        if self._replay is not None:
            self._replay.pause_or_go_on()
        return self.on

    def faster(self, steps: int) -> bool:
        if self._replay is not None:
            self._replay.faster(steps)
        return self.on

    def to_end(self) -> bool:
        if self._replay is not None:
            self._replay.to_end()
        return self.on

    def badge(self) -> Pieces:
        replay = self._replay
        if replay is None:
            return []
        state = "‖ replay" if replay.paused else "▶ replay"
        return [(f"{state} ×{replay.speed:g}", "deck--accent"), (" · ", "deck--faint")]
