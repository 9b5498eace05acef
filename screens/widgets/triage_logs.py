"""Two logs side by side, each at the line that matters; one at a time where the screen is narrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches

from engine.layout import LogFile
from screens.actions import key_called
from screens.pieces import Pieces
from screens.triage_actions import TRIAGE
from screens.triage_places import LogPlace
from screens.when_filled import when_filled
from screens.widgets.lines import Line, Lines
from screens.widgets.log_page import LogPage
from screens.widgets.log_view import LogView


class PaneHead(Lines):
    """Set `text` and `right`, then `show`."""

    def __init__(self) -> None:
        super().__init__()
        self.text: Pieces = []
        self.right: Pieces = []

    def make(self, width: int) -> list[Line]:
        return [([(" ", ""), *self.text], [*self.right, (" ", "")] if self.right else [])]


Naming = Callable[[Callable[[], None]], None]
"""Called with what shows the file's path, in which the arm is named: that is done at once, or once a person agrees."""


class TriageLog(LogView):
    """A log whose path is shown to nobody unasked where the arm is hidden."""

    def __init__(self, path: Path, label: str, naming: Naming) -> None:
        super().__init__(path, label)
        self._naming = naming

    def _chosen(self, answer: str | None) -> None:
        copied = super()._chosen
        if answer in ("path", "command"):
            self._naming(lambda: copied(answer))
        else:
            copied(answer)

    def _outside(self, *, pager: bool) -> None:
        opened = super()._outside
        self._naming(lambda: opened(pager=pager))


class LogPane(Vertical):
    """One log with a line above it that says which, and where in it."""

    def __init__(self, naming: Naming, *, id: str) -> None:
        super().__init__(id=id)
        self._naming = naming
        self.place: LogPlace | None = None
        self.view: TriageLog | None = None
        self.title = ""
        self.other = ""

    def compose(self) -> ComposeResult:
        yield PaneHead()

    def set(self, place: LogPlace | None, title: str, other: str) -> None:
        """`other` is said at the right edge: how to get to the log that isn't shown."""
        self.title, self.other = title, other
        if place is None or self.place is None or self.view is None or place.log.path != self.place.log.path:
            if self.view is not None:
                self.view.remove()
            self.view = None
            if place is not None:
                self.view = TriageLog(place.log.path, title, self._naming)
                self.mount(self.view)
        moved = place != self.place
        self.place = place
        if self.view is not None and place is not None and place.line and moved:
            when_filled(self.view, self.view.go_to_line, place.line)
        self.show_head()

    def show_head(self) -> None:
        head = self.query_one(PaneHead)
        focused = self.has_focus_within
        at = ""
        if self.place is not None:
            at = f", around line {self.place.line:,}" if self.place.line else ", its end"
        head.text = [
            ("▌" if focused else "│", "deck--accent" if focused else "deck--rule"),
            (f" {self.title}", "deck--strong" if focused else ""),
            (at, "deck--dim"),
        ]
        head.right = [(self.other, "deck--faint")] if self.other else []
        head.show()

    def read(self) -> bool:
        """Gives the keys to the log; False where there is none."""
        if self.view is None:
            return False
        try:
            self.view.query_one(LogPage).focus()
        except NoMatches:
            return False
        return True


class TriageLogs(Horizontal):
    """`name_of` says what a log is called here."""

    def __init__(self, name_of: Callable[[LogFile], str], naming: Naming, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._name_of = name_of
        self._naming = naming
        self.places: list[LogPlace] = []
        self.narrow = False
        self.front = 0

    def compose(self) -> ComposeResult:
        yield LogPane(self._naming, id="left")
        yield LogPane(self._naming, id="right")

    @property
    def panes(self) -> list[LogPane]:
        return list(self.query(LogPane))

    def set_places(self, places: Sequence[LogPlace], front: int) -> None:
        """`front` is the one to be seen where there is room for one only."""
        self.places = list(places)
        self.front = max(0, min(front, len(places) - 1))
        self.show()

    def show(self) -> None:
        for number, pane in enumerate(self.panes):
            place = self.places[number] if number < len(self.places) else None
            other = ""
            if self.narrow and len(self.places) > 1:
                other = f"{key_called(self.app, TRIAGE, 'pane')} {self._name_of(self.places[1 - number].log)}"
            pane.set(place, self._name_of(place.log) if place is not None else "no log", other)
            pane.display = (
                number == self.front if self.narrow else place is not None or (number == 0 and not self.places)
            )

    def forget(self) -> None:
        """Another trial: nothing of the last one stays open."""
        for pane in self.panes:
            pane.set(None, "", "")
        self.places = []

    def next_pane(self) -> bool:
        """The keys to the next log; False behind the last one."""
        panes = self.panes[: len(self.places)]
        at = next((number for number, pane in enumerate(panes) if pane.has_focus_within), -1)
        if at < 0 and self.narrow:
            at = self.front - 1
        elif self.narrow and len(self.places) > 1 and at == self.front == 1:
            return self._leave()
        if at + 1 >= len(panes):
            return self._leave()
        if self.narrow:
            self.front = at + 1
            self.show()
        return panes[at + 1].read()

    def _leave(self) -> bool:
        if self.narrow and len(self.places) > 1:
            self.front = 0
            self.show()
        return False

    def show_heads(self) -> None:
        for pane in self.panes:
            pane.show_head()
