"""The line below the steps: what the whole session used, what is searched, and whether it is followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.text import clean_line
from screens import format as fmt
from screens.pieces import Pieces, width_of
from screens.trial_facts import tokens
from screens.widgets.lines import Line, Lines

if TYPE_CHECKING:
    from screens.widgets.steps_view import StepsView


class StepsBar(Lines):
    DEFAULT_CSS = """
    StepsBar { height: auto; background: $foreground 6%; }
    """

    def __init__(self, view: StepsView) -> None:
        super().__init__()
        self._view = view

    def make(self, width: int) -> list[Line]:
        view, trajectory = self._view, self._view.trajectory
        if trajectory is None:
            return [([(f" {clean_line(view.waiting_text)}", "deck--dim")], [])]
        left: Pieces = [(f" {fmt.count(len(trajectory.steps), 'step')}", "")]
        cached = f" ({tokens(trajectory.tokens_cached)} cached)" if trajectory.tokens_cached is not None else ""
        least = "≥ " if trajectory.partial and trajectory.tokens_in is not None else ""
        used = f"{least}{tokens(trajectory.tokens_in)} in{cached}, {tokens(trajectory.tokens_out)} out"
        left.append((f"  {used}", "deck--dim"))
        left.append((f"  cost {fmt.spent(trajectory.cost_usd, partial=trajectory.cost_partial)}", "deck--dim"))
        if trajectory.ended:
            left.append((f"  ended: {clean_line(trajectory.ended, 40)}", "deck--dim"))
        if trajectory.errors:
            left.append((f"  ✗ {fmt.count(len(trajectory.errors), 'error')}", "deck--bad"))
        right: Pieces = []
        if view.searching:
            right.append(("searching  ", "deck--dim"))
        if view.search is not None:
            rank, count = view.search.rank(view.row), len(view.search.hits)
            found = f"{rank:,} of {count:,}" if rank else f"{count:,} found" if count else "not found"
            if view.search.pattern.in_text.late:
                found += ", too slow a pattern"
            right += [(f"/{clean_line(view.search.pattern.text, 24)} ", "deck--key"), (f"{found}  ", "deck--strong")]
        if len(view.paths) > 1:
            right.append((f"session {view.chosen + 1} of {len(view.paths)}  ", "deck--accent"))
        if view.live:
            right.append(("follow " if view.following else "follow off ", "deck--accent"))
        else:
            right.append((f"{clean_line(trajectory.format, 20)} ", "deck--faint"))
        while len(left) > 1 and width_of(left) + width_of(right) + 2 > width:
            left.pop()
        lines: list[Line] = [(left, right)]
        if trajectory.problems:
            lines.append(([(f" ! {clean_line('; '.join(trajectory.problems), 400)}", "deck--warn")], []))
        return lines
