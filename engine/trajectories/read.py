"""Where a trial's trajectories lie, and what they say."""

from __future__ import annotations

import os
from pathlib import Path

from engine.trajectories.episodes import episode_folders
from engine.trajectories.follow import TrajectoryFollower
from engine.trajectories.recognise import Kind, recognise
from engine.trajectories.steps import Trajectory

_PLACES = ("agent", "sessions", "agent-logs")
_SUFFIXES = frozenset({".json", ".jsonl", ".txt", ".log", ".traj"})
_NEVER = frozenset({"result.json", "results.json", "config.json", "lock.json", "manifest.json", "ctrf.json"})
_ASIDE = "subagents"  # where Claude Code keeps what its subagents did
MOST_ENTRIES = 2_000
_DEEPEST = 8
_ORDER = list(Kind)


def find_trajectories(trial_folder: Path) -> list[Path]:
    """Files, and folders of episodes, in which an agent wrote what it did, most complete first.

    Of a task with steps each step's own session follows in order. A bounded walk which follows no link; cheap enough
    for once in some seconds, not for a thread that paints. Never raises.
    """
    found: list[Path] = []
    budget = [MOST_ENTRIES]
    groups = [[trial_folder / name for name in _PLACES]]
    groups += [[step / name for name in _PLACES] for step in _folders(trial_folder / "steps")]
    groups.append([trial_folder])
    for places in groups:
        ranked: list[tuple[tuple[bool, int, int, str], Path]] = []
        for place in places:
            deepest = 0 if place == trial_folder else _DEEPEST
            for path in _candidates(place, deepest, budget):
                if (kind := recognise(path)) is not None:
                    aside = _ASIDE in path.parts
                    ranked.append(((aside, _ORDER.index(kind), -_size(path), str(path)), path))
        found += [path for _, path in sorted(ranked) if path not in found]
    return found


def read_trajectory(path: Path) -> Trajectory | None:
    """The session in a file or a folder of episodes; None where it is none. Never raises on what it holds: what can't
    be read is said in `problems`. Of large files, call it in a thread."""
    follower = TrajectoryFollower(path)
    try:
        return follower.finish()
    finally:
        follower.close()


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(child for child in place.iterdir() if child.is_dir() and not child.is_symlink())
    except OSError:
        return []


def _candidates(place: Path, deepest: int, budget: list[int]) -> list[Path]:
    found: list[Path] = []
    try:
        if place.is_symlink() or not place.is_dir():
            return found
        with os.scandir(place) as entries:
            children = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return found
    if episode_folders(place):
        found.append(place)
    for child in children:
        budget[0] -= 1
        if budget[0] < 0:
            break
        try:
            if child.is_dir(follow_symlinks=False):
                if deepest and not child.name.startswith("episode-"):
                    found += _candidates(Path(child.path), deepest - 1, budget)
            elif child.is_file(follow_symlinks=False):
                path = Path(child.path)
                if path.suffix in _SUFFIXES and child.name not in _NEVER:
                    found.append(path)
        except OSError:
            continue
    return found


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0
