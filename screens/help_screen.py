"""The keys of where one is: the screen, the part that has the focus, and what works everywhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from rich.console import Group
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from screens.actions import Action, OwnKeys, Place, all_places, key_text, keys_of, own_keys
from screens.deck_screen import DeckModal

KEYS_WIDTH = 14
_FULL_LINE = 60
"""Characters from which on a line of a text goes on in the next one, where no sentence ends."""


class HelpScreen(DeckModal[None]):
    """`more` is a text of the place itself, such as the language of its filter. `taken` says by key which action is
    called by it just now: a place below another one does not get all of its keys."""

    CSS_PATH = "help_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter", "close", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def __init__(self, places: Sequence[Place], more: str = "", taken: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.places = places
        self.more = more
        self.taken = taken or {}

    def compose(self) -> ComposeResult:
        scroll = VerticalScroll()
        scroll.border_subtitle = "esc closes"
        told = [
            _keys(place, own_keys(self.app), self.taken, [below.name for below in self.places[at:]])
            for at, place in enumerate(self.places, 1)
        ]
        room = max([KEYS_WIDTH, *(len(keys) for rows in told for keys, _ in rows)])
        with scroll:
            for place, rows in zip(self.places, told, strict=True):
                yield Static(place.title, classes="title", markup=False)
                yield Static(_table(rows, room), classes="keys", markup=False)
            if self.more:
                yield Static(_flowing(self.more), classes="more", markup=False)

    def action_close(self) -> None:
        self.dismiss()

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines * 3, animate=False)


def _keys(place: Place, own: OwnKeys, taken: Mapping[str, str], lower: Collection[str]) -> list[tuple[str, str]]:
    """Keys, and what they do."""
    rows = []
    for action in place.actions:
        keys = keys_of(place, action, own)
        left = keys_left(place, action, keys, taken, lower)
        if left or not keys:
            rows.append((" ".join(key_text(key) for key in left), action.help))
    return [*rows, ("mouse", place.mouse)] if place.mouse else rows


def _table(rows: Sequence[tuple[str, str]], room: int) -> Table:
    """Keys at the left, with as much room in every part of the help, and beside them what they do: a long sentence goes
    on below its own beginning."""
    table = Table.grid(Column(min_width=room), Column(ratio=1), padding=(0, 1, 0, 0), expand=True)
    for keys, said in rows:
        table.add_row(Text(keys, style="bold"), Text(said))
    return table


def keys_taken(screen: Screen[Any]) -> dict[str, str]:
    """Which action of a place each key calls just now, by its id."""
    places = all_places()
    found = ((key, active.binding.id or "") for key, active in screen.active_bindings.items())
    return {key: ident for key, ident in found if ident.partition(".")[0] in places}


def keys_left(
    place: Place, action: Action, keys: Collection[str], taken: Mapping[str, str], lower: Collection[str] = ()
) -> tuple[str, ...]:
    """Those that call this action and no other one, or what a place of these names calls the same: a list's Enter
    opens what its screen says that it opens."""
    ident = place.id_of(action)
    same = {ident, *(f"{name}.{ident.partition('.')[2]}" for name in lower)}
    return tuple(key for key in keys if taken.get(key, ident) in same)


def _flowing(text: str) -> Group:
    """A line that goes on in the next one is one with it; what doesn't fit goes on below its own beginning."""
    lines: list[str] = []
    for line in text.rstrip().split("\n"):
        if lines and _goes_on(lines[-1], line):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return Group(*(Padding(Text(line.strip()), (0, 0, 0, _indent(line))) for line in lines))


def _goes_on(line: str, following: str) -> bool:
    said = (
        len(line) >= _FULL_LINE and not line.endswith((".", ":")) and "  " not in f"{line.strip()}{following.strip()}"
    )
    return said and _indent(line) == _indent(following)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
