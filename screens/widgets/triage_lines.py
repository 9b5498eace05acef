"""The lines of the triage screen: the case, its phases, who said what, the keys of the causes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll

from engine.triage.causes import Cause
from engine.trial_state import TrialState
from screens.actions import Place, key_called
from screens.pieces import Pieces, folded, width_of
from screens.steps_text import wrapped
from screens.triage_blindfold import Cover
from screens.triage_causes import CAUSE_KEYS, CauseKey
from screens.trial_facts import facts
from screens.widgets.lines import Line, Lines

_ROW = len(CAUSE_KEYS) // 2
"""Causes on each of two lines."""


class SaidLines(Lines):
    """Lines that the screen makes, as wide as it is; none takes no room. `rows`: a line that is longer goes on below
    itself, in so many rows at most."""

    said: Sequence[Line] = ()

    def __init__(self, *, id: str | None = None, rows: int = 1) -> None:
        super().__init__(id=id)
        self._rows = rows

    def set(self, said: Sequence[Line]) -> None:
        self.said = said
        self.display = bool(said)
        self.show()

    def make(self, width: int) -> list[Line]:
        room = max(8, self.screen.size.width - 2)
        lines: list[Line] = []
        for left, right in self.said:
            if right or self._rows == 1:
                lines.append(([(" ", ""), *left], [*right, (" ", "")] if right else []))
            else:
                lines += [([(" ", ""), *part], []) for part in folded(left, room, self._rows)]
        return lines


class CoveredFacts(Lines):
    """All facts of a trial, nothing in them that names its arm where that is hidden."""

    def __init__(self, cover: Cover) -> None:
        super().__init__()
        self._hiding = cover
        self.trial: TrialState | None = None
        self.notes: Sequence[tuple[str, str]] = ()

    def make(self, width: int) -> list[Line]:
        if self.trial is None:
            return []
        hide = self._hiding.text
        found = facts(self._hiding.trial(self.trial), width)
        lines: list[Line] = [([(hide(text), style) for text, style in left], right) for left, right in found]
        for head, note in self.notes:
            lines += [([], []), ([(f" {head}", "deck--dim")], [])]
            lines += [([(f"   {line}", "")], []) for line in wrapped(note, max(8, width - 5), words=True)]
        return lines


class TriageFacts(VerticalScroll, can_focus=True):
    def __init__(self, cover: Cover) -> None:
        super().__init__()
        self._hiding = cover

    def compose(self) -> ComposeResult:
        yield CoveredFacts(self._hiding)

    def set_trial(self, trial: TrialState | None, notes: Sequence[tuple[str, str]] = ()) -> None:
        """`notes`: who said what about it, to be read in full."""
        text = self.query_one(CoveredFacts)
        text.trial, text.notes = trial, notes
        text.show()


class CauseBar(Lines):
    """One key for each cause, to be pressed or clicked. The proposed one is marked by `▸`, one's own by `✓`. Where the
    screen is too narrow for all words they become shorter; then they stand on two lines."""

    def __init__(self, place: Place, action: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._place = place
        self._action = action
        self.proposed: Cause | None = None
        self.own: Cause | None = None

    def make(self, width: int) -> list[Line]:
        readings = (
            self._pieces(CAUSE_KEYS, lambda entry: str(entry.cause), "  "),
            self._pieces(CAUSE_KEYS, lambda entry: entry.short, " "),
            self._pieces(CAUSE_KEYS, lambda entry: entry.terse, ""),
        )
        room = self.screen.size.width  # it goes over the whole screen, also before it knows how wide it is
        fitting = next((pieces for pieces in readings if width_of(pieces) <= room), None)
        if fitting is not None:
            return [(fitting, [])]
        return [
            (self._pieces(part, lambda entry: entry.terse, " "), []) for part in (CAUSE_KEYS[:_ROW], CAUSE_KEYS[_ROW:])
        ]

    def _pieces(self, entries: Sequence[CauseKey], word: Callable[[CauseKey], str], gap: str) -> Pieces:
        pieces: Pieces = []
        for entry in entries:
            mark = "✓" if entry.cause is self.own else "▸" if entry.cause is self.proposed else " "
            style = "deck--strong" if mark != " " else "deck--dim"
            pieces.append((f"{mark}{self._key(entry)}", "deck--key"))
            pieces.append((f" {word(entry)}{gap}", style))
        return pieces

    def _key(self, entry: CauseKey) -> str:
        return key_called(self.app, self._place, f"{self._action}('{entry.cause}')")

    async def on_click(self, event: events.Click) -> None:
        number = self.piece_at(event.x, event.y)
        if number is not None and event.y * _ROW + number // 2 < len(CAUSE_KEYS):
            cause = CAUSE_KEYS[event.y * _ROW + number // 2].cause
            await self.app.run_action(f"screen.{self._action}('{cause}')", default_namespace=self.screen)
