"""A session that an agent is still writing, read on as it grows."""

from __future__ import annotations

import os
from pathlib import Path

from engine.regular_file import regular_file
from engine.trajectories.atif import read_atif
from engine.trajectories.draft import Session
from engine.trajectories.episodes import read_episodes
from engine.trajectories.growing_lines import GrowingLines
from engine.trajectories.held_line import MOST_LINE
from engine.trajectories.line_fold import LineFold
from engine.trajectories.mini_swe_agent import read_mini_swe_agent
from engine.trajectories.recognise import WHOLE, Kind, fold_for, recognise
from engine.trajectories.steps import Trajectory
from engine.trajectories.untyped import decoded

MOST_WHOLE = 256 << 20
"""Bytes of a file of one JSON object that are read; its steps beyond are left out, and the trajectory says so."""
_BITE = 16 << 20

_Signature = tuple[tuple[str, int, int], ...]


class TrajectoryFollower:
    """One file, or one folder of episodes. All calls from one thread, which is not the one that paints: the first
    `poll` of a large file takes seconds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.behind = False
        self._kind: Kind | None = None
        self._seen: _Signature | None = None
        self._lines = GrowingLines(path)
        self._fold: LineFold | None = None
        self._noise = 0

    def poll(self) -> Trajectory | None:
        """The session as it stands now; None where nothing is new since the last call, or it is none (yet).

        Never raises. `behind` says that there is more to be read: call again.
        """
        self.behind = False
        if self._kind is None:
            self._kind = recognise(self.path)
        if self._kind is None:
            return None
        if self._kind is Kind.EPISODES or self._kind in WHOLE:
            return self._whole(self._kind)
        return self._more_lines(self._kind, _BITE)

    def finish(self) -> Trajectory | None:
        """Everything, a last line without its end included; for a file that nobody writes any more."""
        found = self.poll()
        while self.behind:
            found = self.poll() or found
        if self._fold is not None:
            number, rest = self._lines.rest()
            if rest:
                record = decoded(rest)
                if record is not None:
                    self._fold.take(number, record)
                elif rest.lstrip().startswith(b"{"):
                    self._fold.session.problem(f"line {number:,} breaks off: half-written")
                found = self._trajectory(self._fold)
        return found

    def close(self) -> None:
        self._lines.close()

    # --- files of lines ---

    def _more_lines(self, kind: Kind, most: int) -> Trajectory | None:
        lines = self._lines.take(most)
        if self._fold is None or self._lines.replaced:
            self._fold = fold_for(kind)
            self._noise = 0
        self.behind = self._lines.behind
        for number, line in lines:
            record = decoded(line)
            if record is not None:
                self._fold.take(number, record)
            elif line.strip():
                self._noise += 1
        return self._trajectory(self._fold) if lines or self._lines.replaced else None

    def _trajectory(self, fold: LineFold) -> Trajectory:
        said = []
        if self._noise:
            said.append(f"{self._noise:,} line{'s' if self._noise > 1 else ''} of other text, left out")
        if self._lines.too_long:
            said.append(f"{self._lines.too_long:,} of more than {MOST_LINE >> 20} MB in a line, left out")
        return fold.session.trajectory(self.path, tuple(said))

    # --- files that are written anew ---

    def _whole(self, kind: Kind) -> Trajectory | None:
        now = _signature(self.path, kind)
        if now is None or now == self._seen:
            return None
        self._seen = now
        session = read_episodes(self.path) if kind is Kind.EPISODES else _read_object(self.path, kind)
        return session.trajectory(self.path) if session is not None else None


def _read_object(path: Path, kind: Kind) -> Session | None:
    try:
        with regular_file(path) as file:
            data = file.read(MOST_WHOLE + 1)
    except OSError:
        return None
    cut = len(data) > MOST_WHOLE
    content = data[:MOST_WHOLE].decode("utf-8", "replace").lstrip("\ufeff")
    del data
    session = read_atif(content) if kind is Kind.ATIF else read_mini_swe_agent(content)
    if session is not None and cut:
        session.problem(f"only the first {MOST_WHOLE >> 20} MB are read")
    return session


def _signature(path: Path, kind: Kind) -> _Signature | None:
    try:
        if kind is not Kind.EPISODES:
            found = path.stat()
            return (("", found.st_size, found.st_mtime_ns),)
        with os.scandir(path) as children:
            names = sorted(child.path for child in children if child.name.startswith("episode-"))
        newest = names[-2:] if len(names) > 2 else names
        files = [file for folder in newest for file in sorted(Path(folder).iterdir())]
        return (
            ("episodes", len(names), 0),
            *((str(file), file.lstat().st_size, file.lstat().st_mtime_ns) for file in files[:50]),
        )
    except OSError:
        return None
