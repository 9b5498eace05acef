"""In what condition a run is, in one word: live, starting, finished, interrupted, stale, elsewhere."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from engine.events import now
from engine.owner import owner_alive, read_owner
from engine.readers.open_run import open_run
from engine.readers.reader import Liveness
from engine.state import RunState
from screens import format as fmt

LIVE, STARTING, FINISHED, INTERRUPTED, ELSEWHERE = "live", "starting", "finished", "interrupted", "elsewhere"
STALE = "stale"
AT_AN_END = frozenset({INTERRUPTED, STALE})
"""Nothing runs any more, though not everything is done."""
CANCELLED_EXIT = 130


class Condition(NamedTuple):
    """`cause` says more: why it was interrupted, or what a live run is at. `interrupted` runs can be resumed, whether
    someone cancelled them or their engine is gone; `stale` ones belong to another system: nothing says their end, and
    nobody is seen to work on them; `elsewhere`: the engine is another host's and can't be asked for."""

    state: str
    cause: str = ""

    def __str__(self) -> str:
        return f"{self.state} ({self.cause})" if self.cause else self.state


def condition(folder: Path, liveness: Liveness, exit_code: int | None, *, ours: bool = True) -> Condition:
    """`exit_code` as the run itself recorded it, None where it has not finished."""
    match liveness:
        case Liveness.FINISHED:
            return Condition(INTERRUPTED, "cancelled") if exit_code == CANCELLED_EXIT else Condition(FINISHED)
        case Liveness.STALE:
            return Condition(INTERRUPTED, "engine gone") if ours else Condition(STALE)
        case Liveness.STARTING:
            return Condition(STARTING)
    owner = read_owner(folder) if ours else None
    if owner is not None and owner_alive(owner) is None:
        return Condition(ELSEWHERE, f"engine on {owner.host}")
    return Condition(LIVE)


def in_words(found: Condition, last_sign: datetime | None) -> str:
    """With the last sign of life of a run that nobody works on."""
    if found.state not in AT_AN_END or found.cause == "cancelled" or last_sign is None:
        return str(found)
    age = fmt.ago((now() - last_sign).total_seconds())
    return f"{found} · last sign of life {fmt.wall_time(last_sign)} ({age})"


def load(folder: Path) -> tuple[RunState, Condition]:
    """Everything that has happened so far. Raises OSError."""
    run, state = open_run(folder), RunState()
    reader = run.reader()
    try:
        while events := reader.poll():
            state.apply_all(events)
        liveness = reader.liveness()
        state.apply_all(reader.poll())  # some learn only by that look that the run is over
        code = state.finished.exit_code if state.finished is not None else None
        found = condition(folder, liveness, code, ours=run.ours)
    finally:
        reader.close()
    if found.state == LIVE and (state.paused or state.cancelling):
        found = Condition(LIVE, "cancelling" if state.cancelling else "paused")
    return state, found
