"""Under what conditions trials ran: timeout factors, and whether arms ran side by side or one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import combinations

import msgspec

from engine.analysis.trial_facts import ArmFacts


class FactorRow(msgspec.Struct, frozen=True, kw_only=True):
    """`factor` None: the run doesn't say. `timed_out` counts trials whose agent had all its time."""

    benchmark: str
    arm: str
    factor: float | None
    trials: int
    passed: int
    timed_out: int


class TimeBlock(msgspec.Struct, frozen=True, kw_only=True):
    """Trials of one arm that started between those of others."""

    arm: str
    first: datetime
    last: datetime
    trials: int


class Apart(msgspec.Struct, frozen=True, kw_only=True):
    """Two arms that did not run at the same time: all starts of `first` come before any of `then`. What changed
    meanwhile (a provider's load, the machine) is part of their difference."""

    first: str
    then: str
    gap_seconds: float


class TimeBlocks(msgspec.Struct, frozen=True, kw_only=True):
    """`apart` empty: the starts of all arms overlap. `blocks` are in order of time, those of arms in `apart` alone.
    `unknown` are arms of which no start is known."""

    benchmark: str
    apart: tuple[Apart, ...]
    blocks: tuple[TimeBlock, ...]
    unknown: tuple[str, ...]


def timeout_factors(arms: Sequence[ArmFacts], benchmark: str) -> list[FactorRow]:
    found = []
    for arm in arms:
        own = [fact for fact in arm.of(benchmark) if not fact.outcome.discarded]
        known = sorted({fact.timeout_factor for fact in own if fact.timeout_factor is not None})
        for factor in (*known, None):
            rows = [fact for fact in own if fact.timeout_factor == factor]
            if rows:
                found.append(
                    FactorRow(
                        benchmark=benchmark,
                        arm=arm.name,
                        factor=factor,
                        trials=len(rows),
                        passed=sum(fact.outcome.resolved for fact in rows),
                        timed_out=sum(fact.timed_out for fact in rows),
                    )
                )
    return found


def time_blocks(arms: Sequence[ArmFacts], benchmark: str) -> TimeBlocks:
    starts = {
        arm.name: sorted(
            fact.started_at for fact in arm.of(benchmark) if fact.started_at is not None and not fact.outcome.discarded
        )
        for arm in arms
        if arm.of(benchmark)
    }
    known = {name: times for name, times in starts.items() if times}
    apart = []
    for one, two in combinations(known, 2):
        for first, then in ((one, two), (two, one)):
            if known[first][-1] < known[then][0]:
                gap = (known[then][0] - known[first][-1]).total_seconds()
                apart.append(Apart(first=first, then=then, gap_seconds=gap))
    named = {name for pair in apart for name in (pair.first, pair.then)}
    blocks = [
        TimeBlock(arm=name, first=times[0], last=times[-1], trials=len(times))
        for name, times in known.items()
        if name in named
    ]
    return TimeBlocks(
        benchmark=benchmark,
        apart=tuple(apart),
        blocks=tuple(sorted(blocks, key=lambda block: (block.first, block.arm))),
        unknown=tuple(name for name in starts if name not in known),
    )
