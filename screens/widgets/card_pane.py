"""What is known of a run that has no card of ours, to be scrolled."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from engine.events import RunPlanned
from screens.trial_card import card_lines
from screens.widgets.lines import Line, Lines


class CardText(Lines):
    DEFAULT_CSS = """
    CardText { height: auto; }
    """

    def __init__(self, plan: RunPlanned | None) -> None:
        super().__init__()
        self.plan = plan

    def make(self, width: int) -> list[Line]:
        return [(line, []) for line in card_lines(self.plan)]


class CardPane(VerticalScroll, can_focus=True):
    DEFAULT_CSS = """
    CardPane { scrollbar-size-vertical: 1; }
    """

    def __init__(self, plan: RunPlanned | None) -> None:
        super().__init__()
        self.plan = plan

    def compose(self) -> ComposeResult:
        yield CardText(self.plan)
