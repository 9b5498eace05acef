"""A comparison as lines of pieces. The words are those of `engine.analysis`, so that every output says the same."""

from __future__ import annotations

from engine.analysis import wording as say
from engine.analysis.as_text import (
    difference_line,
    family_line,
    mcnemar_line,
    method_line,
    power_line,
    reward_line,
    sides,
    warnings,
)
from engine.analysis.compare import ArmSummary, Comparison
from engine.analysis.many_arms import Adjusted
from engine.analysis.sensitivity import AMBIGUOUS_FAILED, AMBIGUOUS_PASSED, INFRASTRUCTURE_EXCLUDED
from engine.text import clean_line
from screens.pieces import Pieces, cut, fit, width_of
from screens.widgets.lines import Line

ROOMY = 110
"""Columns from which on table, rates and costs stand in one block."""
BESIDE = 76
"""Columns from which on the rates stand beside the table; below that the table is one line under them."""
_TABLE = 40
_TABLE_NARROW = 34


def head(found: Comparison, width: int, height: int, adjusted: Adjusted | None = None, more: str = "n") -> list[Line]:
    """Table, rates, difference, tests, costs, what to beware of; fewer lines where the screen is low.

    `adjusted` is given where there are more than two arms; `more` is the key of the full text.
    """
    roomy = width >= ROOMY
    table = _table(found, roomy)
    numbers = [*(_rate(side, arm, roomy) for side, arm in sides(found)), _difference(found)]
    if roomy:
        if found.difference.estimate is not None:
            numbers.append([(method_line(found.difference), "deck--dim")])
        numbers += [[(mcnemar_line(found), "")], [(power_line(found), "deck--dim")]]
    lines: list[Pieces] = []
    left = _TABLE if roomy else _TABLE_NARROW
    if width < BESIDE:
        lines += [[(" ", ""), *line] for line in (*numbers, _table_in_words(found))]
    else:
        for number in range(max(len(table), len(numbers))):
            cells = fit(table[number] if number < len(table) else [], left)
            lines.append([*cells, *(numbers[number] if number < len(numbers) else [])])
    if not roomy:
        lines.append([(" ", ""), (_short_tests(found, detects=width >= BESIDE), "deck--dim")])
    if adjusted is not None:
        holm = f"p {say.p_value(adjusted.exact)} raw, Holm-adjusted p {say.p_value(adjusted.holm)}, "
        holm += f"over {adjusted.looked_at} arms compared with A"
        lines.append([(" " * (left if roomy else 1), ""), (holm, "")])
    if found.family_difference is not None:
        lines.append([(" " * (left if roomy else 1), ""), (family_line(found), "")])
    if found.reward_difference is not None:
        lines.append([(" " * (left if roomy else 1), ""), (reward_line(found), "")])
    if height >= 30:
        lines.append([])
        lines += _denominators(found)
        lines += [[], *_sensitivity(found, width), []]
    else:
        lines += _sensitivity(found, width)
        lines.append(_both_denominators(found, width))
        if found.arms[0].cost_total is not None or found.arms[1].cost_total is not None:
            lines.append(_costs(found))
    lines += _notes(found, width, 2 if height < 30 else 8, more)
    return [(pieces, []) for pieces in lines]


def _table(found: Comparison, roomy: bool) -> list[Pieces]:
    table = found.table
    one, two = (13, 9) if roomy else (11, 7)
    rows: list[Pieces] = [[(" " * 12 + f"{'B resolved':>{one}}{'B not':>{two}}", "deck--dim")]]
    for name, left, right, styles in (
        ("A resolved", table.both, table.a_only, ("", "deck--strong")),
        ("A not", table.b_only, table.neither, ("deck--strong", "")),
    ):
        rows.append([(f" {name:<11}", "deck--dim"), (f"{left:>{one},}", styles[0]), (f"{right:>{two},}", styles[1])])
    return rows


def _table_in_words(found: Comparison) -> Pieces:
    table = found.table
    pieces: Pieces = []
    for word, count, style in (
        ("both", table.both, ""),
        ("A only", table.a_only, "deck--strong"),
        ("B only", table.b_only, "deck--strong"),
        ("neither", table.neither, ""),
    ):
        pieces += [("   " if pieces else "", ""), (f"{word} ", "deck--dim"), (f"{count:,}", style)]
    return pieces


def _rate(side: str, arm: ArmSummary, roomy: bool) -> Pieces:
    of = arm.assigned if arm.rate_of == "assigned" else arm.finished
    share = f"{arm.resolved:,}/{of:,}"
    pieces: Pieces = [
        (f"{side}  ", "deck--accent"),
        (f"{share:<9}", ""),
        (f"{say.percent(arm.rate):>7}", "deck--strong"),
        (f"   {say.percent_range(arm.interval):<11}", ""),
    ]
    if not roomy:
        return pieces
    what = "as assigned" if arm.rate_of == "assigned" else "of finished"
    each = " a resolved task" if _priced(arm) else ""
    return [*pieces, (f"  {what}   ", "deck--dim"), (_cost(arm), ""), (each, "deck--dim")]


def _priced(arm: ArmSummary) -> bool:
    return arm.cost_per_resolved is not None


def _cost(arm: ArmSummary) -> str:
    """Of a resolved task; `≥` where some costs are unknown, and never a zero for what nobody knows."""
    mark = "≥ " if arm.cost_per_resolved_is_lower_bound else ""
    if arm.cost_total is None:
        return "cost unknown"
    if arm.cost_per_resolved is None:
        return f"{mark}{say.money(arm.cost_total)} spent, nothing resolved"
    return f"{mark}{say.money(arm.cost_per_resolved)}"


def _difference(found: Comparison) -> Pieces:
    if found.difference.estimate is None:
        return [("A − B  ", "deck--accent"), (f"{say.DASH}  no pair yet", "deck--dim")]
    text = difference_line(found).removeprefix("A − B").strip()
    return [("A − B  ", "deck--accent"), (text, "deck--strong")]


def _short_tests(found: Comparison, *, detects: bool) -> str:
    power = ""
    if detects and found.power.detectable is not None:
        power = f" · detects {100 * found.power.detectable:.1f} points"
    test = found.mcnemar
    exact, mid = say.p_value(test.exact), say.p_value(test.mid_p)
    return f"exact McNemar p {exact} · mid-p {mid} · {test.discordant:,} discordant{power}"


def _both_denominators(found: Comparison, width: int) -> Pieces:
    """Of completed; of assigned beside it where there is room, since that is what the rates above say too."""
    pieces: Pieces = [(" of completed ", "deck--dim")]
    for side, arm in sides(found):
        share = f"{arm.resolved:,}/{arm.completed:,} {say.percent(arm.rate_completed)}  "
        pieces += [(f"{side} ", "deck--accent"), (share, "")]
    both: Pieces = [*pieces, ("of assigned", "deck--dim")]
    for side, arm in sides(found):
        of_assigned = arm.resolved / arm.assigned if arm.assigned else None
        both += [(f" {side} ", "deck--accent"), (say.percent(of_assigned), "")]
    return both if width_of(both) <= width else pieces


def _costs(found: Comparison) -> Pieces:
    pieces: Pieces = [(" a resolved task costs ", "deck--dim")]
    for side, arm in sides(found):
        pieces += [(f" {side} ", "deck--accent"), (f"{_cost(arm)} ", "")]
    return pieces


def _denominators(found: Comparison) -> list[Pieces]:
    head = f"{'assigned':>10}{'completed':>11}{'scored':>8}{'excluded':>10}{'resolved':>10}"
    head += f"{'of assigned':>13}{'of completed':>14}{'bounds':>14}{'spent':>12}"
    lines: list[Pieces] = [[("    ", ""), (head, "deck--dim")]]
    for side, arm in sides(found):
        share = arm.resolved / arm.assigned if arm.assigned else None
        mark = "≥ " if arm.cost_per_resolved_is_lower_bound else ""
        spent = say.DASH if arm.cost_total is None else f"{mark}{say.money(arm.cost_total)}"
        row = f"{arm.assigned:>10,}{arm.completed:>11,}{arm.scored:>8,}{arm.excluded:>10,}{arm.resolved:>10,}"
        row += f"{say.percent(share):>13}{say.percent(arm.rate_completed):>14}{say.percent_range(arm.bounds):>14}"
        lines.append([(f" {side}  ", "deck--accent"), (f"{row}{spent:>12}", "")])
    return lines


_SHORT = {
    INFRASTRUCTURE_EXCLUDED: "infrastructure left out",
    AMBIGUOUS_PASSED: "ambiguous all passed",
    AMBIGUOUS_FAILED: "ambiguous all failed",
}


def _sensitivity(found: Comparison, width: int) -> list[Pieces]:
    """One line where it fits, as the labels stand now."""
    views = [view for view in found.sensitivity if view.name in _SHORT]
    if not any(view.left_out or view.changed for view in views):
        return [[(f" sensitivity: {say.LABELLED}", "deck--faint")]] if width >= ROOMY else []
    groups: list[Pieces] = []
    for view in views:
        many = f" ({say.many(view.left_out, 'pair')})" if view.name == INFRASTRUCTURE_EXCLUDED else ""
        pieces: Pieces = [(f"{_SHORT[view.name]}{many}", "deck--dim")]
        if width >= ROOMY and view.name == INFRASTRUCTURE_EXCLUDED:
            pieces.append((f"   A {say.percent(view.rate_a)}  B {say.percent(view.rate_b)}", ""))
        groups.append([*pieces, (f"  {say.points(view.difference)}", "deck--strong")])
    lines: list[Pieces] = [[]]
    for group in groups:
        room = width - width_of(lines[-1])
        if lines[-1] and width_of(group) + 4 > room:
            lines.append([])
        lines[-1] = [
            *lines[-1],
            ("      " if lines[-1] and width >= ROOMY else "   " if lines[-1] else " ", ""),
            *group,
        ]
    return lines


def _notes(found: Comparison, width: int, most: int, key: str) -> list[Pieces]:
    """What is left out is said; every note stands in the full text."""
    notes = [clean_line(note) for note in warnings(found)]
    shown = notes if len(notes) <= most else notes[:most]
    lines: list[Pieces] = []
    for number, note in enumerate(shown):
        more = len(notes) - len(shown)
        tail = f"  + {more} more: {key}" if more and number == len(shown) - 1 else ""
        text = cut(note, max(8, width - 4 - len(tail)))
        lines.append([(" ! ", "deck--warn"), (text, "deck--dim"), (tail, "deck--faint")])
    return lines


def arm_words(letter: str, name: str, agent: str, model: str) -> Pieces:
    """`A sonnet-5.5 terminus2`: agent and model only where the name doesn't hold them."""
    words = " ".join(clean_line(word, 40) for word in (agent, model) if word and word not in name)
    pieces: Pieces = [(f"{letter} ", "deck--accent"), (clean_line(name, 60), "deck--strong")]
    return [*pieces, (f" {words}", "deck--dim")] if words else pieces
