"""Where people disagree: the trials, and for one of them what each person said, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.message import Message

from engine.text import clean_line
from engine.triage.labels import Label
from screens import format as fmt
from screens.columns import Column
from screens.pieces import Pieces, cells, cut, fit
from screens.steps_text import wrapped
from screens.triage_blindfold import Cover
from screens.triage_desk import TriageDesk
from screens.triage_names import TrialNames
from screens.widgets.line_table import LineTable
from screens.widgets.lines import Line, Lines

MOST_PEOPLE = 4
"""People that fit side by side."""
NOTE_LINES = 6


class DisagreementTable(LineTable):
    """Keys are trials."""

    COLUMNS = (
        Column("trial", "trial", 24, keep=100, widest=60),
        Column("said", "what people say", 40, keep=90, widest=120),
    )

    @dataclass
    class Moved(Message):
        """The cursor stands on another trial."""

    def __init__(self, desk: TriageDesk, names: TrialNames, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._desk = desk
        self._names = names
        self._keys: list[str] = []

    def update(self) -> None:
        """Only trials of which one's own label is set: nobody is led by others."""
        self._keys = self._desk.book.disagreements(self._desk.who)
        self.rows_changed()
        self.refresh()

    def move_to(self, row: int) -> None:
        super().move_to(row)
        self.post_message(self.Moved())

    @property
    def keys(self) -> Sequence[str]:
        return self._keys

    def find(self, key: str) -> int | None:
        return self._keys.index(key) if key in self._keys else None

    def empty_text(self) -> str:
        return "nobody disagrees with you" if self._desk.book.people else "there are no labels yet"

    def wanted_widths(self) -> dict[str, int]:
        return {"trial": max((cells(self._names.of(key)) for key in self._keys[:500]), default=0)}

    def cell(self, key: str, column: str) -> Pieces:
        if column == "trial":
            return [(self._names.of(key), "")]
        pieces: Pieces = []
        for who, label in self._desk.book.standing(key).items():
            name = "you" if who == self._desk.who else clean_line(who, 24)
            pieces += [(f"{name}: ", "deck--dim"), (f"{label.cause}   ", "")]
        return pieces


class SideBySide(Lines):
    """A column for each person; more than fit are said in words."""

    def __init__(self, cover: Cover, who: str) -> None:
        super().__init__()
        self._hiding = cover
        self._who = who
        self.labels: Mapping[str, Label] = {}

    def make(self, width: int) -> list[Line]:
        people = sorted(self.labels.items(), key=lambda item: item[0] != self._who)
        shown = people[: max(1, min(MOST_PEOPLE, width // 24))]
        if not shown:
            return []
        room = width // len(shown)
        columns = [self._column(who, label, room - 3) for who, label in shown]
        lines: list[Line] = []
        for row in range(max(len(column) for column in columns)):
            pieces: Pieces = []
            for column in columns:
                pieces.append((" │ ", "deck--rule"))
                pieces += fit(column[row] if row < len(column) else [], room - 3)
            lines.append((pieces, []))
        if len(people) > len(shown):
            rest = ", ".join(f"{clean_line(who, 24)}: {label.cause}" for who, label in people[len(shown) :])
            lines.append(([(f" │ and {rest}", "deck--dim")], []))
        return lines

    def _column(self, who: str, label: Label, room: int) -> list[Pieces]:
        own = who == self._who
        proposed = f"the rules said {label.proposed}" if label.proposed is not None else "the rules proposed nothing"
        marks = [word for word, there in (("blind", label.blind), ("imported", label.imported)) if there]
        notes = wrapped(self._hiding.text(label.note), max(8, room), words=True) if label.note else []
        if len(notes) > NOTE_LINES:
            notes = [*notes[: NOTE_LINES - 1], cut(f"{notes[NOTE_LINES - 1]} …", max(8, room))]
        rows: list[Pieces] = [
            [(clean_line(who, 40), "deck--strong"), ("  (you)" if own else "", "deck--dim")],
            [(str(label.cause), "deck--accent")],
            [(" · ".join([fmt.wall_date(label.at), *marks]), "deck--dim")],
            [(proposed, "deck--faint")],
        ]
        return [*rows, *([(line, "")] for line in notes or ["no note"])]
