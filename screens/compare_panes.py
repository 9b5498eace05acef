"""The parts of the compare screen that are lines: the arms, the head with its numbers, and what stands behind them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.analysis import wording as say
from engine.analysis.as_text import comparison_lines, rate_line
from engine.analysis.compare_arms import Compared
from engine.analysis.named_rows import named
from engine.analysis.run_differences import question_words
from screens import compare_lines
from screens.actions import key_called
from screens.compare_actions import COMPARE
from screens.comparing import Worked
from screens.pieces import Pieces, width_of
from screens.widgets.lines import Line, Lines


class Arms(Lines):
    """The arms side by side, and what is compared at the right; below each other where that has no room."""

    sides: Sequence[Pieces] = ()
    right: Pieces | None = None

    def make(self, width: int) -> list[Line]:
        room = self.screen.size.width  # it goes over the whole screen, also before it knows how wide it is
        right: Pieces = [*(self.right or []), (" ", "")]
        beside: Pieces = [piece for side in self.sides for piece in (*side, ("   ", ""))]
        whole = 1 + width_of(beside) <= room // 2  # so much is never cut for what stands at the right
        if (room >= compare_lines.BESIDE and whole) or width_of(beside) + width_of(right) < room:
            return [([(" ", ""), *beside], right)]
        below: list[Line] = [([(" ", ""), *side], []) for side in self.sides]
        if below and width_of(below[-1][0]) + 2 + width_of(right) <= room:
            return [*below[:-1], (below[-1][0], right)]
        return [*below, ([(" ", ""), *right], [])]


class Head(Lines):
    worked: Worked | None = None
    text = ""

    def make(self, width: int) -> list[Line]:
        compared = self.worked.compared if self.worked is not None else None
        if compared is None:
            style = "deck--warn" if self.text else "deck--dim"
            return [([(f" {line}", style)], []) for line in say.wrap(self.text or "working it out …", width - 2)]
        more = key_called(self.app, COMPARE, "detail('numbers')")
        return compare_lines.head(compared.found, width, self.screen.size.height, compared.adjusted, more)


class Detail(Lines):
    """`what`: "" for nothing, `numbers`, `sensitivity` or `differences`."""

    worked: Worked | None = None
    context = ""
    what = ""

    def make(self, width: int) -> list[Line]:
        if self.worked is None or self.worked.compared is None or not self.what:
            return []
        texts = {"numbers": self._numbers, "sensitivity": self._sensitivity, "differences": self._differences}
        lines = texts[self.what](self.worked, self.worked.compared, max(40, width - 2))
        return [([(f" {line}", "")], []) for line in lines]

    def _numbers(self, worked: Worked, compared: Compared, width: int) -> list[str]:
        lines = comparison_lines(compared.found, width, context=self.context)[1:]
        return [*lines, *standing_lines(compared, width)]

    def _sensitivity(self, worked: Worked, compared: Compared, width: int) -> list[str]:
        return sensitivity_lines(worked, compared, width)

    def _differences(self, worked: Worked, compared: Compared, width: int) -> list[str]:
        return difference_lines(compared, width)


def standing_lines(compared: Compared, width: int) -> list[str]:
    """Several arms: the baseline first, each with its rank, and p-values raw and adjusted."""
    if not compared.standings:
        return []
    looked = len(compared.standings) - 1
    name = max(16, min(40, width - 62))
    lines = [
        "",
        *say.wrap(f"{looked} arms looked at against the baseline; each is one more chance to be wrong", width, "  "),
        f"{'arm':<{name}} rank      rate      interval   A − arm   p exact    p Holm",
    ]
    for arm in compared.standings:
        exact, holm = (
            (say.p_value(arm.adjusted.exact), say.p_value(arm.adjusted.holm)) if arm.adjusted else (say.DASH, say.DASH)
        )
        lines.append(
            f"{say.fit(arm.name, name)} {arm.rank:>4} {say.percent(arm.rate.rate):>9} "
            f"{say.percent_range(arm.rate.interval):>13} {say.points(arm.difference):>9} {exact:>9} {holm:>9}"
        )
    return lines


def sensitivity_lines(worked: Worked, compared: Compared, width: int) -> list[str]:
    """Every reading, then the trials that move it, the farthest movers first."""
    found = compared.found
    narrow = width < compare_lines.BESIDE
    room = 10 if narrow else 34  # less than any reading's name, so that it stands above its numbers
    lines = [
        *say.wrap("Every score as assigned, and as if the doubtful trials had gone otherwise.", width),
        "",
        f"{'reading':<{room}}{'A':>9}{'B':>9}{'A − B':>9}   {'interval':<18}",
    ]
    for view in found.sensitivity:
        touched = f" ({say.many(view.left_out, 'pair')})" if view.left_out else ""
        touched = f" ({say.many(view.changed, 'trial')})" if view.changed else touched
        numbers = f"{say.percent(view.rate_a):>9}{say.percent(view.rate_b):>9}{say.points(view.difference):>9}"
        numbers += f"   {say.points_range(view.low, view.high):<18}"
        lines += named("", view.name + touched, room, numbers, width)
    lines.append("")
    for side, arm in zip("AB", found.arms, strict=True):
        bounds = f"missing all lost to all won: {say.percent_range(arm.bounds)}"
        lines += say.wrap(f"{rate_line(side, arm)}, {bounds}", width, "   ")
    if not worked.movers:
        return _fitted([*lines, "", *say.wrap(say.LABELLED, width, "  ")], width)
    task = 4 if narrow else max(20, min(44, width - 52))
    lines += ["", *(("trials that move it",) if narrow else ())]
    lines += [f"{'' if narrow else 'trials that move it':<{task}} side  #  cause           verdict    moves A − B by"]
    for mover in worked.movers:
        moves = [say.points(change) for change in dict.fromkeys((mover.low, mover.high))]
        verdict = "none" if mover.passed is None else "passed" if mover.passed else "failed"
        numbers = f" {mover.side.upper():<4} {mover.attempt:>2}  {mover.cause:<15} {verdict:<9}  {' or '.join(moves)}"
        lines += named("", mover.task, task, numbers, width)
    return _fitted(lines, width)


def difference_lines(compared: Compared, width: int) -> list[str]:
    apart = compared.differences
    lines = [f"question   {question_words(apart.question, apart.arms)}", ""]
    for title, texts, none in (
        ("The arms differ", apart.arms, "by nothing that is known"),
        ("The run cards differ", apart.cards, "in nothing that is known"),
        ("Can't be known, so it may differ", apart.unknown, "nothing of what is looked at"),
    ):
        lines += [title, *(f"  {text}" for text in (texts or (none,))), ""]
    return [line for text in lines for line in _wrapped(text, width)]


def _wrapped(text: str, width: int) -> list[str]:
    indent = len(text) - len(text.lstrip(" "))
    return [" " * indent + line for line in say.wrap(text.strip(), width - indent, "  ")]


def _fitted(lines: list[str], width: int) -> list[str]:
    lines = [line.rstrip() for line in lines]
    return [line if say.cells(line) <= width else say.fit(line, width) for line in lines]
