"""The lines of the triage screen: the case, its phases, who said what, the keys of the causes."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from engine.triage.causes import Cause
from engine.trial_state import TrialState
from screens.actions import key_text
from screens.pieces import Pieces, width_of
from screens.triage_blindfold import Cover
from screens.triage_causes import CAUSE_KEYS
from screens.trial_facts import facts
from screens.widgets.lines import Line, Lines


class SaidLines(Lines):
    """Lines that the screen makes; none takes no room."""

    said: Sequence[Line] = ()

    def set(self, said: Sequence[Line]) -> None:
        self.said = said
        self.display = bool(said)
        self.show()

    def make(self, width: int) -> list[Line]:
        return [([(" ", ""), *left], [*right, (" ", "")] if right else []) for left, right in self.said]


class CoveredFacts(Lines):
    """All facts of a trial, nothing in them that names its arm where that is hidden."""

    def __init__(self, cover: Cover) -> None:
        super().__init__()
        self._hiding = cover
        self.trial: TrialState | None = None

    def make(self, width: int) -> list[Line]:
        if self.trial is None:
            return []
        hide = self._hiding.text
        found = facts(self._hiding.trial(self.trial), width)
        return [([(hide(text), style) for text, style in left], right) for left, right in found]


class TriageFacts(VerticalScroll, can_focus=True):
    def __init__(self, cover: Cover) -> None:
        super().__init__()
        self._hiding = cover

    def compose(self) -> ComposeResult:
        yield CoveredFacts(self._hiding)

    def set_trial(self, trial: TrialState | None) -> None:
        text = self.query_one(CoveredFacts)
        text.trial = trial
        text.show()


class CauseBar(Lines):
    """One key for each cause, to be pressed or clicked. The proposed one is underlined by `▸`, one's own by `✓`."""

    def __init__(self, action: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._action = action
        self.proposed: Cause | None = None
        self.own: Cause | None = None

    def make(self, width: int) -> list[Line]:
        whole, short = self._pieces(False), self._pieces(True)
        return [(whole if width_of(whole) <= width else short, [])]

    def _pieces(self, short: bool) -> Pieces:
        pieces: Pieces = []
        for entry in CAUSE_KEYS:
            mark = "✓" if entry.cause is self.own else "▸" if entry.cause is self.proposed else " "
            word = entry.short if short else str(entry.cause)
            style = "deck--strong" if mark != " " else "deck--dim"
            pieces.append((f"{mark}{key_text(entry.key)}", "deck--key"))
            pieces.append((f" {word}{' ' if short else '  '}", style))
        return pieces

    async def on_click(self, event: events.Click) -> None:
        number = self.piece_at(event.x, 0)
        if number is not None and number // 2 < len(CAUSE_KEYS):
            cause = CAUSE_KEYS[number // 2].cause
            await self.app.run_action(f"screen.{self._action}('{cause}')", default_namespace=self.screen)
