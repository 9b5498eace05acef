"""Two arms compared, everything that `trialdeck compare --json` prints. Fractions and dollars; screens
show points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from engine.analysis.bootstrap import DRAWS, SEED
from engine.analysis.cascade import Cascade, cascade
from engine.analysis.cost import cost, cost_interval
from engine.analysis.hierarchical import FamilyDifference, family_difference
from engine.analysis.labels import Labels
from engine.analysis.mcnemar import McNemar, mcnemar
from engine.analysis.outcomes import TrialOutcome, assigned, only_first_attempts
from engine.analysis.pairs import (
    Attempts,
    Difference,
    Pair,
    Table,
    difference,
    firsts,
    form_pairs,
    reward_difference,
    tabulate,
)
from engine.analysis.pass_at_k import PassAtK, pass_at_k
from engine.analysis.power import Power, detectable, detectable_from_discordance
from engine.analysis.rates import LIVE_DRAWS, arm_rate, count, live_rate
from engine.analysis.sensitivity import SensitivityView, sensitivity
from engine.analysis.wording import listed, many

_MOST_K = 10
_SEEN = 0.0005
"""A share that changes what is printed: half a tenth of a point."""


class ArmSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One arm over the tasks that both arms have. `rate` is `resolved` of `rate_of`: "assigned", or
    "finished" while trials are missing. `bounds`: the rate with all missing verdicts lost, and won. Costs
    are dollars, see `Cost`. `pass_at_k` is there for k from 2 to the attempts of a task, at most 10.
    """

    name: str
    assigned: int
    finished: int
    completed: int
    scored: int
    excluded: int
    resolved: int
    rate: float | None
    rate_of: str
    interval: tuple[float, float] | None
    interval_method: str
    rate_completed: float | None
    bounds: tuple[float, float] | None
    attempts_per_task: int
    cost_total: float | None
    cost_discarded: float
    cost_infrastructure: float
    cost_known: int
    cost_unknown: int
    cost_per_resolved: float | None
    cost_per_resolved_interval: tuple[float, float | None] | None
    cost_per_resolved_is_lower_bound: bool
    pass_at_k: tuple[PassAtK, ...] = ()


class DiscordantTask(msgspec.Struct, frozen=True, kw_only=True):
    """A task that one arm's first attempt resolved and the other's did not; `only` says which, "a" or "b"."""

    task: str
    only: str
    attempt_a: int
    attempt_b: int
    reward_a: float | None
    reward_b: float | None
    passed_a: bool | None
    passed_b: bool | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """`table`, `mcnemar` and `discordant` are of first attempts, `difference` of all of them unless
    `attempts` is "first".

    `tasks` counts pairs. `no_verdict` are tasks in the table where a first attempt has no verdict (it
    counts as not passed). `unfinished` counts trials that still run or wait; their pairs are left out until
    both sides are there. `notes` say in words what a reader must know before believing a number. `question` is
    "controlled model" or "product", "" where nobody said. `card_unknowns`: what a run doesn't say is not equal.
    `family_difference` is there where families of tasks were given and several tasks are of one.
    """

    version: int = 1
    attempts: Attempts
    tasks: int
    arms: tuple[ArmSummary, ArmSummary]
    table: Table
    mcnemar: McNemar
    difference: Difference
    reward_difference: Difference | None
    power: Power
    discordant: tuple[DiscordantTask, ...]
    sensitivity: tuple[SensitivityView, ...]
    no_verdict: tuple[str, ...]
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]
    unfinished: int
    card_differences: tuple[str, ...]
    notes: tuple[str, ...]
    card_unknowns: tuple[str, ...] = ()
    question: str = ""
    cascade: Cascade | None = None
    family_difference: FamilyDifference | None = None

    @property
    def a_only(self) -> tuple[DiscordantTask, ...]:
        return tuple(task for task in self.discordant if task.only == "a")

    @property
    def b_only(self) -> tuple[DiscordantTask, ...]:
        return tuple(task for task in self.discordant if task.only == "b")


def compare(
    outcomes_a: Iterable[TrialOutcome],
    outcomes_b: Iterable[TrialOutcome],
    *,
    attempts: Attempts = "all",
    draws: int = DRAWS,
    seed: int = SEED,
    labels: Labels | None = None,
    card_differences: Sequence[str] = (),
    names: tuple[str, str] | None = None,
    card_unknowns: Sequence[str] = (),
    question: str = "",
    families: Mapping[str, str] | None = None,
    separator: str = "",
) -> Comparison:
    """A against B, paired by task. Tasks on one side only are listed and take no part; whether that may be
    is the caller's to ask.

    Raises ValueError for outcomes that no arm can have: two arms on one side, the same attempt twice, a
    negative cost.
    """
    a, b = list(outcomes_a), list(outcomes_b)
    name_a, name_b = names or (_arm_name(a, "A"), _arm_name(b, "B"))
    if attempts == "first":
        a, b = only_first_attempts(a), only_first_attempts(b)
    tasks_a, tasks_b = ({trial.task for trial in assigned(side)} for side in (a, b))
    a = [trial for trial in a if trial.task in tasks_b]
    b = [trial for trial in b if trial.task in tasks_a]

    pairs = form_pairs(a, b)
    first = firsts(pairs)
    table = tabulate(first)
    delta = difference(pairs, draws=draws, seed=seed)
    arms = _summary(name_a, a, draws, seed), _summary(name_b, b, draws, seed)
    comparison = Comparison(
        attempts=attempts,
        tasks=len(pairs),
        arms=arms,
        table=table,
        mcnemar=mcnemar(table.a_only, table.b_only),
        difference=delta,
        reward_difference=reward_difference(pairs, draws=draws, seed=seed),
        power=_power(pairs, table, delta),
        discordant=tuple(
            DiscordantTask(
                task=left.task,
                only="a" if left.resolved else "b",
                attempt_a=left.attempt,
                attempt_b=right.attempt,
                reward_a=left.reward,
                reward_b=right.reward,
                passed_a=left.passed,
                passed_b=right.passed,
            )
            for left, right in first
            if left.resolved != right.resolved
        ),
        sensitivity=sensitivity(a, b, labels, draws=draws, seed=seed),
        no_verdict=tuple(left.task for left, right in first if left.passed is None or right.passed is None),
        only_in_a=tuple(sorted(tasks_a - tasks_b)),
        only_in_b=tuple(sorted(tasks_b - tasks_a)),
        unfinished=sum(arm.assigned - arm.finished for arm in arms),
        card_differences=tuple(card_differences),
        notes=(),
        card_unknowns=tuple(card_unknowns),
        question=question,
        cascade=cascade(first),
        family_difference=(
            family_difference((name_a, name_b), pairs, families or {}, separator, draws=draws, seed=seed)
            if pairs and (families is not None or separator)
            else None
        ),
    )
    return msgspec.structs.replace(comparison, notes=_notes(comparison, pairs))


def _arm_name(outcomes: Iterable[TrialOutcome], otherwise: str) -> str:
    names = sorted({outcome.arm for outcome in outcomes})
    if len(names) > 1:
        raise ValueError(f"one side of a comparison is one arm, this one has {', '.join(names)}")
    return names[0] if names else otherwise


def _summary(name: str, outcomes: list[TrialOutcome], draws: int, seed: int) -> ArmSummary:
    counts, money = count(outcomes), cost(outcomes)
    finished = counts.finished == counts.assigned
    rate = (arm_rate if finished else live_rate)(outcomes, draws=draws, seed=seed)
    by_task: dict[str, int] = {}
    for trial in assigned(outcomes):
        by_task[trial.task] = by_task.get(trial.task, 0) + 1
    most = max(by_task.values(), default=0)
    return ArmSummary(
        name=name,
        assigned=counts.assigned,
        finished=counts.finished,
        completed=counts.completed,
        scored=counts.scored,
        excluded=counts.excluded,
        resolved=counts.passed,
        rate=rate.rate,
        rate_of="assigned" if finished else "finished",
        interval=rate.interval,
        interval_method=rate.method,
        rate_completed=counts.rate_completed,
        bounds=counts.bounds,
        attempts_per_task=most,
        cost_total=money.total,
        cost_discarded=money.discarded,
        cost_infrastructure=money.infrastructure,
        cost_known=money.known,
        cost_unknown=money.unknown,
        cost_per_resolved=money.per_resolved,
        cost_per_resolved_interval=cost_interval(outcomes, draws=draws, seed=seed),
        cost_per_resolved_is_lower_bound=money.is_lower_bound,
        pass_at_k=tuple(
            pass_at_k(outcomes, k, draws=min(draws, LIVE_DRAWS), seed=seed) for k in range(2, min(most, _MOST_K) + 1)
        ),
    )


def _power(pairs: Sequence[Pair], table: Table, delta: Difference) -> Power:
    if any(len(pair.a) > 1 or len(pair.b) > 1 for pair in pairs):
        spread = delta.standard_error
        return Power(detectable=detectable(spread) if spread else None, basis="clustered standard error")
    return Power(
        detectable=detectable_from_discordance(table.tasks, table.a_only + table.b_only),
        basis=f"{table.a_only + table.b_only} of {table.tasks} tasks discordant",
    )


def _rates_apart(view: SensitivityView) -> bool:
    """Whether the rates of a reading, as they are printed, don't add up to its difference."""
    if view.rate_a is None or view.rate_b is None or view.difference is None:
        return False
    return abs(view.rate_a - view.rate_b - view.difference) >= _SEEN


def _notes(found: Comparison, pairs: Sequence[Pair]) -> tuple[str, ...]:
    notes = []
    if found.unfinished:
        notes.append(
            f"{many(found.unfinished, 'trial')} not finished: rates are of finished trials, the rest of finished pairs"
        )
    if not found.tasks:
        notes.append("no task has a finished trial in both arms: nothing to compare yet")
    elif found.difference.too_few:
        notes.append(f"too few to say: {many(found.tasks, 'task')}, a result of so few settles nothing")
    elif found.difference.degenerate:
        notes.append("every task differs by the same amount: the interval has no width and says nothing")
    if found.no_verdict:
        notes.append(
            f"{many(len(found.no_verdict), 'task')} without a verdict in a first attempt, "
            f"counted as not passed: {listed(found.no_verdict)}"
        )
    for side, tasks in (
        ("A", [pair.task for pair in pairs if any(trial.refused for trial in pair.a)]),
        ("B", [pair.task for pair in pairs if any(trial.refused for trial in pair.b)]),
    ):
        if tasks:
            notes.append(f"{side}: {many(len(tasks), 'task')} refused in the plan, never run: {listed(tasks)}")
    for side, missing in (("A", found.only_in_a), ("B", found.only_in_b)):
        if missing:
            notes.append(f"{many(len(missing), 'task')} only in {side}, left out: {listed(missing)}")
    sides = {(len(pair.a), len(pair.b)) for pair in pairs}
    if len(sides) > 1 or any(a != b for a, b in sides):
        notes.append("tasks have unequally many attempts: each task counts once in the difference")
    elif any(_rates_apart(view) for view in found.sensitivity) and not _rates_apart(found.sensitivity[0]):
        notes.append("attempts left out leave tasks unequally many: A and B count trials, A − B counts tasks")
    for side, arm in zip("AB", found.arms, strict=True):
        if arm.cost_unknown and arm.cost_known:
            records = arm.cost_known + arm.cost_unknown
            what = "trials" if records <= arm.assigned else "runs of trials"  # those that were cut off cost, too
            notes.append(f"{side}: cost of {arm.cost_unknown} of {records} {what} unknown, its sums are lower bounds")
    if found.reward_difference is not None:
        notes.append("some rewards are graded: their difference stands beside that of verdicts")
    return tuple(notes)
