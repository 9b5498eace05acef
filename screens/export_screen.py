"""Which formats something is written in, and where."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from screens.deck_screen import DeckModal
from screens.export_files import Wanted
from screens.widgets.line_input import LineInput
from screens.widgets.lines import Line, Lines

MOST_FORMATS = 9


class Formats(Lines, can_focus=True):
    """Lines with a mark each; numbers and the mouse change them."""

    def __init__(self, titles: Mapping[str, str], chosen: set[str]) -> None:
        super().__init__()
        self.titles = titles
        self.chosen = chosen

    def make(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for number, (ending, title) in enumerate(self.titles.items(), 1):
            on = ending in self.chosen
            mark = "[x]" if on else "[ ]"
            lines.append(
                ([(f" {number} ", "deck--key"), (f"{mark} ", "deck--strong" if on else "deck--dim"), (title, "")], [])
            )
        return lines


class ExportScreen(DeckModal[Wanted | None]):
    """Returns what is wanted; None for Esc. `what` is "the comparison", `titles` are formats by their endings."""

    CSS_PATH = "export_screen.tcss"
    AUTO_FOCUS = "Formats"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", show=False),
        Binding("enter", "write", show=False),
        *(Binding(str(number), f"turn({number})", show=False) for number in range(1, MOST_FORMATS + 1)),
    ]

    def __init__(self, what: str, titles: Mapping[str, str], folder: Path, name: str) -> None:
        super().__init__()
        self.what = what
        self.titles = titles
        self.folder = folder
        self.file_name = name
        self.chosen = {"md", "json"}

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(f"Export {self.what}", classes="title", markup=False)
            yield Formats(self.titles, self.chosen)
            yield Static("folder", classes="label", markup=False)
            yield LineInput(str(self.folder), id="folder")
            yield Static("", id="said", markup=False)
            yield Static(
                f"enter writes · 1–{len(self.titles)} formats · tab folder · esc not now", classes="keys", markup=False
            )

    def on_mount(self) -> None:
        self.query_one(Formats).show()

    def action_turn(self, number: int) -> None:
        if number > len(self.titles):
            return
        ending = list(self.titles)[number - 1]
        self.chosen ^= {ending}
        self.query_one(Formats).chosen = self.chosen
        self.query_one(Formats).show()
        self.query_one("#said", Static).update("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_write()

    def action_write(self) -> None:
        if not self.chosen:
            self.query_one("#said", Static).update("choose at least one format")
            return
        text = self.query_one("#folder", Input).value.strip()
        folder = Path(text).expanduser() if text else Path.cwd()
        formats = tuple(ending for ending in self.titles if ending in self.chosen)
        self.dismiss(Wanted(folder, self.file_name, formats))

    def action_give_up(self) -> None:
        self.dismiss(None)
