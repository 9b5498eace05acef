"""A header row above the trials that have something in common."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Group:
    """`key` is no trial's id. `counts` are of states."""

    key: str
    title: str
    trials: int = 0
    counts: dict[str, int] = field(default_factory=dict)
