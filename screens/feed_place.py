"""Where the warnings of a run stand: below the table where there is room, else as a count in the footer."""

from __future__ import annotations

from screens.pieces import Pieces
from screens.widgets.action_footer import ActionFooter
from screens.widgets.feed_rule import FeedRule
from screens.widgets.warnings_feed import WarningsFeed

FEED_HEIGHT = 30
"""Lines of the terminal from which on the warnings have a place of their own."""


class FeedPlace:
    """The feed, the rule above it and the footer of one screen."""

    def __init__(self, feed: WarningsFeed, rule: FeedRule, footer: ActionFooter) -> None:
        self._feed = feed
        self._rule = rule
        self._footer = footer

    def show(self, letters: dict[str, str]) -> None:
        self._feed.letters = letters
        came = self._feed.update()
        if came and self._feed.has_focus:
            self._feed.mark_read()
        self._rule.set(len(self._feed.state.feed), self._feed.unread)
        self.place()

    def place(self) -> None:
        total = len(self._feed.state.feed)
        height = self._feed.screen.size.height
        room = height >= FEED_HEIGHT
        shown = bool(total) and (room or self._feed.has_focus)
        self._rule.display = self._feed.display = shown
        lines = max(3, min(8, height // 6)) if room else max(3, height // 3)
        self._feed.styles.height = max(1, min(lines, total))
        warnings: Pieces = []
        if total and not shown:
            warnings = [(f"w {self._rule.text()}", "deck--warn" if self._feed.unread else "deck--dim")]
        self._footer.say(warnings)

    def give_room(self) -> None:
        """However small the terminal: somebody goes there."""
        self._rule.display = self._feed.display = True
