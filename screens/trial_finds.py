"""What a trial's folder holds beside its logs: sessions of agents, recordings of terminals, the run's card.

Looked for in a thread: a walk over a folder on a slow disk takes what it takes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.layout import CARD, LogFile
from engine.trajectories.read import find_trajectories
from screens.cast_file import is_cast

MOST_ENTRIES = 2_000
MOST_CASTS = 12
_DEEPEST = 4


@dataclass(frozen=True)
class Finds:
    sessions: tuple[Path, ...] = ()
    casts: tuple[Path, ...] = ()
    card: Path | None = None

    def without_casts(self, logs: Sequence[LogFile]) -> list[LogFile]:
        """The logs that are read as text: a recording has a tab of its own, by the same path."""
        return [log for log in logs if log.path not in self.casts]


def find(run_folder: Path, trial_folder: Path) -> Finds:
    """Blocks; never raises."""
    card = run_folder / CARD
    try:
        has_card = card.is_file() and not card.is_symlink()
    except OSError:
        has_card = False
    return Finds(tuple(find_trajectories(trial_folder)), tuple(find_casts(trial_folder)), card if has_card else None)


def find_casts(trial_folder: Path) -> list[Path]:
    """Recordings by name and by content, at most some; no link is followed."""
    found: list[Path] = []
    budget = MOST_ENTRIES
    base = len(trial_folder.parts)
    for folder, names, files in os.walk(trial_folder):
        names.sort()
        if len(Path(folder).parts) - base >= _DEEPEST:
            names.clear()
        budget -= len(files) + 1
        for name in sorted(files):
            path = Path(folder) / name
            if name.endswith(".cast") and path.is_file() and not path.is_symlink() and is_cast(path):
                found.append(path)
        if budget < 0 or len(found) >= MOST_CASTS:
            break
    return found[:MOST_CASTS]
