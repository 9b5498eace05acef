"""The logs of a trial as numbered tabs on one line; the open one can always be seen."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message

from screens.pieces import Pieces, cells, width_of
from screens.widgets.lines import Line, Lines


@dataclass(frozen=True)
class Tab:
    """`detail` is left out where the line is narrow."""

    key: str
    label: str
    detail: str = ""


class LogTabs(Lines):
    """The first tab may be number 0; after 9 they have none."""

    DEFAULT_CSS = """
    LogTabs { height: 1; }
    """

    @dataclass
    class Chosen(Message):
        key: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.tabs: list[Tab] = []
        self.first_number = 1
        self.current = ""
        self._keys: list[str] = []

    def number_of(self, index: int) -> str:
        number = index + self.first_number
        return str(number) if number <= 9 else ""

    def make(self, width: int) -> list[Line]:
        chips = [self._chip(index, tab, detail=True) for index, tab in enumerate(self.tabs)]
        if sum(map(width_of, chips)) > width:
            chips = [self._chip(index, tab, detail=False) for index, tab in enumerate(self.tabs)]
        at = next((index for index, tab in enumerate(self.tabs) if tab.key == self.current), 0)
        first = 0
        while first < at and sum(map(width_of, chips[first : at + 1])) > width - 2:
            first += 1
        pieces: Pieces = [("‹" if first else " ", "deck--faint")]
        self._keys = [""]
        room = width - 2
        for index in range(first, len(chips)):
            chip = chips[index]
            if width_of(chip) > room and index > at:
                pieces.append(("›", "deck--faint"))
                self._keys.append(self.tabs[index].key)
                break
            pieces += chip
            self._keys += [self.tabs[index].key] * len(chip)
            room -= width_of(chip)
        return [(pieces, [])]

    def _chip(self, index: int, tab: Tab, *, detail: bool) -> Pieces:
        number = self.number_of(index)
        label = f"{tab.label} {tab.detail}" if detail and tab.detail else tab.label
        if cells(label) > 28:
            label = label[:27] + "…"
        if tab.key == self.current:
            return [(f"[{number}{' ' if number else ''}{label}]", "deck--strong"), (" ", "")]
        return [(f" {number}", "deck--key"), (f"{' ' if number else ''}{label} ", "deck--dim"), (" ", "")]

    def on_click(self, event: events.Click) -> None:
        number = self.piece_at(event.x, 0)
        if number is not None and number < len(self._keys) and self._keys[number]:
            self.post_message(self.Chosen(self._keys[number]))
