"""A score as it is given on a command line: stated anew, as a correction of one, or of a run that is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from console.errors import Unusable
from console.run_condition import FINISHED, load
from engine.analysis.from_state import arm_outcomes
from engine.analysis.rates import arm_rate
from engine.readers.open_run import open_run
from engine.scorebook.record import FACTS, Kind, RanBy, Record
from engine.scorebook.store import Scorebook
from engine.state import RunState

_COUNTED = ("passed", "assigned")
_INTERVAL = ("low", "high")


def stated(given: Mapping[str, Any], at: datetime) -> Record:
    """Of what was given alone: the rest stays unknown."""
    return Record(added_at=at, **given)


def corrected(book: Scorebook, number: int, given: Mapping[str, Any], unknown: Sequence[str], at: datetime) -> Record:
    """What record `number` should have said: what is not given anew stays as it stands, `unknown` fields become so. A
    new value or count takes the other, and the interval, with it. Raises RecordInvalid and Unusable."""
    found = book.score(number)
    for field in unknown:
        if field not in FACTS:
            raise Unusable(f"--unknown {field!r}: no such field; there are {', '.join(FACTS)}")
        if field in given:
            raise Unusable(f"--unknown {field}: it is given too; which one counts?")
    fields = {name: getattr(found.record, name) for name in FACTS}
    stale: set[str] = set(unknown)
    if "value" in given or "passed" in given or "value" in stale:
        stale |= {"value", *_COUNTED, *_INTERVAL}
    blank = Record(added_at=at)
    fields |= {name: getattr(blank, name) for name in stale}
    return msgspec.structs.replace(blank, **{**fields, **given}, kind=Kind.CORRECTION, about=found.record.id)


def of_run(folder: Path, arms: Sequence[str], given: Mapping[str, Any], at: datetime) -> list[Record]:
    """A record an arm; what is given goes before what the run says. Raises Unusable and OSError."""
    run = open_run(folder)
    state, condition = load(folder)
    if state.plan is None or condition.state != FINISHED:
        raise Unusable(f"{folder}: the run is {condition}; a score is of a run that is over")
    for name in arms:
        if name not in state.arms:
            raise Unusable(f"--arm {name!r}: no such arm; there are {', '.join(state.arms)}")
    if not run.ours and "ran_by" not in given:
        raise Unusable(f"{folder}: a run of another system ({run.kind}): say with --ran-by who ran it")
    outcomes = arm_outcomes(state)
    records = []
    for name in arms or list(state.arms):
        fields = _facts(state, name, run.identity)
        rate = arm_rate(outcomes[name])
        if not rate.of:
            raise Unusable(f"{folder}: arm {name!r} has no trial")
        low, high = rate.interval or (None, None)
        fields |= {"passed": rate.passed, "assigned": rate.of, "low": low, "high": high}
        if "value" in given or "passed" in given:
            fields |= dict.fromkeys((*_COUNTED, *_INTERVAL))
        configuration = {**fields.pop("configuration"), **given.get("configuration", {})}
        records.append(Record(added_at=at, **{**fields, **given, "configuration": configuration}))
    return records


def _facts(state: RunState, arm: str, identity: str) -> dict[str, Any]:
    plan, info = state.plan, state.arms[arm].info
    assert plan is not None
    told = {"effort": info.effort, "provider": info.provider, "prompt": info.prompt_digest[:12]}
    numbers = {"attempts": plan.attempts, "timeout factor": plan.timeout_factor, "temperature": info.temperature}
    configuration = {key: value for key, value in told.items() if value}
    configuration |= {key: f"{value:g}" for key, value in numbers.items() if value is not None}
    configuration |= {f"parameter {key}": value for key, value in info.parameters.items()}
    configuration["arm"] = arm
    version = plan.task_set.version or plan.task_set.digest.removeprefix("sha256:")[:12]
    ended = state.last_event_at
    return {
        "benchmark": plan.task_set.name or plan.name,
        "benchmark_version": version,
        "model": info.model,
        "agent": " ".join(part for part in (info.agent, info.agent_version) if part),
        "ran_by": RanBy.OURS,
        "made_on": ended.astimezone().date() if ended is not None else None,
        "card_digest": plan.card_digest,
        "run": identity,
        "configuration": configuration,
    }
