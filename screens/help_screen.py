"""The keys of where one is: the screen, the part that has the focus, and what works everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from screens.actions import OwnKeys, Place, keys_text, own_keys
from screens.deck_screen import DeckModal

KEYS_WIDTH = 14


class HelpScreen(DeckModal[None]):
    """`more` is a text of the place itself, such as the language of its filter."""

    CSS_PATH = "help_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter", "close", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def __init__(self, places: Sequence[Place], more: str = "") -> None:
        super().__init__()
        self.places = places
        self.more = more

    def compose(self) -> ComposeResult:
        scroll = VerticalScroll()
        scroll.border_subtitle = "esc closes"
        with scroll:
            for place in self.places:
                yield Static(place.title, classes="title", markup=False)
                yield Static(_keys(place, own_keys(self.app)), classes="keys", markup=False)
            if self.more:
                yield Static(self.more, classes="more", markup=False)

    def action_close(self) -> None:
        self.dismiss()

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines * 3, animate=False)


def _keys(place: Place, own: OwnKeys) -> Table:
    """Keys at the left, and beside them what they do: a long sentence goes on below its own beginning."""
    table = Table.grid(Column(min_width=KEYS_WIDTH), Column(ratio=1), padding=(0, 1, 0, 0), expand=True)
    for action in place.actions:
        table.add_row(Text(keys_text(place, action, own), style="bold"), Text(action.help))
    if place.mouse:
        table.add_row(Text("mouse", style="bold"), Text(place.mouse))
    return table
