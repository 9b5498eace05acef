"""Claude Code's own record of a session, which says what its stream leaves out: the tokens of each answer.

It lies in the agent's folder once the agent has ended, however that was.
"""

from __future__ import annotations

import re
from pathlib import Path

from engine.trajectories.read import read_trajectory
from engine.trajectories.steps import Trajectory

_ID = re.compile(r"[0-9a-f-]{8,64}", re.ASCII)
_MOST_FOLDERS = 100


def recorded(config: Path, session: str, *, steps: int) -> Trajectory | None:
    """The record of that session in the CLI's folder; None where there is none, or it has fewer steps of the agent
    than were told while it worked (those of subagents stand elsewhere). Blocks."""
    if not _ID.fullmatch(session):
        return None
    for count, path in enumerate(config.glob(f"projects/*/{session}.jsonl")):
        if count == _MOST_FOLDERS:
            break
        if path.is_symlink() or not path.is_file():
            continue
        found = read_trajectory(path)
        made = sum(step.source == "agent" for step in found.steps) if found is not None else 0
        return found if made >= steps else None
    return None
