"""What every event is: a line of JSON whose `type` names the struct in snake case."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def now() -> datetime:
    return datetime.now(UTC)


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=_snake, gc=False):
    """`untimed`: nobody knows when; `at` only says where it stands among the others (records of other systems)."""

    at: datetime = msgspec.field(default_factory=now)
    untimed: bool = False
