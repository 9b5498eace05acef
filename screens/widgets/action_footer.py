"""The keys that matter here, as many as fit; each can be clicked."""

from __future__ import annotations

from textual import events
from textual.widget import Widget

from screens.actions import EVERYWHERE, Action, Place, key_text, keys_of, own_keys
from screens.pieces import Pieces, width_of
from screens.widgets.lines import Line, Lines


class ActionFooter(Lines):
    """Footer of a place: its own actions first, then palette, help and leave, which never give way to them. `part` is
    what the screen shows just now; the actions of its `PLACE` stand before all others."""

    def __init__(self, place: Place, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.place = place
        self.labels: dict[str, str] = {}
        self.hidden: set[str] = set()
        self.notice: Pieces = []
        self.part: Widget | None = None
        self._shown: list[Action] = []

    def say(self, notice: Pieces) -> None:
        """Something short at the right edge, such as a count."""
        self.notice = notice
        self.show()

    def make(self, width: int) -> list[Line]:
        inner = self._inner.footer() if self._inner is not None else []
        actions = [action for action in (*inner, *self.place.footer(), *EVERYWHERE.footer()) if self._wanted(action)]
        room = width - 1 - (width_of(self.notice) + 2 if self.notice else 0)
        while actions and self._width(actions) > room:
            actions.remove(min(actions, key=lambda action: action.footer))
        self._shown = actions
        pieces: Pieces = []
        for action in actions:
            pieces.append((f" {self._key(action)}", "deck--key"))
            gap = "  " if action is not actions[-1] else ""
            pieces.append((f" {self._label(action)}{gap}", "deck--dim"))
        return [(pieces, [*self.notice, (" ", "")] if self.notice else [])]

    @property
    def _inner(self) -> Place | None:
        place = getattr(self.part, "PLACE", None)
        return place if isinstance(place, Place) else None

    def _wanted(self, action: Action) -> bool:
        return action.name not in self.hidden and bool(self._key(action))

    def _label(self, action: Action) -> str:
        return self.labels.get(action.name, action.label)

    def _key(self, action: Action) -> str:
        place = EVERYWHERE if action in EVERYWHERE.actions else self.place
        if self._inner is not None and action in self._inner.actions:
            place = self._inner
        keys = keys_of(place, action, own_keys(self.app))
        return key_text(keys[0]) if keys else ""

    def _width(self, actions: list[Action]) -> int:
        return sum(len(self._key(action)) + len(self._label(action)) + 4 for action in actions) - 2

    async def on_click(self, event: events.Click) -> None:
        number = self.piece_at(event.x, 0)
        if number is None or number // 2 >= len(self._shown):
            return
        action = self._shown[number // 2]
        if self.part is not None and self._inner is not None and action in self._inner.actions:
            await self.app.run_action(action.name, default_namespace=self.part)
            return
        namespace = "app" if action in EVERYWHERE.actions else "screen"
        await self.app.run_action(f"{namespace}.{action.name}", default_namespace=self.screen)
