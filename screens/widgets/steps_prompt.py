"""A line to type into that appears when it is asked for: a pattern, a moment, a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from screens.widgets.line_input import LineInput


class PromptInput(LineInput):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", show=False)]

    def action_give_up(self) -> None:
        self.post_message(Prompt.Left())


class Prompt(Horizontal):
    """`kind` is what is asked for; it comes back with the answer."""

    DEFAULT_CSS = """
    Prompt { height: 1; display: none; background: $foreground 6%; }
    Prompt Static { width: auto; padding: 0 1; color: $accent; }
    Prompt Input, Prompt Input:focus { border: none; height: 1; padding: 0; width: 1fr; background: transparent; }
    """

    @dataclass
    class Given(Message):
        kind: str
        text: str

    class Left(Message):
        """Escape was pressed: nothing was given."""

    def __init__(self) -> None:
        super().__init__()
        self.kind = ""

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)
        yield PromptInput(compact=True)

    def ask(self, kind: str, label: str, text: str = "") -> None:
        self.kind = kind
        self.query_one(Static).update(label)
        line = self.query_one(Input)
        line.value = text
        self.display = True
        self.screen.set_focus(line)  # at once: the next key is for it
        line.action_select_all()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.display = False
        self.post_message(self.Given(self.kind, event.value))

    def on_prompt_left(self) -> None:
        self.display = False
