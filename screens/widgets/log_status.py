"""The line below a log: which file, what is searched, whether it is followed. And the line to search in."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from engine.text import clean_line
from screens.format import size
from screens.log_pattern import BadPattern, Pattern
from screens.pieces import Pieces, width_of
from screens.widgets.lines import Line, Lines

if TYPE_CHECKING:
    from screens.widgets.log_view import LogView


class LogStatus(Lines):
    DEFAULT_CSS = """
    LogStatus { height: 1; }
    """

    def __init__(self, view: LogView) -> None:
        super().__init__()
        self._view = view

    def make(self, width: int) -> list[Line]:
        view = self._view
        left: Pieces = [(f" {clean_line(view.path.name)}", "deck--dim")]
        if view.size_bytes:
            left.append((f"  {_bytes(view.size_bytes)}", "deck--faint"))
            left.append((self._lines_text(), "deck--faint"))
        if view.replaced:
            left.append(("  file was replaced", "deck--warn"))
        right: Pieces = []
        right += self._search()
        if view.following:
            right.append(("follow", "deck--accent"))
        else:
            new = view.new_lines
            right.append(("follow off", "deck--dim"))
            if new is None:
                right.append((" · new lines", "deck--warn"))
            elif new:
                right.append((f" · {new:,} new line{'' if new == 1 else 's'}", "deck--warn"))
        right.append((" · wrap " if view.wrapping else " · no wrap ", "deck--faint"))
        while len(left) > 1 and width_of(left) + width_of(right) + 2 > width:
            left.pop()
        return [(left, right)]

    def _lines_text(self) -> str:
        index = self._view.index
        if not index.complete:
            return f"  counting lines, {100 * index.scanned // max(1, self._view.size_bytes)} %"
        return f"  {index.lines:,} line{'' if index.lines == 1 else 's'}"

    def _search(self) -> Pieces:
        search = self._view.search
        if search is None:
            return []
        rank = search.rank(self._view.here)
        text = f"{rank:,} of {search.count:,}" if rank else f"{search.count:,} found" if search.count else "not found"
        if not search.complete and (self._view.searching or self._view.search_stopped):
            share = 100 * search.searched // max(1, self._view.size_bytes)
            text = f"{search.count:,} found, {'stopped at ' if self._view.search_stopped else ''}{share} %"
        pattern = clean_line(search.pattern.text, 24)
        return [(f"/{pattern} ", "deck--key"), (text, "deck--strong"), ("   ", "")]


class SearchInput(Input):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", show=False)]

    class GivenUp(Message):
        """Escape was pressed."""

    def action_give_up(self) -> None:
        self.post_message(self.GivenUp())


class SearchLine(Horizontal):
    """Hidden until it is asked for; a pattern that is none is said beside it."""

    DEFAULT_CSS = """
    SearchLine { height: 1; display: none; }
    SearchLine.open { display: block; }
    SearchLine > SearchInput { width: 1fr; }
    SearchLine > SearchProblem { width: auto; min-width: 2; height: 1; }
    """

    class Left(Message):
        """Escape was pressed."""

    class Asked(Message):
        """For a pattern that is one."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def compose(self) -> ComposeResult:
        yield SearchMark()
        yield SearchInput(
            placeholder=r"regular expression; \C minds upper and lower case", select_on_focus=False, compact=True
        )
        yield SearchProblem()

    def open(self, text: str) -> None:
        self.add_class("open")
        line = self.query_one(Input)
        line.value = text
        line.cursor_position = len(text)
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
        self.say(_problem(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        problem = _problem(event.value)
        self.say(problem)
        if not problem:
            self.close()
            self.post_message(self.Asked(event.value))

    def on_search_input_given_up(self, event: SearchInput.GivenUp) -> None:
        event.stop()
        self.close()
        self.post_message(self.Left())


class SearchMark(Lines):
    DEFAULT_CSS = """
    SearchMark { width: 2; height: 1; }
    """

    def make(self, width: int) -> list[Line]:
        return [([(" /", "deck--key")], [])]


class SearchProblem(Lines):
    text = ""

    def make(self, width: int) -> list[Line]:
        return [([(f" ! {self.text}", "deck--bad")] if self.text else [], [])]


def _bytes(count: int) -> str:
    """`640 bytes`, `12 KB`, `1.9 GB`."""
    short = size(count)
    return f"{short[:-1]} {short[-1]}B" if short[-1].isalpha() else f"{short} byte{'' if count == 1 else 's'}"


def _problem(text: str) -> str:
    try:
        Pattern(text)
    except BadPattern as error:
        return str(error)
    return ""
