"""The card of a run as facts, for runs of other systems, which have none of ours."""

from __future__ import annotations

from engine.events import ArmInfo, RunPlanned
from engine.text import clean_line
from engine.trajectories.untyped import as_json
from screens import format as fmt
from screens.pieces import Pieces, fit

_LABEL = 14


def card_lines(plan: RunPlanned | None) -> list[Pieces]:
    if plan is None:
        return [[(" nothing is known of this run's plan yet", "deck--dim")]]
    lines = [
        _row("run", plan.name, plan.run if plan.run != plan.name else ""),
        _row("written by", " ".join(word for word in (plan.source, plan.engine_version) if word)),
        _row("task set", " ".join(word for word in (plan.task_set.name, plan.task_set.version) if word)),
        _row("digest", plan.task_set.digest),
        _row("card", plan.card_digest),
        _row(
            "trials", f"{plan.trials:,} of {fmt.count(plan.tasks, 'task')}, {fmt.count(plan.attempts, 'attempt')} each"
        ),
        _row("at once", str(plan.concurrency)),
        _row("timeouts", f"times {plan.timeout_factor:g}" if plan.timeout_factor != 1 else ""),
        _row("at most", fmt.usd(plan.max_cost_usd) if plan.max_cost_usd is not None else ""),
        _row("seed", str(plan.seed) if plan.seed else ""),
    ]
    found = [line for line in lines if line]
    for number, arm in enumerate(plan.arms):
        found += [[], *_arm(fmt.arm_letter(number), arm)]
    return found


def _arm(letter: str, arm: ArmInfo) -> list[Pieces]:
    rows = [
        _row(f"arm {letter}", arm.name),
        _row("agent", " ".join(word for word in (arm.agent, arm.agent_version) if word)),
        _row("model", arm.model),
        *(
            _row(f"  {clean_line(name, 40)}", value if isinstance(value, str) else as_json(value))
            for name, value in arm.parameters.items()
        ),
    ]
    return [row for row in rows if row]


def _row(label: str, said: str, more: str = "") -> Pieces:
    if not said:
        return []
    return [
        (" ", ""),
        *fit([(label, "deck--dim")], _LABEL),
        (f" {clean_line(said, 400)}", ""),
        (f"  {clean_line(more, 200)}" if more else "", "deck--dim"),
    ]
