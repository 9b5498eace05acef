"""What decisions add up to: causes per arm, whether arms differ in them, how far people agree. Lines of pieces."""

from __future__ import annotations

from collections.abc import Mapping

from engine.analysis import wording
from engine.text import clean_line
from engine.triage.agreement import agreements
from engine.triage.asymmetry import ArmCauses, asymmetries, causes_by_arm, proposals_by_arm
from engine.triage.blind import cases
from engine.triage.causes import Cause
from screens import format as fmt
from screens.pieces import Pieces, fit, folded
from screens.triage_blindfold import Cover
from screens.triage_desk import TriageDesk

_LABEL = 18
_IN_WORDS = 27
"""Columns of an arm in which "proposed" has room."""
_MOST_ROWS = 4
_MOST_PAIRS = 12


def counted_labels(desk: TriageDesk) -> dict[tuple[str, str, int], str]:
    """Causes of the trials that this person has decided, or that are settled: what others said of the rest is hidden
    here as everywhere. A disagreement counts as ambiguous, as it does in the comparison."""
    found: dict[tuple[str, str, int], str] = {}
    for trial in desk.book.trials:
        known, cause = desk.source.state.trials.get(trial), desk.cause(trial)
        if known is not None and cause is not None:
            disagreed = desk.book.disagreed(trial)
            found[known.task, known.arm, known.attempt] = str(Cause.AMBIGUOUS if disagreed else cause)
    return found


def hidden_by_others(desk: TriageDesk) -> int:
    """Trials that others have decided and this person hasn't."""
    return sum(bool(desk.book.standing(trial)) and not desk.decided(trial) for trial in desk.book.trials)


def arm_titles(desk: TriageDesk, cover: Cover) -> dict[str, str]:
    """Letters and names; numbers in another order where arms are hidden."""
    arms = list(desk.source.state.arms)
    if not cover.on:
        return {arm: f"{fmt.arm_letter(number)} {arm}" if len(arms) > 1 else arm for number, arm in enumerate(arms)}
    numbers = cases(desk.source.state)
    first: dict[str, int] = {}
    for trial in desk.source.state.trials.values():
        first[trial.arm] = min(first.get(trial.arm, len(numbers) + 1), numbers[trial.trial])
    mixed = sorted(arms, key=lambda arm: first.get(arm, 0))
    return {arm: f"arm {number}" for number, arm in enumerate(mixed, 1)}


def summary(desk: TriageDesk, cover: Cover, width: int) -> list[Pieces]:
    """Everything, in groups that are parted by empty lines."""
    state = desk.source.state
    labels = counted_labels(desk)
    arms = causes_by_arm(state, labels)
    titles = arm_titles(desk, cover)
    arms.sort(key=lambda arm: list(titles).index(arm.arm) if not cover.on else int(titles[arm.arm].split()[-1]))
    proposed = proposals_by_arm(state, {trial: proposal.cause for trial, proposal in desk.proposals.items()})
    said = [_asymmetry(desk, arms, titles), _people(desk), _notes(desk)]
    groups = [
        _table(arms, titles, proposed, width),
        *([part for line in group for part in folded(line, width, _MOST_ROWS)] for group in said),
    ]
    lines: list[Pieces] = []
    for group in groups:
        if group and lines:
            lines.append([])
        lines += group
    return lines


def _table(
    arms: list[ArmCauses], titles: Mapping[str, str], proposed: Mapping[str, Mapping[Cause, int]], width: int
) -> list[Pieces]:
    room = max(16, min(36, (width - _LABEL - 2) // max(1, len(arms))))
    lines: list[Pieces] = [_row("", [[(clean_line(titles[arm.arm], room - 2), "deck--strong")] for arm in arms], room)]
    for word, numbers in (
        ("assigned", [arm.assigned for arm in arms]),
        ("failed, unscored", [arm.failures for arm in arms]),
        (" of them undecided", [arm.undecided for arm in arms]),
        ("passes labelled", passes := [arm.passes for arm in arms]),
    ):
        if numbers is passes and not any(passes):
            continue
        lines.append(_row(word, [[(f"{number:>4}", "" if number else "deck--faint")] for number in numbers], room))
    for cause in Cause:
        row: list[Pieces] = []
        for arm in arms:
            count, offered = arm.causes.get(cause, 0), proposed.get(arm.arm, {}).get(cause, 0)
            cell: Pieces = [(f"{count:>4}", "deck--strong" if count else "deck--faint")]
            share = arm.of_assigned(cause)
            if count and share is not None:
                cell.append((f"  {fmt.percent(100 * share, 1):>7}", ""))
            if offered:
                words = f"{offered} proposed" if room >= _IN_WORDS else f"{offered}?"
                cell.append((f"  {'' if count else '         '}{words}", "deck--dim"))
            row.append(cell)
        if any(arm.causes.get(cause) or proposed.get(arm.arm, {}).get(cause) for arm in arms):
            lines.append(_row(str(cause), row, room))
    legend = "  shares are of assigned trials" if room >= _IN_WORDS else "  shares of assigned; 3?: proposed"
    lines.append([(" " * _LABEL, ""), (legend, "deck--faint")])
    return lines


def _row(word: str, columns: list[Pieces], room: int) -> Pieces:
    pieces: Pieces = [*fit([(word, "deck--dim")], _LABEL), ("  ", "")]
    for column in columns:
        pieces += fit(column, room)
    return pieces


def _asymmetry(desk: TriageDesk, arms: list[ArmCauses], titles: Mapping[str, str]) -> list[Pieces]:
    if len(arms) < 2:
        return []
    found = asymmetries(arms)
    lines: list[Pieces] = []
    for each in found:
        if each.flagged:
            of = {arm.arm: arm.assigned for arm in arms}
            lines.append(
                [
                    ("▲ asymmetry: ", "deck--bad"),
                    (str(each.cause), "deck--strong"),
                    (f"  {titles[each.a]} {each.count_a} of {of[each.a]}, {titles[each.b]} {each.count_b} of ", ""),
                    (f"{of[each.b]}   p {wording.p_value(each.adjusted)}", ""),
                    (f" (Fisher, Holm over {each.looked_at})", "deck--dim"),
                ]
            )
    if not found:
        lines.append([("no asymmetry to speak of: nothing is decided yet", "deck--dim")])
    elif not lines:
        p = wording.p_value(found[0].adjusted)
        lines.append(
            [("✓ no cause differs between arms by more than chance", "deck--good"), (f"  least p {p}", "deck--dim")]
        )
    plan = desk.source.state.plan
    if plan is not None and plan.attempts > 1:
        lines.append([("  attempts of one task are taken as independent: p is somewhat too small", "deck--faint")])
    return lines


def _people(desk: TriageDesk) -> list[Pieces]:
    people = desk.book.people
    if len(people) < 2:
        who = f"only {clean_line(people[0], 40)} has labelled" if people else "nobody has labelled yet"
        return [[(f"agreement: {who}", "deck--dim")]]
    lines: list[Pieces] = []
    pairs = agreements(desk.book)
    for each in pairs[:_MOST_PAIRS]:
        names = f"{clean_line(each.a, 24)} and {clean_line(each.b, 24)}"
        lines.append(
            [
                ("agreement: ", "deck--dim"),
                (f"{names}  ", ""),
                (f"kappa {each.kappa:.2f}" if each.kappa is not None else "no kappa", "deck--strong"),
                (f"  the same on {each.agreed} of {each.n}", ""),
                (f"  ({each.why})" if each.why else "", "deck--dim"),
            ]
        )
    if len(pairs) > _MOST_PAIRS:
        more = fmt.count(len(pairs) - _MOST_PAIRS, "pair")
        lines.append([(f"agreement: {more} of people more, in trialdeck triage --summary", "deck--dim")])
    open_ones = len(desk.book.disagreements(desk.who))
    if open_ones:
        words = f"≠ {fmt.count(open_ones, 'disagreement')} not settled, counted as ambiguous: D"
        lines.append([(words, "deck--warn")])
    return lines


def _notes(desk: TriageDesk) -> list[Pieces]:
    lines: list[Pieces] = []
    hidden = hidden_by_others(desk)
    if hidden:
        words = f"{fmt.count(hidden, 'trial')} decided by others, not counted here until you have decided"
        lines.append([(words, "deck--dim")])
    if desk.looking_at:
        lines.append([(f"the rules have yet to look at {fmt.count(desk.looking_at, 'trial')}", "deck--dim")])
    if desk.path is not None:
        lines.append([("labels: ", "deck--dim"), (clean_line(str(desk.path), 300), "deck--dim")])
    return lines
