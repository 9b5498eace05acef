"""The line below a log in which a person types: a pattern to search or filter by, a place, a file's name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input
from textual.widgets.input import Selection

from engine.text import clean_line
from screens.log_pattern import BadPattern, filter_pattern
from screens.log_places import HINT, BadPlace, parse_place
from screens.widgets.line_input import LineInput
from screens.widgets.lines import Line, Lines


@dataclass(frozen=True)
class Asking:
    """`problem` says what is wrong with a text, or ""."""

    mark: str
    hint: str
    problem: Callable[[str], str]


def _pattern_problem(text: str) -> str:
    try:
        filter_pattern(text)
    except BadPattern as error:
        return str(error)
    return ""


def _place_problem(text: str) -> str:
    try:
        parse_place(text)
    except BadPlace:
        return "no line, share or time" if text.strip() else ""
    return ""


SEARCH = Asking("/", r"regular expression; \C minds upper and lower case", _pattern_problem)
FILTER = Asking("&", r"only lines that match; ! in front: those that don't", _pattern_problem)
GO_TO = Asking("@", HINT, _place_problem)
SAVE = Asking(">", "a file to write the shown lines to", lambda text: "")


class SearchInput(LineInput):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", show=False)]

    class GivenUp(Message):
        """Escape was pressed."""

    def action_give_up(self) -> None:
        self.post_message(self.GivenUp())


class SearchLine(Horizontal):
    """Hidden, and empty, until it is asked for: most logs are turned past without. What is wrong with a text is said
    beside it."""

    DEFAULT_CSS = """
    SearchLine { height: 1; display: none; }
    SearchLine.open { display: block; }
    SearchLine > SearchInput { width: 1fr; }
    SearchLine > SearchProblem { width: auto; min-width: 2; height: 1; }
    """

    class Left(Message):
        """Escape was pressed."""

    @dataclass
    class Asked(Message):
        """For a text with which nothing is wrong."""

        asking: Asking
        text: str

    def __init__(self) -> None:
        super().__init__()
        self.asking = SEARCH

    def open(self, asking: Asking, text: str) -> None:
        if not self.children:
            self.mount(SearchMark(), SearchInput(select_on_focus=False, compact=True), SearchProblem())
        self.asking = asking
        self.add_class("open")
        mark = self.query_one(SearchMark)
        mark.text = asking.mark
        mark.show()
        line = self.query_one(Input)
        line.placeholder = asking.hint
        line.value = text
        line.cursor_position = len(text)
        if asking is GO_TO:  # the place before is seldom wanted again: what is typed replaces it
            line.selection = Selection(0, len(text))
        self.say("")
        self.screen.set_focus(line)  # at once: the next key is for it

    def close(self) -> None:
        self.remove_class("open")

    def say(self, problem: str) -> None:
        said = self.query_one(SearchProblem)
        said.text = clean_line(problem, 60)
        said.styles.width = len(said.text) + 3 if problem else 0
        said.show()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.say(self.asking.problem(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        problem = self.asking.problem(event.value)
        self.say(problem)
        if not problem:
            self.close()
            self.post_message(self.Asked(self.asking, event.value))

    def on_search_input_given_up(self, event: SearchInput.GivenUp) -> None:
        event.stop()
        self.close()
        self.post_message(self.Left())


class SearchMark(Lines):
    DEFAULT_CSS = """
    SearchMark { width: 2; height: 1; }
    """

    text = "/"

    def make(self, width: int) -> list[Line]:
        return [([(f" {self.text}", "deck--key")], [])]


class SearchProblem(Lines):
    text = ""

    def make(self, width: int) -> list[Line]:
        return [([(f" ! {self.text}", "deck--bad")] if self.text else [], [])]
