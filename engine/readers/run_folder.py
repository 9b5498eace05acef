"""A run folder of ours as a stream of events: live, finished, or left by an engine that died."""

from __future__ import annotations

import time
from pathlib import Path

from engine.events import (
    AnyEvent,
    EngineStarted,
    RunFinished,
    RunPlanned,
    TrialFinished,
    TrialInterrupted,
    TrialStarted,
    decode,
    decode_lines,
)
from engine.layout import CARD, EVENTS, HOST_SAMPLES, SAMPLES, LogFile, trial_logs
from engine.owner import engine_alive
from engine.readers.followed_file import FollowedFile
from engine.readers.reader import Liveness
from engine.regular_file import regular_file

_MOST_FIRST = 1 << 20
_FIRST_EVENTS = 16
SAMPLES_SEC = 0.2
"""Samples come once a second and trial; a file of them is looked at this often at most."""

_CARD_HEAD = b"digest ="


class RunFolderReader:
    """Events of a run folder since the last `poll`; samples of trials that run now among them.

    Not thread-safe; all calls from one thread. Samples of trials already over are not read: their peaks are events.
    """

    def __init__(self, folder: Path, samples_sec: float = SAMPLES_SEC) -> None:
        self.folder = folder
        self.samples_sec = samples_sec
        self._events = FollowedFile(folder / EVENTS)
        self._host = FollowedFile(folder / HOST_SAMPLES)
        self._samples: dict[str, FollowedFile] = {}
        self._sampled = 0.0
        self._started = False
        self._finished = False

    def poll(self) -> list[AnyEvent]:
        """What is new, oldest first (samples after events, looked for now and then). Empty when nothing is."""
        found = list(decode_lines(self._events.new_lines()))
        for event in found:
            match event:
                case TrialStarted(trial=trial):
                    self._forget(trial)
                    self._samples[trial] = FollowedFile(self.folder / trial / SAMPLES)
                case TrialFinished(trial=trial) | TrialInterrupted(trial=trial):
                    self._forget(trial)
                case RunFinished():
                    self._finished = True
                case EngineStarted():
                    self._started = True
                    self._finished = False
                case _:
                    pass
        if self._finished or time.monotonic() - self._sampled < self.samples_sec:
            return found
        self._sampled = time.monotonic()
        for samples in self._samples.values():
            found += decode_lines(samples.new_lines())
        return found + list(decode_lines(self._host.new_lines()))

    def liveness(self) -> Liveness:
        """Asks for the owner's process, so call it now and then, not for every event."""
        if self._finished:
            return Liveness.FINISHED
        if engine_alive(self.folder):
            return Liveness.LIVE
        return Liveness.STALE if self._started else Liveness.STARTING

    def _forget(self, trial: str) -> None:
        samples = self._samples.pop(trial, None)
        if samples is not None:
            samples.close()

    def close(self) -> None:
        for followed in (self._events, self._host, *self._samples.values()):
            followed.close()


class TrialdeckFormat:
    kind = "trialdeck"
    ours = True

    def is_run(self, folder: Path) -> bool:
        """A run whose engine has not begun yet has its card only; a card that a person wrote is no run."""
        try:
            return (folder / EVENTS).is_file() or _is_of_a_run(folder / CARD)
        except (OSError, ValueError):
            return False

    def identity(self, folder: Path) -> str:
        """The run's id, from its plan, which is among its first events; the folder's name before there is one."""
        try:
            with regular_file(folder / EVENTS) as file:
                for _ in range(_FIRST_EVENTS):
                    found = decode(file.readline(_MOST_FIRST))
                    if isinstance(found, RunPlanned):
                        return found.run
        except OSError:
            pass
        return folder.name

    def reader(self, folder: Path) -> RunFolderReader:
        return RunFolderReader(folder)

    def trial_folder(self, folder: Path, trial: str) -> Path:
        return folder / trial

    def logs(self, folder: Path, trial: str) -> list[LogFile]:
        return trial_logs(folder / trial)


TRIALDECK = TrialdeckFormat()


def _is_of_a_run(card: Path) -> bool:
    """The engine's cards begin with their digest. Raises OSError."""
    if not card.is_file():
        return False
    with regular_file(card) as file:
        return file.read(len(_CARD_HEAD)) == _CARD_HEAD
