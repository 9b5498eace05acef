"""Results to look at, made up."""

from __future__ import annotations

from bench.figures import Check, Result, Series
from bench.machine import Machine

OURS = Series(name="trialdeck", unit="s", values=(2.0, 1.9, 9.0))
THEIRS = Series(name="harbor", unit="s", values=(15.0, 16.0, 15.5))
MACHINE = Machine(
    started="2025-11-30T12:00:00+00:00",
    cpus=2,
    memory_mb=8192,
    load=(0.1, 0.2, 0.3),
    kernel="6.1",
    python="3.12.1",
    docker="26.1.5",
    compose="2.26.1",
    buildx="buildx 0.13",
    trialdeck="0.1.0",
    commit="abc1234",
    libraries={"textual": "8.2.8"},
)


def check(value: float, target: float | None = 0.2, aim: float | None = None, *, below: bool = False) -> Check:
    return Check(name="ratio", value=value, target=target, aim=aim, below=below)


def result(*checks: Check, unmeasured: str = "") -> Result:
    series = () if unmeasured else (OURS, THEIRS)
    return Result(benchmark="hello", title="one task", checks=checks, series=series, unmeasured=unmeasured)
