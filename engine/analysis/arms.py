"""Arms from one run or several, side by side: how they are called, and their trials as outcomes to compare. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from engine.analysis.from_state import outcomes_of
from engine.analysis.labels import INFRASTRUCTURE, Labels
from engine.analysis.outcomes import TrialOutcome
from engine.events import ArmInfo
from engine.state import RunState
from engine.trial_state import TrialState

_NEVER = datetime.max.replace(tzinfo=UTC)


class ArmRef(msgspec.Struct, frozen=True):
    """One arm of one run. `run` is the run's label, unique among those that are looked at."""

    run: str
    arm: str


class Arm(msgspec.Struct, frozen=True):
    """One side of a comparison: one arm, or the same arm of several runs that count as its attempts."""

    name: str
    refs: tuple[ArmRef, ...]


class ArmTrials(msgspec.Struct, frozen=True, kw_only=True):
    """An arm's outcomes, each with the arm's name and an attempt that is unique for its task.

    `origin` leads back from (task, attempt) to the run's label and the trial's id; `labels` are keyed as
    `sensitivity` takes them.
    """

    arm: Arm
    outcomes: tuple[TrialOutcome, ...]
    origin: Mapping[tuple[str, int], tuple[str, str]]
    labels: Labels

    @property
    def name(self) -> str:
        return self.arm.name


def arm_refs(runs: Mapping[str, RunState]) -> list[ArmRef]:
    """Every arm of every run, in their orders."""
    return [ArmRef(label, arm) for label, state in runs.items() for arm in state.arms]


def names(refs: Iterable[ArmRef]) -> dict[ArmRef, str]:
    """Names that are unique: the arm's own where only one run has it, else with the run behind it."""
    refs = list(refs)
    several = Counter(ref.arm for ref in refs)
    found = {ref: ref.arm if several[ref.arm] == 1 else f"{ref.arm} ({ref.run})" for ref in refs}
    taken = Counter(found.values())
    return {ref: name if taken[name] == 1 else f"{ref.arm} ({ref.run})" for ref, name in found.items()}


def one_each(refs: Iterable[ArmRef], among: Iterable[ArmRef] | None = None) -> list[Arm]:
    """Each of `refs` as an arm of its own, named apart from all of `among` (`refs` alone)."""
    refs = list(refs)
    named = names(refs if among is None else among)
    return [Arm(named[ref], (ref,)) for ref in refs]


def joined(refs: Iterable[ArmRef], runs: Mapping[str, RunState]) -> list[Arm]:
    """Arms of the same configuration (all that `ArmInfo` says of them but where the model is reached) over the same
    task set, from whatever runs, as one arm each: several runs of one submission are its attempts."""
    groups: dict[object, list[ArmRef]] = {}
    for ref in refs:
        groups.setdefault(_configuration(runs[ref.run], ref.arm), []).append(ref)
    heads = names([group[0] for group in groups.values()])
    return [Arm(heads[group[0]], tuple(group)) for group in groups.values()]


def _configuration(state: RunState, arm: str) -> object:
    info = state.arms[arm].info if arm in state.arms else ArmInfo(name=arm, agent="")
    plan = state.plan
    task_set = (plan.task_set.name, plan.task_set.version, plan.task_set.digest) if plan else ()
    parameters = tuple(sorted(info.parameters.items()))
    shipped = info.provider, info.effort, info.tools, info.mcp, info.skills, info.prompt_digest
    model = info.protocol, info.temperature, info.context_tokens, info.max_output_tokens
    carried = tuple(sorted(info.capsules.items()))
    return arm, info.agent, info.agent_version, info.model, parameters, shipped, model, carried, task_set


def trials_of(arm: Arm, runs: Mapping[str, RunState], labels: Mapping[str, Labels] | None = None) -> ArmTrials:
    """The outcomes of an arm. `labels` are those of each run, by its label.

    A trial that a label calls infrastructure is excluded: it stays assigned, and the views of `sensitivity` leave its
    pair out. Where several runs are one arm, attempts are numbered anew by their start, trials that never started last.
    """
    labels = labels or {}
    records: list[tuple[ArmRef, TrialOutcome, TrialState]] = []
    for ref in arm.refs:
        state = runs[ref.run]
        by_attempt = {
            (trial.task, trial.attempt): trial for trial in list(state.trials.values()) if trial.arm == ref.arm
        }
        for outcome in outcomes_of(state, ref.arm):
            records.append((ref, outcome, by_attempt[outcome.task, outcome.attempt]))
    number = _by_start(records) if len(arm.refs) > 1 else None
    outcomes: list[TrialOutcome] = []
    origin: dict[tuple[str, int], tuple[str, str]] = {}
    causes: dict[tuple[str, str, int], str] = {}
    for ref, outcome, trial in records:
        attempt = outcome.attempt if number is None else number[ref, trial.trial]
        cause = labels.get(ref.run, {}).get((outcome.task, ref.arm, outcome.attempt), "")
        excluded = outcome.excluded or cause == INFRASTRUCTURE
        outcomes.append(
            msgspec.structs.replace(outcome, arm=arm.name, attempt=attempt, excluded=excluded and not outcome.discarded)
        )
        origin[outcome.task, attempt] = (ref.run, trial.trial)
        if cause:
            causes[outcome.task, arm.name, attempt] = cause
    return ArmTrials(arm=arm, outcomes=tuple(outcomes), origin=origin, labels=causes)


def _by_start(records: Iterable[tuple[ArmRef, TrialOutcome, TrialState]]) -> dict[tuple[ArmRef, str], int]:
    """Attempts have no number between runs: the earlier start is first, runs in their order where it is not known."""
    found: dict[tuple[ArmRef, str], int] = {}
    count: Counter[str] = Counter()
    order = sorted(records, key=lambda record: record[2].started_at or _NEVER)
    for ref, _, trial in order:
        if (ref, trial.trial) not in found:
            count[trial.task] += 1
            found[ref, trial.trial] = count[trial.task]
    return found


class NoSuchArm(ValueError):
    """A name that is no arm's, or that of several."""


def select(refs: Sequence[ArmRef], wanted: Sequence[str], *, join: bool = False) -> list[ArmRef]:
    """The arms called so: by name, by `RUN:NAME`, or as `names` calls them; all of them where nothing is wanted.

    A name that several runs have means all of them where runs are joined. Raises NoSuchArm.
    """
    named = names(refs)
    found: list[ArmRef] = []
    for text in wanted:
        hits = [ref for ref in refs if text in (named[ref], f"{ref.run}:{ref.arm}")]
        hits = hits or [ref for ref in refs if ref.arm == text]
        if not hits:
            raise NoSuchArm(f"no arm {text!r}; there are {', '.join(named.values()) or 'none'}")
        if len(hits) > 1 and not join:
            ways = " or ".join(f"{ref.run}:{ref.arm}" for ref in hits[:4])
            raise NoSuchArm(f"several runs have an arm {text!r}: name {ways}, or --join them")
        found += [ref for ref in hits if ref not in found]
    return found or list(refs)


def pick(
    runs: Mapping[str, RunState], wanted: Sequence[str] = (), baseline: str = "", *, join: bool = False
) -> list[Arm]:
    """The arms to compare, `baseline` in front. Raises NoSuchArm."""
    refs = arm_refs(runs)
    chosen = select(refs, [*([baseline] if baseline and wanted else []), *wanted], join=join)
    if baseline:
        first = select(chosen, [baseline], join=join)
        chosen = [*first, *(ref for ref in chosen if ref not in first)]
    return joined(chosen, runs) if join else one_each(chosen, refs)
