"""A comparison with where it comes from: what every export carries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from engine.analysis.arms import ArmTrials
from engine.analysis.as_text import warnings
from engine.analysis.compare import Comparison
from engine.analysis.compare_arms import Compared, Standing
from engine.analysis.labels import Labels
from engine.analysis.movers import Mover, movers
from engine.analysis.outcomes import TrialOutcome, only_first_attempts
from engine.analysis.pairs import Attempts, form_pairs
from engine.analysis.run_differences import question_words
from engine.json_document import json_document
from engine.state import RunState
from engine.version import VERSION


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """One run behind an arm. "" and None: the run doesn't say. `sides`: A, B, or both."""

    label: str
    sides: str
    source: str
    run: str
    name: str
    task_set: str
    task_set_version: str
    task_set_digest: str
    card_digest: str
    engine_version: str
    host: str
    started_at: datetime | None
    last_event_at: datetime | None
    trials: int
    done: int


class PairRow(msgspec.Struct, frozen=True, kw_only=True):
    """One task that both arms have. `passed_*` of `attempts_*` (finished ones); `first_*` is the first attempt's
    verdict, None without one; costs are sums, None where one is unknown; labels are causes, several joined by `+`."""

    task: str
    attempts_a: int
    attempts_b: int
    passed_a: int
    passed_b: int
    first_a: bool | None
    first_b: bool | None
    reward_a: float | None
    reward_b: float | None
    cost_a: float | None
    cost_b: float | None
    label_a: str
    label_b: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """`found` with its sources; `arm_differences` are what the arms differ in, `standings` are of more than two."""

    found: Comparison
    sources: tuple[Provenance, ...]
    arm_differences: tuple[str, ...]
    standings: tuple[Standing, ...]
    movers: tuple[Mover, ...]
    pairs: tuple[PairRow, ...]
    made_at: datetime
    made_by: str = f"trialdeck {VERSION}"

    @property
    def question(self) -> str:
        return question_words(self.found.question, self.arm_differences)

    @property
    def limits(self) -> tuple[str, ...]:
        """What a reader must know before believing a number."""
        return tuple(warnings(self.found))


def make_report(
    compared: Compared,
    a: ArmTrials,
    b: ArmTrials,
    runs: Mapping[str, RunState],
    made_at: datetime,
    *,
    labelled: bool = True,
) -> Report:
    sides: dict[str, str] = {}
    for letter, arm in (("A", a), ("B", b)):
        for ref in arm.arm.refs:
            if letter not in sides.get(ref.run, ""):
                sides[ref.run] = sides.get(ref.run, "") + letter
    return Report(
        found=compared.found,
        sources=tuple(_provenance(label, " and ".join(which), runs[label]) for label, which in sides.items()),
        arm_differences=compared.differences.arms,
        standings=compared.standings,
        movers=movers(a.outcomes, b.outcomes, {**a.labels, **b.labels}) if labelled else (),
        pairs=tuple(_pairs(a, b, compared.found.attempts, labelled)),
        made_at=made_at.astimezone(UTC).replace(microsecond=0),
    )


def _pairs(a: ArmTrials, b: ArmTrials, attempts: Attempts, labelled: bool) -> Iterator[PairRow]:
    outcomes = [only_first_attempts(arm.outcomes) if attempts == "first" else arm.outcomes for arm in (a, b)]
    for pair in form_pairs(*outcomes):
        first = pair.first_a, pair.first_b
        yield PairRow(
            task=pair.task,
            attempts_a=len(pair.a),
            attempts_b=len(pair.b),
            passed_a=sum(trial.resolved for trial in pair.a),
            passed_b=sum(trial.resolved for trial in pair.b),
            first_a=first[0].passed if first[0] else None,
            first_b=first[1].passed if first[1] else None,
            reward_a=first[0].reward if first[0] else None,
            reward_b=first[1].reward if first[1] else None,
            cost_a=_spent(pair.a),
            cost_b=_spent(pair.b),
            label_a=_causes(pair.a, a.labels) if labelled else "",
            label_b=_causes(pair.b, b.labels) if labelled else "",
        )


def _spent(trials: Sequence[TrialOutcome]) -> float | None:
    costs = [trial.cost_usd for trial in trials]
    known = [usd for usd in costs if usd is not None]
    return math.fsum(known) if len(known) == len(costs) else None


def _causes(trials: Sequence[TrialOutcome], labels: Labels) -> str:
    found = (labels.get((trial.task, trial.arm, trial.attempt), "") for trial in trials)
    return "+".join(dict.fromkeys(cause for cause in found if cause))


def _provenance(label: str, sides: str, state: RunState) -> Provenance:
    plan = state.plan
    return Provenance(
        label=label,
        sides=sides,
        source=plan.source if plan else "",
        run=plan.run if plan else "",
        name=plan.name if plan else "",
        task_set=plan.task_set.name if plan else "",
        task_set_version=plan.task_set.version if plan else "",
        task_set_digest=plan.task_set.digest if plan else "",
        card_digest=plan.card_digest if plan else "",
        engine_version=plan.engine_version if plan else "",
        host=plan.host.name if plan else "",
        started_at=state.started_at,
        last_event_at=state.last_event_at,
        trials=len(state.trials),
        done=state.done,
    )


def report_document(report: Report) -> dict[str, Any]:
    """The JSON document: the fields of `Comparison`, and beside them where it comes from. Fractions and dollars."""
    document: dict[str, Any] = msgspec.to_builtins(report.found)
    document |= {
        "sources": msgspec.to_builtins(report.sources),
        "arm_differences": list(report.arm_differences),
        "standings": msgspec.to_builtins(report.standings),
        "pairs": msgspec.to_builtins(report.pairs),
        "sensitive_to": msgspec.to_builtins(report.movers),
        "made_at": report.made_at.isoformat(),
        "made_by": report.made_by,
    }
    return document


def report_json(report: Report) -> bytes:
    return json_document(report_document(report), indent=2) + b"\n"


def source_line(source: Provenance) -> str:
    """`A: nightly · trialdeck run 2026… · terminal-bench 4.0.0 · card 7f3a91c`; what a run doesn't say is said so."""
    version = f" {source.task_set_version[:12]}" if source.task_set_version else ", version unknown"
    digest = source.task_set_digest.removeprefix("sha256:")[:12]
    card = source.card_digest.removeprefix("sha256:")[:12]
    parts = [
        f"{source.sides}: {source.name or source.label}",
        f"{source.source or 'unknown source'} run {source.run or source.label}",
        f"{source.task_set or 'task set unknown'}{version}{f' (digest {digest})' if digest else ''}",
        f"card {card}" if card else "no run card",
    ]
    if source.done < source.trials:
        parts.append(f"{source.done:,} of {source.trials:,} trials done")
    return " · ".join(parts)
