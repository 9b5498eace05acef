"""pass@k and pass^k of both arms as one table, for pages that have room for every k."""

from __future__ import annotations

from engine.analysis import wording as say
from engine.analysis.compare import Comparison
from engine.analysis.pass_at_k import PassAtK

TITLE = "Several attempts at a task"
HEAD = ("arm", "k", "pass@k", "95 % interval", "pass^k", "95 % interval", "tasks", "what is left out")
MEANING = "pass@k: any of k attempts resolves the task; pass^k: all of them do."


def pass_at_k_rows(found: Comparison) -> list[tuple[str, ...]]:
    """A row for each arm and each k from 2 on, arms beside each other; none where tasks were tried once."""
    a, b = found.arms
    most = max(len(a.pass_at_k), len(b.pass_at_k))
    return [
        _row(f"{side} {arm.name}", arm.pass_at_k[at])
        for at in range(most)
        for side, arm in (("A", a), ("B", b))
        if at < len(arm.pass_at_k)
    ]


def _row(arm: str, at: PassAtK) -> tuple[str, ...]:
    if at.any_of_k is None:
        why = f"no task has {at.k} attempts that came to their end"
        return arm, str(at.k), "n/a", say.DASH, "n/a", say.DASH, "0", why
    notes = []
    if at.uneven:
        notes.append(f"tasks with {at.uneven[0]} to {at.uneven[1]} attempts")
    if at.lacking:
        notes.append(f"{say.many(len(at.lacking), 'task')} with fewer: {say.listed(at.lacking, 3)}")
    if at.left_out:
        notes.append(f"{say.many(at.left_out, 'attempt')} not counted")
    intervals = [say.percent_range(one) if one else say.DASH for one in (at.any_interval, at.all_interval)]
    return (
        arm,
        str(at.k),
        say.percent(at.any_of_k),
        intervals[0],
        say.percent(at.all_of_k),
        intervals[1],
        f"{at.tasks:,}",
        "; ".join(notes) or say.DASH,
    )
