"""What numbers over many runs need of a trial beside its verdict, and arms whose trials come from several benchmarks.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from engine.analysis.arms import Arm, ArmRef, ArmTrials, arm_refs, joined, names, trials_of
from engine.analysis.labels import Labels
from engine.analysis.outcomes import TrialOutcome, attempts_by_task
from engine.events import ArmInfo, Endpoint
from engine.json_document import json_document
from engine.state import RunState

_SHORT = 12
EFFORT_PARAMETERS = ("effort", "reasoning_effort", "thinking_effort", "reasoning", "thinking_budget", "thinking")


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody who read a trial's session found there. `steps` are answers of the model; `refused`: the model or
    its provider declined; `fell_back`: another model than the session's first answered."""

    steps: int | None = None
    refused: bool = False
    fell_back: bool = False


class TrialFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One record of an arm. None is unknown; seconds. `seen` is None where nobody read the session. `steps`: of the
    session where it was read, else as the run counted them."""

    outcome: TrialOutcome
    benchmark: str
    category: str = ""
    difficulty: str = ""
    steps: int | None = None
    agent_seconds: float | None = None
    started_at: datetime | None = None
    timed_out: bool = False
    timeout_factor: float | None = None
    seen: Seen | None = None


class ArmFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One configuration over all benchmarks that it was run on. `stated` are the attempts per task that the plans of
    each benchmark state. `apart_from_effort` is the same for arms that differ in their effort alone, "" where nothing
    is known of the arm; `effort` "" where it has none."""

    name: str
    facts: tuple[TrialFacts, ...]
    stated: Mapping[str, int]
    effort: str = ""
    apart_from_effort: str = ""

    def of(self, benchmark: str) -> list[TrialFacts]:
        return [fact for fact in self.facts if fact.benchmark == benchmark]

    def outcomes(self, benchmark: str) -> list[TrialOutcome]:
        return [fact.outcome for fact in self.facts if fact.benchmark == benchmark]

    def by_task(self, benchmark: str) -> dict[str, list[TrialFacts]]:
        """Assigned trials, tasks sorted, attempts in order. Raises ValueError as `attempts_by_task` does."""
        facts = [fact for fact in self.of(benchmark) if not fact.outcome.discarded]
        found = {(fact.outcome.task, fact.outcome.attempt): fact for fact in facts}
        return {
            task: [found[task, trial.attempt] for trial in trials]
            for task, trials in attempts_by_task(fact.outcome for fact in facts).items()
        }


def benchmarks_of(arms: Iterable[ArmFacts]) -> list[str]:
    """In the order in which arms name them."""
    return list(dict.fromkeys(name for arm in arms for name in arm.stated))


def arms_of_runs(
    runs: Mapping[str, RunState],
    labels: Mapping[str, Labels] | None = None,
    seen: Mapping[tuple[str, str], Seen] | None = None,
    chosen: Sequence[ArmRef] | None = None,
) -> list[ArmFacts]:
    """Arms of one configuration are one arm: runs over the same task set are its attempts, other task sets its other
    benchmarks. `seen` is by the run's label and the trial's id."""
    refs = arm_refs(runs) if chosen is None else list(chosen)
    groups: dict[object, list[Arm]] = {}
    for arm in joined(refs, runs):
        groups.setdefault(_configuration(runs, arm.refs[0]), []).append(arm)
    named = names([group[0].refs[0] for group in groups.values()])
    benchmarks = benchmark_names(runs)
    found = []
    for group in groups.values():
        head = group[0].refs[0]
        name = named[head]
        info = _info(runs, head)
        facts: list[TrialFacts] = []
        stated: dict[str, int] = {}
        for arm in group:
            benchmark = benchmarks[arm.refs[0].run]
            plans = [plan for ref in arm.refs if (plan := runs[ref.run].plan) is not None]
            stated[benchmark] = stated.get(benchmark, 0) + sum(plan.attempts for plan in plans)
            trials = trials_of(msgspec.structs.replace(arm, name=name), runs, labels)
            facts += _facts(trials, runs, seen or {}, benchmark)
        effort, rest = effort_of(info)
        found.append(ArmFacts(name=name, facts=tuple(facts), stated=stated, effort=effort, apart_from_effort=rest))
    return found


def arm_of_table(trials: ArmTrials, benchmark: str) -> ArmFacts:
    """A table says how often a task was tried; nothing of time, steps or arms."""
    most = max((len(attempts) for attempts in attempts_by_task(trials.outcomes).values()), default=0)
    facts = tuple(TrialFacts(outcome=outcome, benchmark=benchmark) for outcome in trials.outcomes)
    return ArmFacts(name=trials.name, facts=facts, stated={benchmark: most})


def merged(arms: Iterable[ArmFacts]) -> list[ArmFacts]:
    """Arms of tables that have one name and different benchmarks are one arm."""
    found: dict[str, ArmFacts] = {}
    for arm in arms:
        old = found.get(arm.name)
        if old is None:
            found[arm.name] = arm
            continue
        if old.stated.keys() & arm.stated.keys():
            raise ValueError(f"arm {arm.name!r} has the same benchmark twice: {', '.join(arm.stated)}")
        facts = (*old.facts, *arm.facts)
        found[arm.name] = msgspec.structs.replace(old, facts=facts, stated={**old.stated, **arm.stated})
    return list(found.values())


def benchmark_names(runs: Mapping[str, RunState]) -> dict[str, str]:
    """By the run's label. Task sets of one name and version whose chosen tasks differ are told apart by their digest:
    they are different benchmarks."""
    plain = {label: benchmark_of(state, label) for label, state in runs.items()}
    digests: dict[str, set[str]] = {}
    for label, name in plain.items():
        digests.setdefault(name, set()).add(_digest(runs[label]))
    return {
        label: f"{name} ({_digest(runs[label])[:_SHORT] or 'no digest'})" if len(digests[name]) > 1 else name
        for label, name in plain.items()
    }


def source_lines(runs: Mapping[str, RunState]) -> list[str]:
    """Of each run: its name, its id, its task set with version and digest, its card; what it doesn't say is said so."""
    lines = []
    for label, state in runs.items():
        plan = state.plan
        if plan is None:
            lines.append(f"{label}: nothing is known of it")
            continue
        version = f" {plan.task_set.version[:_SHORT]}" if plan.task_set.version else ", version unknown"
        digest = _digest(state)[:_SHORT]
        card = plan.card_digest.removeprefix("sha256:")[:_SHORT]
        parts = [
            f"{label}: {plan.name or plan.run}",
            f"{plan.source or 'unknown source'} run {plan.run}",
            f"{plan.task_set.name or 'task set unknown'}{version}{f' (digest {digest})' if digest else ''}",
            f"card {card}" if card else "no run card",
        ]
        lines.append(" · ".join(parts))
    return lines


def _digest(state: RunState) -> str:
    return state.plan.task_set.digest.removeprefix("sha256:") if state.plan is not None else ""


def benchmark_of(state: RunState, label: str) -> str:
    """The task set with its version; the run's label where it names none."""
    if state.plan is None or not state.plan.task_set.name:
        return label
    info = state.plan.task_set
    version = info.version or info.digest
    return f"{info.name} {version.removeprefix('sha256:')[:_SHORT]}" if version else info.name


def effort_of(info: ArmInfo) -> tuple[str, str]:
    """The arm's effort and what it is apart from that, as one text."""
    parameters = dict(info.parameters)
    effort = info.effort
    for key in EFFORT_PARAMETERS:
        value = parameters.pop(key, "")
        effort = effort or value
    if not info.agent and not info.model:
        return effort, ""
    rest = [info.agent, info.agent_version, info.model, info.provider, info.prompt_digest]
    rest += [*info.tools, *info.mcp, *info.skills, info.protocol]
    numbers = (
        ("temperature", info.temperature),
        ("context", info.context_tokens),
        ("output", info.max_output_tokens),
    )
    rest += [f"{name}={value:g}" for name, value in numbers if value is not None]
    rest += [f"{key}={value}" for key, value in sorted(parameters.items())]
    return effort, " · ".join(part for part in rest if part)


def _info(runs: Mapping[str, RunState], ref: ArmRef) -> ArmInfo:
    arm = runs[ref.run].arms.get(ref.arm)
    return arm.info if arm is not None else ArmInfo(name=ref.arm, agent="")


def _configuration(runs: Mapping[str, RunState], ref: ArmRef) -> object:
    """Where its model is reached is no part of it."""
    info = msgspec.structs.replace(_info(runs, ref), endpoint=Endpoint())
    return json_document(info, order="deterministic")


def _facts(
    trials: ArmTrials, runs: Mapping[str, RunState], seen: Mapping[tuple[str, str], Seen], benchmark: str
) -> list[TrialFacts]:
    found = []
    for outcome in trials.outcomes:
        run, trial_id = trials.origin[outcome.task, outcome.attempt]
        state = runs[run]
        trial = state.trials[trial_id]
        read = seen.get((run, trial_id))
        steps = read.steps if read is not None and read.steps is not None else trial.steps or None
        found.append(
            TrialFacts(
                outcome=outcome,
                benchmark=benchmark,
                category=trial.category,
                difficulty=trial.difficulty,
                steps=steps,
                agent_seconds=trial.agent_seconds if not outcome.discarded else None,
                started_at=trial.started_at,
                timed_out=trial.timed_out,
                timeout_factor=state.plan.timeout_factor if state.plan is not None else None,
                seen=read,
            )
        )
    return found
