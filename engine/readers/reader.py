"""What every reader gives, whoever wrote the folder: events, a sign of life, and where a trial's files lie."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Protocol

from engine.events import AnyEvent
from engine.layout import LogFile


class Liveness(StrEnum):
    LIVE = "live"
    FINISHED = "finished"
    STALE = "stale"  # the owner is gone without having finished, or gives no sign of life
    STARTING = "starting"  # planned, no engine yet


class RunReader(Protocol):
    """Events of one run since the last `poll`. Not thread-safe: all calls from one thread."""

    folder: Path

    def poll(self) -> list[AnyEvent]:
        """What is new, oldest first; empty when nothing is. Raises OSError where the folder can't be read.

        The first poll begins with RunPlanned and a TrialPlanned for each trial that is known; trials that show later
        are planned when they show. Half-written, missing or hostile files raise nothing: what they would have told
        is told once it can be read, or as an issue. Nothing is ever written into the folder.
        """

    def liveness(self) -> Liveness:
        """From what the files say and, where it can be asked for, the owner's process. Never from files' dates alone.
        May be costly: call it now and then."""

    def close(self) -> None: ...


class RunFormat(Protocol):
    """One system's way to write runs down. Stateless.

    A trial's id is unique in its run, stable while the run goes on, and in most formats the path of the trial's folder
    relative to the run folder.
    """

    kind: str
    """What files and screens call it: trialdeck, harbor, terminal-bench, agentcompass, swe-bench."""
    ours: bool
    """Whether the folder is ours to write to. Into a foreign folder not one byte is written."""

    def is_run(self, folder: Path) -> bool:
        """Whether `folder` itself is a run; looks at a few names and the heads of a few files. Never raises."""

    def identity(self, folder: Path) -> str:
        """The run's own name for itself (a job's UUID, say), the same wherever the folder lies; it keys the labels.
        Never raises: where nothing better is to be had, a digest of what defines the run."""

    def reader(self, folder: Path) -> RunReader: ...

    def trial_folder(self, folder: Path, trial: str) -> Path:
        """Where evidence of this trial is looked for; evidence names its files relative to this."""

    def logs(self, folder: Path, trial: str) -> list[LogFile]:
        """The logs the trial has so far, in the order that screens show them. Cheap enough for once a second."""
