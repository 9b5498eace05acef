"""What rules found in a trial, numbered; each leads to the line where it was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.message import Message

from engine.triage.causes import Cause
from engine.triage.proposal import Finding, Proposal, Strength
from screens.pieces import Pieces, cells, cut, fit, width_of
from screens.steps_text import wrapped
from screens.triage_facts import STRENGTH_GLYPHS
from screens.widgets.line_table import MARGIN, LineTable

_WIDE = 110
"""Columns from which on the source stands beside the text."""

_SOURCE = 24


class FindingList(LineTable):
    """`hide` makes text safe to be shown, `place_of` says in words where a finding leads, "" for nowhere."""

    HEAD: ClassVar[int] = 0
    DEFAULT_CSS = """
    FindingList { height: auto; }
    """

    @dataclass
    class Moved(Message):
        """The cursor stands on another finding."""

        number: int

    def __init__(self, hide: Callable[[str], str], place_of: Callable[[int], str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._hide = hide
        self._place_of = place_of
        self.findings: tuple[Finding, ...] = ()
        self.cause: Cause | None = None
        self.nothing = ""

    def set_proposal(self, proposal: Proposal | None, nothing: str, *, anew: bool) -> None:
        """`anew`: of another trial, so that the cursor goes to the top. `nothing` stands where there is no finding."""
        self.findings = proposal.findings if proposal is not None else ()
        self.cause = proposal.cause if proposal is not None else None
        self.nothing = nothing
        if anew:
            self.cursor = "0" if self.findings else None
        self.rows_changed()
        self.refresh()

    @property
    def keys(self) -> Sequence[str]:
        return [str(number) for number in range(len(self.findings))]

    def find(self, key: str) -> int | None:
        return int(key) if int(key) < len(self.findings) else None

    def cell(self, key: str, column: str) -> Pieces:
        return []

    def empty_text(self) -> str:
        return self.nothing

    @property
    def chosen(self) -> int:
        """The number of the finding under the cursor, from 0; -1 where there is none."""
        return self.cursor_row if self.findings else -1

    def move_to(self, row: int) -> None:
        super().move_to(row)
        self.post_message(self.Moved(self.chosen))

    def whole_row(self, key: str) -> Pieces | None:
        return self._row(int(key), max(1, self.room - MARGIN))

    def _row(self, at: int, width: int) -> Pieces:
        finding = self.findings[at]
        strong = finding.strength is Strength.STRONG
        number = at + 1
        left: Pieces = [
            (f"{number if number < 10 else ' '} ", "deck--key"),
            (f"{STRENGTH_GLYPHS[finding.strength]} ", "deck--warn" if strong else "deck--dim"),
        ]
        if finding.cause is not self.cause:
            left.append((f"{finding.cause}: ", "deck--dim"))
        right: Pieces = []
        place = self._place_of(at)
        if place:
            right = [(f"→ {cut(place, max(12, width // 3))}", "deck--accent")]
        source = self._hide(finding.source)
        if width >= _WIDE:
            beside = self._beside(width)
            right = [*fit([(source, "deck--dim")], beside[0] + 2), *fit(right, beside[1])]
        left.append((self._hide(finding.text), "" if finding.cause is self.cause else "deck--dim"))
        room = width - width_of(right) - (2 if right else 0)
        return [*fit(left, max(1, room)), ("  " if right else "", ""), *right]

    def _beside(self, width: int) -> tuple[int, int]:
        """Cells of the sources and of the places: what the widest of them needs, the rest is the text's."""
        sources = (cells(self._hide(finding.source)) for finding in self.findings)
        places = (cells(self._place_of(number)) + 2 for number in range(len(self.findings)))
        return min(_SOURCE, max(sources, default=0)), min(2 + width // 3, max(places, default=0))

    def in_full(self, number: int, width: int, indent: int) -> list[str]:
        """What a finding's own line has no room for, on a screen of that width: its whole text where that is cut, and
        facts that lie in no file."""
        if not 0 <= number < len(self.findings):
            return []
        finding = self.findings[number]
        row = self._row(number, max(1, width - MARGIN))
        text = self._hide(finding.text)
        said = [] if text in "".join(piece for piece, _ in row) else [text]
        if not finding.step:
            said += [self._hide(f"{item.label}: {item.text}") for item in finding.evidence if not item.file]
        return [line for part in said for line in wrapped(part, width - 2 * indent, words=True)]
