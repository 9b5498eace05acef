"""SWE-bench's reports: which instance ended how, in every shape that the harness and its hosted twin write.

`<model>.<run_id>.json`   counts and lists of ids (`resolved_ids`, …), schema 2; the hosted one adds failed and pending
`results/results.json`    of the leaderboard, and of the harness's first version: lists named after what happened
`per_instance_details.json`   of the leaderboard: by instance whether it was resolved, and what that cost
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.readers import json_values as values
from engine.readers.inside import MOST_BYTES
from engine.readers.json_file import read_json

MOST_IDS = 100_000
LONGEST_ID = 300


class Ending(StrEnum):
    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    EMPTY = "empty patch"
    ERROR = "error"
    MISSING = "no prediction"
    PENDING = "pending"


_LISTS: tuple[tuple[Ending, tuple[str, ...]], ...] = (
    (Ending.RESOLVED, ("resolved_ids", "resolved")),
    (Ending.PENDING, ("pending_ids",)),
    (Ending.EMPTY, ("empty_patch_ids", "no_generation", "none")),
    (Ending.MISSING, ("incomplete_ids",)),
    (
        Ending.ERROR,
        (
            "error_ids",
            "failed_ids",
            "no_logs",
            "install_fail",
            "reset_failed",
            "no_apply",
            "test_errored",
            "test_timeout",
        ),
    ),
    (Ending.UNRESOLVED, ("unresolved_ids", "completed_ids", "applied", "with_logs", "generated")),
)
"""An id in several lists ended as the first of them says: what was resolved was completed and submitted too."""
_OLD = ("no_generation", "no_logs", "generated", "no_apply", "applied", "with_logs")


@dataclass(frozen=True)
class Report:
    """`endings` by instance; `lists` says in which list an instance stood that tells of an error.
    `only_resolved`: what was evaluated and not resolved is named nowhere."""

    endings: dict[str, Ending] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)
    only_resolved: bool = False
    unstopped: tuple[str, ...] = ()
    costs: dict[str, float] = field(default_factory=dict)


def is_report(value: object) -> bool:
    found = values.mapping(value)
    if isinstance(found.get("resolved_ids"), list) or _is_detailed(found):
        return True
    return isinstance(found.get("resolved"), list) and any(isinstance(found.get(name), list) for name in _OLD)


def read_report(root: Path, path: Path) -> Report | None:
    """None for what is missing, half-written or something else."""
    value = read_json(root, path, MOST_BYTES)
    return report(value) if is_report(value) else None


def _is_detailed(found: dict[str, Any]) -> bool:
    rows = list(found.values())[:MOST_IDS]
    return bool(rows) and all(
        isinstance(row, dict) and isinstance(row.get("resolved"), bool) and "api_calls" in row for row in rows
    )


def _detailed(found: dict[str, Any]) -> Report:
    rows = {name: row for name, row in list(found.items())[:MOST_IDS] if is_name(name)}
    costs = {name: values.number(row.get("cost")) for name, row in rows.items()}
    return Report(
        endings={name: Ending.RESOLVED if row["resolved"] else Ending.UNRESOLVED for name, row in rows.items()},
        costs={name: cost for name, cost in costs.items() if cost is not None and cost >= 0},
    )


def report(value: object) -> Report:
    found = values.mapping(value)
    if _is_detailed(found):
        return _detailed(found)
    endings: dict[str, Ending] = {}
    lists: dict[str, str] = {}
    for ending, names in _LISTS:
        for name in names:
            for instance in ids(found.get(name)):
                if instance not in endings:
                    endings[instance] = ending
                    if ending is Ending.ERROR:
                        lists[instance] = name
    for instance in ids(found.get("submitted_ids")):
        if instance not in endings:
            endings[instance] = Ending.ERROR
            lists[instance] = "submitted_ids alone"
    told = any(isinstance(found.get(name), list) for name in _LISTS[-1][1])
    return Report(endings, lists, not told, tuple(ids(found.get("unstopped_containers"))))


def ids(value: object) -> list[str]:
    """The usable ones: they become names of folders, so nothing in them may lead anywhere."""
    if not isinstance(value, list):
        return []
    return [item for item in value[:MOST_IDS] if isinstance(item, str) and is_name(item)]


def is_name(text: str) -> bool:
    return 0 < len(text) <= LONGEST_ID and "/" not in text and "\0" not in text and text not in (".", "..")
