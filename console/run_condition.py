"""In what condition a run is, in one word: live, starting, finished, interrupted, elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from engine.owner import owner_alive, read_owner
from engine.readers.open_run import open_run
from engine.readers.reader import Liveness
from engine.state import RunState

LIVE, STARTING, FINISHED, INTERRUPTED, ELSEWHERE = "live", "starting", "finished", "interrupted", "elsewhere"
CANCELLED_EXIT = 130


class Condition(NamedTuple):
    """`cause` says more: why it was interrupted, or what a live run is at. `interrupted` runs can be resumed, whether
    someone cancelled them or their engine is gone; `elsewhere`: the engine is another host's and can't be asked for."""

    state: str
    cause: str = ""

    def __str__(self) -> str:
        return f"{self.state} ({self.cause})" if self.cause else self.state


def condition(folder: Path, liveness: Liveness, exit_code: int | None) -> Condition:
    """`exit_code` as the run itself recorded it, None where it has not finished."""
    match liveness:
        case Liveness.FINISHED:
            return Condition(INTERRUPTED, "cancelled") if exit_code == CANCELLED_EXIT else Condition(FINISHED)
        case Liveness.STALE:
            return Condition(INTERRUPTED, "engine gone")
        case Liveness.STARTING:
            return Condition(STARTING)
    owner = read_owner(folder)
    if owner is not None and owner_alive(owner) is None:
        return Condition(ELSEWHERE, f"engine on {owner.host}")
    return Condition(LIVE)


def load(folder: Path) -> tuple[RunState, Condition]:
    """Everything that has happened so far. Raises OSError."""
    reader, state = open_run(folder).reader(), RunState()
    try:
        while events := reader.poll():
            state.apply_all(events)
        finished = state.finished
        found = condition(folder, reader.liveness(), finished.exit_code if finished is not None else None)
    finally:
        reader.close()
    if found.state == LIVE and (state.paused or state.cancelling):
        found = Condition(LIVE, "cancelling" if state.cancelling else "paused")
    return state, found
