"""Codex' own record of a session, which says what its events leave out: tokens of each answer, times, the instruction.

It lies in the agent's folder once the agent has ended, however that was.
"""

from __future__ import annotations

import re
from pathlib import Path

from engine.trajectories.read import read_trajectory
from engine.trajectories.steps import Trajectory

_ID = re.compile(r"[0-9a-f-]{8,64}", re.ASCII)
_MOST_FILES = 1_000
_DEEPEST = "*/*/*"


def recorded(sessions: Path, thread: str, *, steps: int) -> Trajectory | None:
    """The record of that thread below a folder; None where there is none, or it has fewer steps of the agent than were
    told while it worked. Blocks."""
    if not _ID.fullmatch(thread):
        return None
    for count, path in enumerate(sessions.glob(f"{_DEEPEST}/rollout-*.jsonl")):
        if count == _MOST_FILES:
            break
        if path.stem.endswith(thread) and path.is_file() and not path.is_symlink():
            found = read_trajectory(path)
            made = sum(step.source == "agent" for step in found.steps) if found is not None else 0
            return found if made >= steps else None
    return None
