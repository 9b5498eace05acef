"""The line above the warnings, with the count of new ones."""

from __future__ import annotations

from screens import format as fmt
from screens.widgets.lines import Line, Lines


class FeedRule(Lines):
    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.total = 0
        self.unread = 0

    def set(self, total: int, unread: int) -> None:
        self.total, self.unread = total, unread
        self.show()

    def make(self, width: int) -> list[Line]:
        new = f" ({self.unread} new)" if self.unread else f" ({self.total})"
        style = "deck--strong" if self.unread else "deck--dim"
        line = "─" * max(0, width - len(new) - 12)
        return [([(" ─ ", "deck--rule"), ("warnings", style), (new, "deck--dim"), (f" {line}", "deck--rule")], [])]

    def text(self) -> str:
        """The same in a few words, where there is no room for the feed."""
        many = fmt.count(self.total, "warning")
        return f"{many}, {self.unread} new" if self.unread else many
