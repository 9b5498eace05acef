"""The line below a log: which file, what is searched and filtered, whether it is followed, how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.log_streams import Stream
from engine.text import clean_line
from screens.format import size
from screens.log_search import Search
from screens.log_text import Look
from screens.pieces import Pieces, cut, width_of
from screens.widgets.lines import Line, Lines
from screens.widgets.log_streaming import STREAM_MARKS

if TYPE_CHECKING:
    from screens.widgets.log_view import LogView

_WHOLE = 100
"""Columns from which on the line where one is is told."""


class LogStatus(Lines):
    DEFAULT_CSS = """
    LogStatus { height: 1; }
    """

    def __init__(self, view: LogView) -> None:
        super().__init__()
        self._view = view

    def make(self, width: int) -> list[Line]:
        view = self._view
        left: Pieces = [(f" {clean_line(view.title_text)}", "deck--dim")]
        if view.gone:
            left.append(("  file was removed", "deck--warn"))
        elif view.replaced:
            left.append(("  file was replaced", "deck--warn"))
        if view.left_out:
            left.append((f"  {cut(clean_line(view.left_out), max(20, width // 3))}", "deck--warn"))
        if view.size_bytes:
            left.append((self._lines_text(width), "deck--faint"))
            left.append((f"  {_bytes(view.size_bytes)}", "deck--faint"))
        if (streams := view.streams) is not None:
            left.append((f"  {STREAM_MARKS[Stream.STDERR]}stderr", "deck--faint"))
            if (unknown := streams.unknown_from) is not None:
                left.append((f"  ? streams not kept beyond {_bytes(unknown)}", "deck--warn"))
        right = self._doing() + self._filter() + self._search()
        if view.following:
            right.append(("follow", "deck--accent"))
        else:
            new = view.new_lines
            right.append(("follow off", "deck--dim"))
            if new is None:
                right.append((" · new lines", "deck--warn"))
            elif new:
                right.append((f" · {new:,} new line{'' if new == 1 else 's'}", "deck--warn"))
        if view.look is not Look.COLOURS:
            right.append((f" · {view.look}", "deck--warn"))
        if view.stream is not None:
            right.append((f" · {view.stream} only", "deck--warn"))
        right.append((" · wrap " if view.wrapping else " · no wrap ", "deck--faint"))
        while len(left) > 1 and width_of(left) + width_of(right) + 2 > width:
            left.pop()
        return [(left, right)]

    def _lines_text(self, width: int) -> str:
        index = self._view.index
        if not index.complete:
            return f"  counting lines, {100 * index.scanned // max(1, self._view.size_bytes)} %"
        number = self._view.here_number if width >= _WHOLE else None
        of = f"line {number:,} of " if number is not None else ""
        return f"  {of}{index.lines:,} line{'' if index.lines == 1 and not of else 's'}"

    def _doing(self) -> Pieces:
        doing = self._view.doing
        return [(f"{doing}  ", "deck--accent")] if doing else []

    def _filter(self) -> Pieces:
        found = self._view.filtering
        if found is None:
            return []
        text = f"{found.count:,} line{'' if found.count == 1 else 's'}"
        text += self._share(found, self._view.filter_stopped)
        return [(f"&{clean_line(found.pattern.text, 24)} ", "deck--key"), (text, "deck--strong"), ("   ", "")]

    def _share(self, search: Search, stopped: bool) -> str:
        if search.complete:
            return ""
        share = 100 * search.searched // max(1, self._view.size_bytes)
        if search.too_slow:
            return f", pattern too slow, stopped at {share} %"
        return f", {'stopped at ' if stopped else ''}{share} %"

    def _search(self) -> Pieces:
        search = self._view.search
        if search is None:
            return []
        rank = search.rank(self._view.here)
        text = f"{rank:,} of {search.count:,}" if rank else f"{search.count:,} found" if search.count else "not found"
        if not search.complete and (self._view.searching or self._view.search_stopped or search.too_slow):
            text = f"{search.count:,} found" + self._share(search, self._view.search_stopped)
        pattern = clean_line(search.pattern.text, 24)
        return [(f"/{pattern} ", "deck--key"), (text, "deck--strong"), ("   ", "")]


def _bytes(count: int) -> str:
    """`640 bytes`, `12 KB`, `1.9 GB`."""
    short = size(count)
    return f"{short[:-1]} {short[-1]}B" if short[-1].isalpha() else f"{short} byte{'' if count == 1 else 's'}"
