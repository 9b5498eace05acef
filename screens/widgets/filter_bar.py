"""The line above the table: the filter, always in sight while it is active, how much it lets through, and the order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from screens.pieces import Pieces
from screens.widgets.line_input import LineInput
from screens.widgets.lines import Line, Lines


class FilterState(Lines):
    """What is shown beside the input, and instead of it while nobody types."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.left: Pieces = []
        self.right: Pieces = []

    def make(self, width: int) -> list[Line]:
        return [(self.left, [*self.right, (" ", "")])]

    def stand(self, beside: bool) -> None:
        """Beside the input, or in its place. Not by a class: it costs all styles of the bar, and a key waits."""
        styles = self.styles
        styles.width, styles.min_width, styles.max_width = ("auto", 42, "60%") if beside else ("1fr", None, None)

    def on_click(self) -> None:
        bar = self.parent
        if isinstance(bar, FilterBar):
            bar.edit()


class FilterMark(Lines):
    """Before the input, where the mark of a filter in force stands: the text doesn't jump when it is edited."""

    DEFAULT_CSS = "FilterMark { width: 3; height: 1; display: none; }"

    def make(self, width: int) -> list[Line]:
        return [([(" / ", "deck--accent")], [])]


class FilterInput(LineInput):
    """Enter keeps the filter, Esc gives it up; up and down recall earlier ones."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", show=False),
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
    ]

    @dataclass
    class GivenUp(Message):
        pass

    def __init__(self, hint: str, history: list[str], suggester: Suggester | None = None) -> None:
        super().__init__(placeholder=hint, compact=True, select_on_focus=False, suggester=suggester)
        self.history = history
        self._place = len(history)

    def remember(self, text: str) -> None:
        if text and (not self.history or self.history[-1] != text):
            self.history.append(text)
        self._place = len(self.history)

    def action_give_up(self) -> None:
        self.post_message(self.GivenUp())

    def action_recall(self, step: int) -> None:
        self._place = max(0, min(len(self.history), self._place + step))
        self.value = self.history[self._place] if self._place < len(self.history) else ""
        self.cursor_position = len(self.value)


class FieldNames(Suggester):
    """Completes the name of a field that is being typed."""

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__(use_cache=True, case_sensitive=True)
        self._fields = fields

    async def get_suggestion(self, value: str) -> str | None:
        begun = re.search(r"(?:^|[\s(!])([a-z]+)$", value)
        if begun is None:
            return None
        name = next((field for field in self._fields if field.startswith(begun[1])), None)
        return f"{value}{name[len(begun[1]) :]}:" if name is not None else None


class FilterBar(Horizontal):
    """`Changed` while somebody types; `Kept` when they are done, with the text to keep ("" for none). `hint` shows what
    can be typed, `everything` says what is shown without a filter, `fields` are names that are completed (→ takes
    one), `history` holds earlier filters, oldest
    first. `error`: the text is no filter; `warning`: it is one, with something to beware of."""

    @dataclass
    class Changed(Message):
        text: str

    @dataclass
    class Kept(Message):
        text: str

    def __init__(
        self,
        *,
        hint: str = "text  /regex/  !not  arm:b  state:failed  reward:<1",
        everything: str = "all trials",
        fields: Sequence[str] = (),
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.hint = hint
        self.everything = everything
        self.fields = fields
        self.history: list[str] = []
        self.text = ""
        self.error = ""
        self.warning = ""
        self.problems = False
        self.right: Pieces = []

    def compose(self) -> ComposeResult:
        entry = FilterInput(self.hint, self.history, FieldNames(self.fields) if self.fields else None)
        entry.display = False
        yield FilterMark()
        yield entry
        yield FilterState()

    @property
    def entry(self) -> FilterInput:
        return self.query_one(FilterInput)

    @property
    def editing(self) -> bool:
        return self.entry.display

    def edit(self) -> None:
        """Open the input with the filter in force, to be changed."""
        self.entry.display = True
        self.entry.value = self.text
        self.entry.cursor_position = len(self.text)
        self.screen.set_focus(self.entry)  # at once: the next key is for it
        self.show()

    def show(self) -> None:
        state = next(iter(self.query(FilterState)), None)
        if state is None:  # not there yet, or on its way out
            return
        left: Pieces = [(" ", "")]
        if self.editing:
            left = []
        elif self.text:
            left += [("/ ", "deck--accent"), (self.text, "deck--strong"), ("  ", "")]
        if self.problems:
            left += [("! problems only  ", "deck--warn")]
        if self.error:
            left += [(self.error, "deck--bad")]
        elif self.warning:
            left += [(f"! {self.warning}", "deck--warn")]
        elif not self.editing and not self.text and not self.problems:
            left += [(self.everything, "deck--faint")]
        state.left, state.right = left, [] if self.error else self.right
        state.stand(beside=self.editing)
        self.query_one(FilterMark).display = self.editing
        state.show()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.editing:
            self.text = event.value
            self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._close(event.value)

    def on_filter_input_given_up(self, event: FilterInput.GivenUp) -> None:
        event.stop()
        self._close("")

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        if self.editing:
            self._close(self.entry.value)

    def _close(self, text: str) -> None:
        self.entry.display = False
        self.entry.remember(text)
        self.text = text
        self.show()
        self.post_message(self.Kept(text))
