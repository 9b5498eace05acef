"""A comparison as plain lines: no colour, no control codes, at any width from 80 columns on."""

from __future__ import annotations

from collections.abc import Sequence

from engine.analysis import wording as say
from engine.analysis.compare import ArmSummary, Comparison, DiscordantTask
from engine.analysis.pairs import Difference

NARROWEST = 80
_SIDE_BY_SIDE = 116  # from here on the table and the rates stand beside each other
_LEFT = 36


def comparison_lines(
    found: Comparison, width: int = NARROWEST, *, context: str = "", most_tasks: int | None = None
) -> list[str]:
    """`context` names the task set and the card; `most_tasks` cuts the lists of discordant tasks and says how
    many are left. Every line is safe for a terminal and at most `width` columns wide (never under 80).
    """
    width = max(width, NARROWEST)
    a, b = found.arms
    lines = [
        say.fit(f"compare › A {a.name}   B {b.name}", width),
        *say.wrap(" · ".join(part for part in (what_was_compared(found), context) if part), width),
        "",
        *_body(found, width),
        "",
        *_denominators(found),
        "",
        *(line for side, arm in sides(found) for line in say.wrap(cost_line(side, arm), width, "   ")),
        *(line for text in pass_at_k_lines(found) for line in say.wrap(text, width, "   ")),
        *(say.wrap(cascade_line(found), width, "   ") if cascade_line(found) else []),
        *_sensitivity(found, width),
        *(line for note in warnings(found) for line in say.wrap(f"! {note}", width, "  ")),
        "",
        *_discordant(found, width, most_tasks),
    ]
    return [line.rstrip() for line in lines]


def sides(found: Comparison) -> tuple[tuple[str, ArmSummary], tuple[str, ArmSummary]]:
    return ("A", found.arms[0]), ("B", found.arms[1])


def warnings(found: Comparison) -> list[str]:
    return [*card_warnings(found), *found.notes]


def card_warnings(found: Comparison) -> list[str]:
    return [
        *(f"the cards differ: {text}" for text in found.card_differences),
        *(f"the cards can't be compared in full: {text}" for text in found.card_unknowns),
    ]


def what_was_compared(found: Comparison) -> str:
    a, b = (arm.attempts_per_task for arm in found.arms)
    attempts = f"{say.many(a, 'attempt')} each" if a == b else f"A {say.many(a, 'attempt')}, B {b:,}"
    return f"{say.many(found.tasks, 'task')}, {'first attempts' if found.attempts == 'first' else attempts}"


def rate_line(side: str, arm: ArmSummary) -> str:
    of = arm.assigned if arm.rate_of == "assigned" else arm.finished
    live = "" if arm.rate_of == "assigned" else " of finished"
    return (
        f"{side}  {arm.resolved}/{of}{live}  {say.percent(arm.rate)}  {say.percent_range(arm.interval)}"
        f"  ({say.LEVEL}, {arm.interval_method})"
    )


def difference_line(found: Comparison) -> str:
    delta = found.difference
    if delta.estimate is None:
        return f"A − B  {say.DASH}"
    return (
        f"A − B  {say.points(delta.estimate)} points  {say.points_range(delta.low, delta.high)}"
        f"{'  too few to say' if delta.too_few else ''}"
    )


def method_line(delta: Difference) -> str:
    """Where an interval comes from, so that anyone can have the same one."""
    if delta.estimate is None:
        return "no pair to resample"
    error = ""
    if delta.standard_error is not None:
        error = f" · SE {100 * delta.standard_error:.1f}"
    flat = " · degenerate" if delta.degenerate else ""
    return f"({say.LEVEL}, {delta.method}, {delta.draws:,} draws, seed {delta.seed}{error}{flat})"


def family_line(found: Comparison) -> str:
    """ "" where nobody gave families of tasks."""
    row = found.family_difference
    if row is None:
        return ""
    few = "; so few families say little of others" if row.too_few else ""
    return (
        f"by family  {say.points_range(row.low, row.high)} ({row.method}): "
        f"{say.many(row.tasks, 'task')} of {row.families} families, the largest with {row.largest_family}{few}"
    )


def mcnemar_line(found: Comparison) -> str:
    test = found.mcnemar
    several = found.attempts == "all" and any(arm.attempts_per_task > 1 for arm in found.arms)
    return (
        f"McNemar p {say.p_value(test.exact)} (exact) · mid-p {say.p_value(test.mid_p)}"
        f" · {test.discordant:,} discordant{' first attempts' if several else ''}"
    )


def power_line(found: Comparison) -> str:
    if found.power.detectable is None:
        why = "tasks don't vary" if found.difference.estimate or found.mcnemar.discordant else "nothing disagrees"
        return f"{why}: what this design detects can't be told"
    power = f"{100 * found.power.power:.0f} % power"
    return f"this design detects {100 * found.power.detectable:.1f} points ({power})"


def reward_line(found: Comparison) -> str:
    delta = found.reward_difference
    if delta is None or delta.estimate is None or delta.low is None or delta.high is None:
        return ""
    estimate, low, high = (say.signed(value, 3) for value in (delta.estimate, delta.low, delta.high))
    return f"reward A − B  {estimate}  {low} to {high}  ({say.many(delta.tasks, 'task')})"


def cost_line(side: str, arm: ArmSummary) -> str:
    each = say.per_resolved(arm.cost_per_resolved, arm.cost_per_resolved_is_lower_bound, arm.cost_total, arm.resolved)
    if arm.cost_total is None:
        return f"{side}  {each}"
    parts = [each]
    if arm.cost_per_resolved is not None:
        if arm.cost_per_resolved_interval is not None:
            low, high = arm.cost_per_resolved_interval
            parts[0] += f" ({say.money(low)} to {'no bound' if high is None else say.money(high)})"
        parts.append(f"{say.at_least(arm.cost_total, arm.cost_per_resolved_is_lower_bound)} in all")
    if arm.cost_discarded:
        parts.append(f"{say.money(arm.cost_discarded)} of it discarded")
    if arm.cost_infrastructure:
        parts.append(f"{say.money(arm.cost_infrastructure)} of it in trials that never completed")
    return f"{side}  {' · '.join(parts)}"


def pass_at_k_lines(found: Comparison) -> list[str]:
    """pass@k and pass^k of each arm where there are several attempts, for all of them; which tasks don't carry the
    number is said."""
    lines = []
    for side, arm in sides(found):
        for at in arm.pass_at_k[-1:]:
            if at.any_of_k is None:
                lines.append(f"{side}  pass@{at.k} n/a: no task has {at.k} attempts that came to their end")
                continue
            lacking = (
                f", {say.many(len(at.lacking), 'task')} with fewer: {say.listed(at.lacking, 3)}" if at.lacking else ""
            )
            left_out = f", {say.many(at.left_out, 'attempt')} not counted" if at.left_out else ""
            ranges = [f" ({say.percent_range(one)})" if one else "" for one in (at.any_interval, at.all_interval)]
            uneven = f", with {at.uneven[0]} to {at.uneven[1]} attempts" if at.uneven else ""
            lines.append(
                f"{side}  pass@{at.k} {say.percent(at.any_of_k)}{ranges[0]} · pass^{at.k} {say.percent(at.all_of_k)}"
                f"{ranges[1]} of {say.many(at.tasks, 'task')}{uneven}{lacking}{left_out}"
            )
    return lines


def cascade_line(found: Comparison) -> str:
    """ "" where a cost is unknown."""
    both = found.cascade
    if both is None or both.cost_total is None:
        return ""
    each = "" if both.per_resolved is None else f", {say.money(both.per_resolved)} a resolved task"
    return (
        f"estimate: B first, A on what B leaves unresolved: {both.resolved} of {both.tasks}, "
        f"{say.money(both.cost_total)}{each}"
    )


def table_lines(found: Comparison) -> list[str]:
    table = found.table
    return [
        "first attempts  B resolved   B not",
        f"A resolved      {table.both:>10,}  {table.a_only:>6,}",
        f"A not           {table.b_only:>10,}  {table.neither:>6,}",
    ]


def _body(found: Comparison, width: int) -> list[str]:
    numbers = [
        *(rate_line(side, arm) for side, arm in sides(found)),
        difference_line(found),
        method_line(found.difference),
        *([family_line(found)] if family_line(found) else []),
        *([reward_line(found)] if reward_line(found) else []),
        mcnemar_line(found),
        power_line(found),
    ]
    table = table_lines(found)
    if width < _SIDE_BY_SIDE:
        return [*table, "", *(line for text in numbers for line in say.wrap(text, width, "   "))]
    table += [""] * (len(numbers) - len(table))
    return [say.fit(left, _LEFT) + "    " + right for left, right in zip(table, numbers, strict=True)]


def _denominators(found: Comparison) -> list[str]:
    lines = ["    assigned  completed  scored  excluded  resolved  of completed       bounds"]
    for side, arm in sides(found):
        lines.append(
            f"{side}   {arm.assigned:>8,}  {arm.completed:>9,}  {arm.scored:>6,}  {arm.excluded:>8,}"
            f"  {arm.resolved:>8,}  {say.percent(arm.rate_completed):>12}"
            f"  {say.percent_range(arm.bounds):>11}"
        )
    return lines


def _sensitivity(found: Comparison, width: int) -> list[str]:
    if not any(view.left_out or view.changed for view in found.sensitivity):
        return say.wrap(f"sensitivity: {say.LABELLED}", width, "  ")
    lines = ["", f"{'sensitivity':<41}{'A':>9}{'B':>9}{'A − B':>9}"]
    for view in found.sensitivity:
        what = view.name
        if view.left_out:
            what += f" ({say.many(view.left_out, 'pair')})"
        if view.changed:
            what += f" ({say.many(view.changed, 'trial')})"
        lines.append(
            f"{what:<41}{say.percent(view.rate_a):>9}{say.percent(view.rate_b):>9}{say.points(view.difference):>9}"
        )
    return lines


def _discordant(found: Comparison, width: int, most: int | None) -> list[str]:
    half = (width - 2) // 2
    left, right = _column(found.a_only, most, half), _column(found.b_only, most, half)
    lines = [
        say.fit(f"A only ({len(found.a_only)})", half - 12) + "     A     B"
        "  " + say.fit(f"B only ({len(found.b_only)})", half - 12) + "     A     B"
    ]
    for index in range(max(len(left), len(right))):
        one = left[index] if index < len(left) else " " * half
        two = right[index] if index < len(right) else ""
        lines.append(f"{one}  {two}")
    return lines


def _column(tasks: Sequence[DiscordantTask], most: int | None, width: int) -> list[str]:
    shown = tasks if most is None else tasks[:most]
    lines = [
        say.fit(task.task, width - 12) + f"{say.reward(task.reward_a):>6}{say.reward(task.reward_b):>6}"
        for task in shown
    ]
    if len(shown) < len(tasks):
        lines.append(say.fit(f"… {len(tasks) - len(shown)} more", width))
    return lines
