"""What a benchmark hands back: series of measurements, and the figures that are held against a target."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

import msgspec

Say = Callable[[str], None]
"""Takes a line about progress."""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Measurements of one thing, in the order in which they were taken."""

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One figure. `target` and `aim` are upper bounds; only a missed target counts against a run."""

    name: str
    value: float
    unit: str = ""
    target: float | None = None
    below: bool = False  # the target itself is too much already
    aim: float | None = None

    @property
    def met(self) -> bool | None:
        """None where there is no target."""
        if self.target is None:
            return None
        return self.value < self.target if self.below else self.value <= self.target

    @property
    def aim_met(self) -> bool | None:
        return None if self.aim is None else self.value <= self.aim


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark. `unmeasured` says why there are no figures, "" where there are some; `load` is the machine's load
    average of one minute before it began."""

    benchmark: str
    title: str
    checks: tuple[Check, ...] = ()
    series: tuple[Series, ...] = ()
    notes: tuple[str, ...] = ()
    unmeasured: str = ""
    load: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.unmeasured and all(check.met is not False for check in self.checks)


class Unmeasurable(Exception):
    """A benchmark can't be run here, or what it ran went wrong; the message says why."""


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` % of the values don't exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def ratio(ours: Series, theirs: Series) -> float:
    """Of the medians: one disturbed repetition changes neither."""
    return ours.median / theirs.median
