"""A question with a few answers, each one key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from screens.actions import key_text
from screens.deck_screen import DeckModal


@dataclass(frozen=True)
class Answer:
    """`key` is Textual's name of the key, `value` what the screen returns."""

    key: str
    text: str
    value: str


class AnswerLine(Static):
    def __init__(self, answer: Answer) -> None:
        super().__init__(f"  {key_text(answer.key):<6} {answer.text}", markup=False)
        self.answer = answer

    def on_click(self) -> None:
        if isinstance(self.screen, QuestionScreen):
            self.screen.dismiss(self.answer.value)


class QuestionScreen(DeckModal[str]):
    """Returns the value of the answer; "" for Esc, after which nothing may happen. `repeat`: what Ctrl-C, pressed once
    more, answers."""

    CSS_PATH = "question_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "answer('')", show=False)]

    def __init__(self, title: str, text: str, *answers: Answer, repeat: str = "") -> None:
        super().__init__()
        self.heading = title
        self.text = text
        self.answers = answers
        self.repeat = repeat

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self.heading, classes="title", markup=False)
            if self.text:
                yield Static(self.text, classes="text", markup=False)
            for answer in self.answers:
                yield AnswerLine(answer)
            yield Static("  esc    stay here", classes="stay", markup=False)

    def action_answer(self, value: str) -> None:
        self.dismiss(value)

    def on_key(self, event: events.Key) -> None:
        for answer in self.answers:
            if event.key == answer.key:
                event.stop()
                self.dismiss(answer.value)
                return
