"""A run folder of ours as a stream of events: live, finished, or left by an engine that died."""

from __future__ import annotations

import time
from pathlib import Path, PurePosixPath

import msgspec

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
from engine.readers.inside import is_inside
from engine.readers.reader import Liveness
from engine.regular_file import regular_file

_MOST_FIRST = 1 << 20
_FIRST_EVENTS = 16
SAMPLES_SEC = 0.2
"""Samples come once a second and trial; a file of them is looked at this often at most."""

_CARD_HEAD = b"digest ="
_OF_OTHERS = ("config.json", "result.json", "run_info.json", "run_metadata.json", "tb.lock")
"""Ours have some of these too, and a card in any case."""


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
                    self._samples[trial] = FollowedFile(TRIALDECK.trial_folder(self.folder, trial) / SAMPLES)
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
        """A run whose engine has not begun yet has its card only; a card that a person wrote is no run. Others call
        files events.jsonl too: a folder of theirs is not taken for ours, since labels would be written into it."""
        try:
            return _is_of_a_run(folder / CARD) or _is_event_log(folder / EVENTS)
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
        """Inside the run, whatever a run that came from elsewhere calls its trials."""
        inside = bool(trial) and "\0" not in trial and ".." not in PurePosixPath(trial).parts and trial[0] != "/"
        return folder / trial if inside else folder / "none"

    def logs(self, folder: Path, trial: str) -> list[LogFile]:
        return [log for log in trial_logs(self.trial_folder(folder, trial)) if is_inside(folder, log.path)]


TRIALDECK = TrialdeckFormat()


def _is_of_a_run(card: Path) -> bool:
    """The engine's cards begin with their digest. Raises OSError."""
    if not card.is_file():
        return False
    with regular_file(card) as file:
        return file.read(len(_CARD_HEAD)) == _CARD_HEAD


def _is_event_log(events: Path) -> bool:
    """Whether an older or a newer engine began it too; what is no JSON is a broken one of ours, where nothing beside it
    is another system's. Raises OSError."""
    if not events.is_file():
        return False
    with regular_file(events) as file:
        line = file.readline(_MOST_FIRST)
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return not any((events.parent / name).is_file() for name in _OF_OTHERS)
    return isinstance(found, dict) and isinstance(found.get("type"), str) and isinstance(found.get("at"), str)
