"""Labels in a few words."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

from engine.triage.causes import Cause
from engine.triage.labels import Label
from tests.engine.run_events import START

_count = itertools.count(1)


def label(who: str = "ada", trial: str = "t", cause: Cause | None = Cause.MODEL, **more: Any) -> Label:
    number = next(_count)
    given: dict[str, Any] = {
        "id": f"l{number}",
        "at": START + timedelta(seconds=number),
        "run": "r",
        "task": trial,
        "arm": "a",
        "attempt": 1,
        **more,
    }
    return Label(who=who, trial=trial, cause=cause, **given)


def undo(who: str = "ada", trial: str = "t") -> Label:
    return label(who, trial, None, kind="undo")
