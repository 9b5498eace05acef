"""One record of the scorebook: a score and its provenance, a correction of one, or a check that it still stands."""

from __future__ import annotations

import math
from datetime import date, datetime
from enum import StrEnum

import msgspec


class RecordInvalid(Exception):
    """A record that can't be kept; the message names the field and what was expected."""


class RanBy(StrEnum):
    """Who ran the evaluation. It says nothing of how well it was controlled."""

    PROVIDER = "provider"
    MAINTAINER = "maintainer"  # of the benchmark
    INDEPENDENT = "independent"
    OURS = "ours"


class Kind(StrEnum):
    SCORE = "score"
    CORRECTION = "correction"
    CHECK = "check"
    WITHDRAWAL = "withdrawal"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """`value` is in `unit` (fraction, points, dollars, …); None: the source gives none, which is not zero. `passed` of
    `assigned` where the source counts. `made_on` is the date of the result, `read_on` when the source was read,
    `checked_on` when somebody last looked whether it still says so. `about` is the record that a correction, a check
    or a withdrawal is about. `snapshot` is the SHA-256 of the kept copy of the source.
    """

    id: int = 0
    kind: Kind = Kind.SCORE
    about: int | None = None
    added_at: datetime
    benchmark: str = ""
    benchmark_version: str = ""
    metric: str = "pass@1"
    unit: str = "fraction"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    passed: int | None = None
    assigned: int | None = None
    model: str = ""
    agent: str = ""
    configuration: dict[str, str] = {}
    ran_by: RanBy | None = None
    ran_by_name: str = ""
    address: str = ""
    made_on: date | None = None
    read_on: date | None = None
    checked_on: date | None = None
    snapshot: str = ""
    card_digest: str = ""
    run: str = ""
    note: str = ""


FACTS = (
    "benchmark",
    "benchmark_version",
    "metric",
    "unit",
    "value",
    "low",
    "high",
    "passed",
    "assigned",
    "model",
    "agent",
    "configuration",
    "ran_by",
    "ran_by_name",
    "address",
    "made_on",
    "read_on",
    "snapshot",
    "card_digest",
    "run",
)
"""What a correction may state anew. It gives the whole set, so that a value can also be corrected to unknown."""


def checked(record: Record) -> Record:
    """The record with what follows from it filled in. Raises RecordInvalid."""
    if record.kind is Kind.SCORE and record.about is not None:
        raise RecordInvalid("a score is about no other record")
    if record.kind is not Kind.SCORE and record.about is None:
        raise RecordInvalid(f"a {record.kind} needs the number of the record that it is about")
    if record.kind in (Kind.CHECK, Kind.WITHDRAWAL):
        return record
    for name in ("benchmark", "ran_by"):
        if not getattr(record, name):
            raise RecordInvalid(f"{name} is missing: a score without it means nothing")
    if (record.passed is None) != (record.assigned is None):
        raise RecordInvalid("passed and assigned come together: a count needs its denominator")
    value = record.value
    if record.passed is not None and record.assigned is not None:
        if record.assigned < 1 or not 0 <= record.passed <= record.assigned:
            raise RecordInvalid(f"passed is {record.passed} of {record.assigned}, expected 0 to as many as assigned")
        counted = record.passed / record.assigned
        if record.unit != "fraction":
            raise RecordInvalid(f"passed of assigned is a fraction, the unit is {record.unit!r}")
        if value is None:
            value = counted
        elif abs(value - counted) > _ROUNDING:
            raise RecordInvalid(f"value is {value:g}, but {record.passed} of {record.assigned} is {counted:.4f}")
    for name, number in (("value", value), ("low", record.low), ("high", record.high)):
        if number is None:
            continue
        if not math.isfinite(number):
            raise RecordInvalid(f"{name} is {number}, expected a finite number")
        if record.unit == "fraction" and not 0 <= number <= 1:
            raise RecordInvalid(f"{name} is {number:g}, a fraction lies between 0 and 1 (or give its unit: points)")
    if (record.low is None) != (record.high is None):
        raise RecordInvalid("low and high come together")
    if record.low is not None and record.high is not None and record.low > record.high:
        raise RecordInvalid(f"low is {record.low:g}, above high, {record.high:g}")
    return msgspec.structs.replace(record, value=value)


_ROUNDING = 0.0051
"""Sources round to a percent or a tenth of one."""
