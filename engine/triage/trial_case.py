"""One trial as rules look at it: its state, its neighbours, and its files, read once and within bounds."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from engine.issues import Code, Evidence, Issue, Phase
from engine.layout import CHANGES, LogFile
from engine.readers.inside import read_inside
from engine.readers.run_folder import TRIALDECK
from engine.regular_file import regular_file
from engine.state import RunState
from engine.text import clean_line
from engine.trajectories.read import find_trajectories, read_trajectory
from engine.trajectories.steps import Step, Trajectory
from engine.triage.neighbours import Neighbours, neighbours
from engine.trial_state import TrialState

MOST_WHOLE = 8 << 20
"""A larger text is looked at only at its end, without line numbers."""
MOST_TRAJECTORY = 64 << 20
TAIL_LINES = 60
SHOWN = 300
"""Characters of a line that a finding quotes."""
_TAIL = 256 << 10
_MOST_TRAJECTORIES = 4

NO_MODEL = frozenset({"oracle", "nop", "replay", "restore"})
"""Agents that ask no model."""

_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-Z\\^-~])")


class Line(msgspec.Struct, frozen=True):
    """`number` counts from 1; 0 where the file is too large to count."""

    number: int
    text: str


class Changes(msgspec.Struct, frozen=True):
    """`unseen`: places of which nobody knows what was changed there."""

    added: list[str] = []
    changed: list[str] = []
    deleted: list[str] = []
    unseen: list[str] = []


class TrialCase:
    """Everything lazy: a rule that needs no file costs no reading. For one thread."""

    def __init__(self, trial: TrialState, state: RunState, folder: Path, logs: Sequence[LogFile]) -> None:
        self.trial = trial
        self.state = state
        self.folder = folder
        self.logs = logs
        self._texts: dict[Path, list[Line]] = {}

    # --- the run around it ---

    @property
    def source(self) -> str:
        """The system that made the run."""
        return self.state.plan.source if self.state.plan is not None else TRIALDECK.kind

    @property
    def clock(self) -> str:
        """Whose word it is that a time was up."""
        return "engine's clock" if self.source == TRIALDECK.kind else f"{self.source}'s record"

    @property
    def agent(self) -> str:
        arm = self.state.arms.get(self.trial.arm)
        return arm.info.agent if arm is not None else ""

    @property
    def asks_a_model(self) -> bool:
        return self.agent.rpartition(":")[2].lower() not in NO_MODEL

    @cached_property
    def neighbours(self) -> Neighbours:
        return neighbours(self.state)

    @cached_property
    def same_task(self) -> list[TrialState]:
        """The other trials of its task, whatever their arm."""
        return [trial for trial in self.neighbours.of_task(self.trial.task) if trial.trial != self.trial.trial]

    # --- what the engine and Docker recorded ---

    def issues(self, *codes: Code) -> list[Issue]:
        return [issue for issue in self.trial.issues if issue.code in codes]

    def has(self, *codes: Code) -> bool:
        return bool(self.issues(*codes))

    def reached(self, phase: Phase) -> bool:
        return any(span.phase == phase for span in self.trial.phases)

    @property
    def reached_model_work(self) -> bool:
        """An agent worked; a phase that a foreign record doesn't tell of is not held against it."""
        return not self.trial.phases or self.reached(Phase.AGENT)

    # --- sessions ---

    @cached_property
    def trajectories(self) -> list[Trajectory]:
        found = []
        for path in find_trajectories(self.folder)[:_MOST_TRAJECTORIES]:
            try:
                if path.is_file() and path.stat().st_size > MOST_TRAJECTORY:
                    continue
            except OSError:
                continue
            trajectory = read_trajectory(path)
            if trajectory is not None:
                found.append(trajectory)
        return found

    @cached_property
    def session(self) -> Trajectory | None:
        """The most complete one."""
        return self.trajectories[0] if self.trajectories else None

    @cached_property
    def agent_steps(self) -> list[Step]:
        return [step for step in self.session.steps if step.source == "agent"] if self.session is not None else []

    def step_evidence(self, trajectory: Trajectory, number: int, text: str, label: str = "step") -> Evidence:
        line = next((step.line for step in trajectory.steps if step.number == number), 0)
        return Evidence(label, clean_line(text, SHOWN), self.relative(trajectory.path), line)

    # --- files ---

    def relative(self, path: Path) -> str:
        try:
            return str(path.relative_to(self.folder))
        except ValueError:
            return ""

    def evidence(self, path: Path, line: Line, label: str = "line") -> Evidence:
        return Evidence(label, clean_line(line.text, SHOWN), self.relative(path), line.number)

    def lines(self, path: Path) -> list[Line]:
        """Of a text inside the trial's folder, without colour codes; a carriage return ends a line's earlier content.
        Empty where it can't be read."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def tail(self, path: Path, count: int = TAIL_LINES) -> list[Line]:
        """The last lines that hold something."""
        return [line for line in self.lines(path) if line.text.strip()][-count:]

    def logs_of(self, *kinds: str) -> list[LogFile]:
        return [log for log in self.logs if log.kind in kinds]

    @cached_property
    def agent_texts(self) -> list[LogFile]:
        """What the agent's program printed itself, where that is no session that can be read as steps: there, what
        commands printed can't be told from what the agent said."""
        sessions = {trajectory.path for trajectory in self.trajectories}
        return [log for log in self.logs_of("agent") if log.path not in sessions]

    @cached_property
    def changes(self) -> Changes | None:
        data = read_inside(self.folder, self.folder / CHANGES, MOST_WHOLE)
        if data is None:
            return None
        try:
            return msgspec.json.decode(data, type=Changes)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def json(self, relative: str) -> object:
        """A JSON file of the trial's folder; None where it is missing or no JSON."""
        data = read_inside(self.folder, self.folder / relative, MOST_WHOLE)
        if data is None:
            return None
        try:
            found: object = json.loads(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None
        return found

    def _read(self, path: Path) -> list[Line]:
        data = read_inside(self.folder, path, MOST_WHOLE + 1)
        if data is None:
            return []
        first = 1
        if len(data) > MOST_WHOLE:
            first, data = 0, _end(path)
        lines = _CODES.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n").split("\n")
        return [
            Line(number if first else 0, text.rstrip("\r").rpartition("\r")[2])
            for number, text in enumerate(lines, 1)
            if text
        ]


def _end(path: Path) -> bytes:
    try:
        with regular_file(path) as file:
            file.seek(-_TAIL, 2)
            return file.read(_TAIL).partition(b"\n")[2]
    except OSError:
        return b""
