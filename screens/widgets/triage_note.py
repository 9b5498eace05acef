"""A line to write a note or a path in; hidden until it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from screens.widgets.line_input import LineInput
from screens.widgets.lines import Line, Lines


class EntryMark(Lines):
    DEFAULT_CSS = """
    EntryMark { width: auto; height: 1; }
    """
    text = ""

    def make(self, width: int) -> list[Line]:
        return [([(f" {self.text} ", "deck--key")], [])]

    def get_content_width(self, container: object, viewport: object) -> int:
        return len(self.text) + 2


class EntryInput(LineInput):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", show=False)]

    def line_of(self, pasted: str) -> str:
        """All lines of it, one behind the other: a note is often what a log says."""
        return " ".join(line.strip() for line in pasted.splitlines() if line.strip())

    class GivenUp(Message):
        """Escape was pressed."""

    def action_give_up(self) -> None:
        self.post_message(self.GivenUp())


class EntryLine(Horizontal):
    """Enter gives `Kept` with the text, Esc gives `Left`; both close the line."""

    DEFAULT_CSS = """
    EntryLine { height: 1; display: none; }
    EntryLine.open { display: block; }
    EntryLine > EntryInput { width: 1fr; }
    """

    @dataclass
    class Kept(Message):
        what: str
        text: str

    class Left(Message):
        """Escape was pressed, or something else took the keys."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.what = ""

    def compose(self) -> ComposeResult:
        yield EntryMark()
        yield EntryInput(compact=True, select_on_focus=False)

    def ask(self, what: str, text: str, most: int, hint: str = "") -> None:
        """`what` stands before the line, `most` is how many characters it takes."""
        self.what = what
        mark = self.query_one(EntryMark)
        mark.text = what
        entry = self.query_one(EntryInput)
        entry.max_length = most
        entry.placeholder = hint
        entry.value = text
        entry.cursor_position = len(text)
        self.add_class("open")
        mark.refresh(layout=True)
        mark.show()
        self.screen.set_focus(entry)  # at once: the next key is for it

    def close(self) -> None:
        self.remove_class("open")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.close()
        self.post_message(self.Kept(self.what, event.value))

    def on_entry_input_given_up(self, event: EntryInput.GivenUp) -> None:
        event.stop()
        self.close()
        self.post_message(self.Left())
