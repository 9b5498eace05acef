"""In which order a list of runs stands: by any of its columns, unknown values last whichever way round."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from engine.readers.reader import Liveness
from screens.run_summary import RunSummary

_STATES = {Liveness.LIVE: 0, Liveness.STARTING: 1, Liveness.STALE: 2, Liveness.FINISHED: 3}


def _rate(run: RunSummary) -> float | None:
    first = run.arms[0] if run.arms else None
    return first.passed / first.finished if first is not None and first.finished else None


_KEYS: dict[str, Callable[[RunSummary], Any]] = {
    "name": lambda run: run.name.casefold(),
    "state": lambda run: (_STATES[run.liveness], run.exit_code or 0),
    "kind": lambda run: run.kind,
    "done": lambda run: run.done / run.planned if run.planned else None,
    "arms": _rate,
    "issues": lambda run: run.issues,
    "elapsed": lambda run: run.seconds,
    "started": lambda run: run.started_at,
    "last": lambda run: run.last_event_at,
    "tasks": lambda run: run.task_set.casefold() or None,
    "folder": lambda run: str(run.folder),
}
COLUMNS = tuple(_KEYS)


def in_order(runs: Iterable[RunSummary], column: str, down: bool) -> list[RunSummary]:
    """Equal ones stay as they came."""
    key = _KEYS[column]
    known: list[RunSummary] = []
    unknown: list[RunSummary] = []
    for run in runs:
        (unknown if key(run) is None else known).append(run)
    return [*sorted(known, key=key, reverse=down), *unknown]
