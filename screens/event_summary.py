"""A run of ours in a list: from the few events that matter, the many others skipped unread."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec

from engine import events as ev
from engine.cleaned_events import clean_plan
from engine.layout import EVENTS
from engine.owner import owner_alive, read_owner
from engine.readers.followed_file import FollowedFile
from engine.readers.reader import Liveness
from engine.text import clean_line
from screens.run_summary import ArmSummary, RunSummary, Stamp

_TYPE = slice(9, 17)
"""Where a line `{"type":"trial_finished",…` has the beginning of its type."""


class _Told(msgspec.Struct, frozen=True, gc=False):
    """The fields of these events that a summary needs; the others are skipped by the decoder."""

    at: datetime | None = None
    trial: str = ""
    arm: str = ""
    outcome: str = ""
    passed: bool | None = None
    exit_code: int | None = None
    seconds: float | None = None


_decoder = msgspec.json.Decoder(_Told)


class _Arm:
    __slots__ = ("assigned", "finished", "passed")

    def __init__(self) -> None:
        self.assigned = self.finished = self.passed = 0


class EventSummary:
    """Folds the lines of `events.jsonl`, in their order, to the same numbers as `RunState`."""

    def __init__(self) -> None:
        self.plan: ev.RunPlanned | None = None
        self.arms: dict[str, _Arm] = {}
        self.finished: _Told | None = None
        self.sessions = 0
        self.run_issues = 0
        self.started_at: datetime | None = None
        self.last_at: datetime | None = None
        self._session_at: datetime | None = None
        self._earlier_seconds = 0.0
        self._seconds = 0.0
        self._before = b""
        self._trials: dict[str, str] = {}
        self._ended: dict[str, bool] = {}
        self._issues: dict[str, int] = {}
        self._folds = {
            b"run_plan": self._run_planned,
            b"trial_pl": self._trial_planned,
            b"engine_s": self._engine,
            b"run_issu": self._run_issue,
            b"run_fini": self._run_finished,
            b"trial_fi": self._trial_finished,
            b"trial_in": self._trial_interrupted,
            b"issue_ra": self._issue_raised,
        }

    def feed(self, lines: Iterable[bytes]) -> None:
        folds = self._folds
        for line in lines:
            fold = folds.get(line[_TYPE])
            if fold is not None:
                try:
                    told = _decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue
                fold(told, line)
                self.last_at = told.at or self.last_at
            self._before = line

    @property
    def done(self) -> int:
        return len(self._ended)

    def took(self, last_at: datetime | None) -> float | None:
        """As `RunState.took`: of all sessions, without the time between them."""
        if self.finished is not None:
            return None if self.finished.seconds is None else self._seconds
        if last_at is None or self.started_at is None:
            return None
        return self._seconds + (_between(self._session_at, last_at) if self._session_at is not None else 0.0)

    @property
    def planned(self) -> int:
        return len(self._trials)

    @property
    def issues(self) -> int:
        return self.run_issues + sum(self._issues.values())

    def _run_planned(self, told: _Told, line: bytes) -> None:
        plan = ev.decode(line)
        if isinstance(plan, ev.RunPlanned):
            self.plan = clean_plan(plan)
            for arm in self.plan.arms:
                self.arms.setdefault(arm.name, _Arm())

    def _trial_planned(self, told: _Told, line: bytes) -> None:
        if told.trial not in self._trials:
            name = clean_line(told.arm)
            self._trials[told.trial] = name
            self.arms.setdefault(name, _Arm()).assigned += 1

    def _engine(self, told: _Told, line: bytes) -> None:
        if line.startswith(b'{"type":"engine_started"'):
            if self._session_at is not None:  # the one before left without a word
                self._end_session(_between(self._session_at, self._left_at()))
            self._earlier_seconds = self._seconds
            self._session_at = told.at
            self.sessions += 1
            self.finished = None
            self.started_at = self.started_at or told.at
        elif self._session_at is not None:
            self._end_session(_between(self._session_at, told.at))

    def _left_at(self) -> datetime | None:
        """When the event before this one was written."""
        before = ev.decode(self._before)
        return before.at if before is not None and type(before) is not ev.EnvironmentGone else self.last_at

    def _end_session(self, seconds: float) -> None:
        self._seconds = self._earlier_seconds + seconds
        self._session_at = None

    def _run_issue(self, told: _Told, line: bytes) -> None:
        self.run_issues += 1

    def _run_finished(self, told: _Told, line: bytes) -> None:
        self.finished = told
        self._end_session(max(0.0, told.seconds or 0.0))

    def _trial_finished(self, told: _Told, line: bytes) -> None:
        self._forget(told.trial)
        if told.trial in self._trials:
            arm = self.arms[self._trials[told.trial]]
            self._ended[told.trial] = passed = told.outcome == "scored" and bool(told.passed)
            arm.finished += 1
            arm.passed += passed

    def _trial_interrupted(self, told: _Told, line: bytes) -> None:
        self._forget(told.trial)
        self._issues.pop(told.trial, None)

    def _forget(self, trial: str) -> None:
        passed = self._ended.pop(trial, None)
        if passed is not None:
            arm = self.arms[self._trials[trial]]
            arm.finished -= 1
            arm.passed -= passed

    def _issue_raised(self, told: _Told, line: bytes) -> None:
        if told.trial in self._trials:
            self._issues[told.trial] = self._issues.get(told.trial, 0) + 1


def summary_of_events(folder: Path, stamp: Stamp) -> RunSummary:
    """Reads the whole event file once: half a second for three million events."""
    found = EventSummary()
    last: ev.AnyEvent | None = None
    lines = FollowedFile(folder / EVENTS)
    try:
        while batch := lines.new_lines():
            found.feed(batch)
            told = (ev.decode(line) for line in reversed(batch))
            last = next((one for one in told if one is not None and type(one) is not ev.EnvironmentGone), last)
    except OSError:
        pass
    finally:
        lines.close()
    plan = found.plan
    last_at = last.at if last is not None else found.last_at
    return RunSummary(
        folder=folder,
        kind="trialdeck",
        name=plan.name if plan else folder.name,
        task_set=task_set_words(plan),
        arms=tuple(ArmSummary(name, arm.passed, arm.finished, arm.assigned) for name, arm in found.arms.items()),
        liveness=_liveness(folder, found),
        done=found.done,
        planned=found.planned,
        issues=found.issues,
        started_at=found.started_at,
        last_event_at=last_at,
        seconds=found.took(last_at),
        exit_code=found.finished.exit_code if found.finished else None,
        stamp=stamp,
    )


def _between(begin: datetime, end: datetime | None) -> float:
    return max(0.0, (end - begin).total_seconds()) if end is not None else 0.0


def task_set_words(plan: ev.RunPlanned | None) -> str:
    return " ".join(part for part in (plan.task_set.name, plan.task_set.version[:12]) if part) if plan else ""


def _liveness(folder: Path, found: EventSummary) -> Liveness:
    if found.finished is not None:
        return Liveness.FINISHED
    if owner_alive(read_owner(folder)) is False:
        return Liveness.STALE if found.sessions else Liveness.STARTING
    return Liveness.LIVE
