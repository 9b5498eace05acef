"""A program's own stream of JSON, a record a line on its stdout, read while it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.agents.in_main.told_steps import ToldSteps
from engine.trajectories.held_line import MOST_LINE, HeldLine
from engine.trajectories.line_fold import LineFold
from engine.trajectories.untyped import Record, decoded

_CHUNK = 1 << 20

Watch = Callable[[int, Record], None]
"""Takes each record with the number of its line in the agent's log."""


class JsonStream:
    """Its `sink` is for `session.execute`; `finish` it when the program has ended, however that was.

    `log`: the agent's log, to which the same output is written; lines are numbered as they stand in it. What was in it
    before the program started counts.
    """

    def __init__(self, fold: LineFold, steps: ToldSteps, log: Path, watch: Watch | None = None) -> None:
        self.fold = fold
        self._steps = steps
        self._watch = watch
        self._lines = _newlines(log)
        self._line = HeldLine()
        self.records = 0
        self.too_long = 0

    def sink(self, stream: str, data: bytes) -> None:
        if stream != "stdout":
            self._lines += data.count(b"\n")
            return
        head, *lines = data.split(b"\n")
        self._line.add(head)
        new = False
        for line in lines:
            self._lines += 1
            new = self._take() or new
            self._line.add(line)
        if new:
            self._steps.tell(self.fold.session)

    def finish(self) -> None:
        """What stands behind the last newline is a record, too, if it is whole."""
        self._lines += 1
        if self._take():
            self._steps.tell(self.fold.session)

    def _take(self) -> bool:
        line, skipped = self._line.so_far, self._line.too_long
        self._line.begin_anew()
        if skipped:
            self.too_long += 1
            self.fold.session.problem(f"a line of more than {MOST_LINE >> 20} MB is left out")
            return False
        record = decoded(line) if line else None
        if record is None:
            return False
        self.records += 1
        self.fold.take(self._lines, record)
        if self._watch is not None:
            self._watch(self._lines, record)
        return True


def _newlines(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK), b""))
    except OSError:
        return 0
