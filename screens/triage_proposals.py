"""Proposals worked out in a thread: what is looked at first, then what will be looked at next, then the rest.

All of them are remembered in short (which rules speak for what), those seen last in full.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from engine.layout import LogFile
from engine.state import RunState
from engine.text import clean_line
from engine.triage.proposal import Finding, Proposal
from engine.trial_state import DONE, TrialState
from screens.source import RunSource

MOST_IN_FULL = 128
PORTION = 16
"""Trials that the thread is given at a time."""
TELL_SEC = 0.1
"""What was worked out is told at most this often, unless somebody waits for it."""
_TRIES = 3

Stamp = tuple[Any, ...]
Rules = Callable[[TrialState, RunState, Path, list[LogFile]], Proposal]
"""What looks at a trial: reads files, takes its time. `engine.triage.propose.propose` is the one."""


def stamp(trial: TrialState) -> Stamp:
    """Changes when there may be something new to be found."""
    return trial.state, trial.run_number, len(trial.issues), trial.finished_at, trial.reward


@dataclass(frozen=True)
class _Job:
    trial: TrialState
    stamp: Stamp
    urgent: bool
    in_turn: bool
    done: int


@dataclass(frozen=True)
class WorkedOut:
    """`problem`: the rules failed on this trial, in words. `done`: how many trials of the run were over then."""

    trial: str
    stamp: Stamp
    done: int
    proposal: Proposal
    problem: str = ""


class Proposals(Mapping[str, Proposal]):
    """In short by trial, as the queue wants them. Belongs to the UI thread, but `_work`; `tell` is called in the thread
    when `take` has something. A portion of copies is handed to the thread each time, so that it never reads what
    changes under it.
    """

    def __init__(self, source: RunSource, tell: Callable[[], None], rules: Rules) -> None:
        self._source = source
        self._rules = rules
        self._tell = tell
        self._short: dict[str, tuple[Stamp, Proposal]] = {}
        self._full: OrderedDict[str, tuple[Stamp, Proposal]] = OrderedDict()
        self._problems: dict[str, str] = {}
        self._looked_at: dict[str, dict[str, int]] = {}
        self._first_done: int | None = None
        self._kinds: dict[tuple[object, ...], Finding] = {}
        self._wanted: dict[str, None] = {}
        self._underway: dict[str, Stamp] = {}
        self._hurried: set[str] = set()
        self._asked_ahead: set[str] = set()
        self._urgent: deque[_Job] = deque()
        self._next: deque[_Job] = deque()  # another one each time: what is in it no more is not begun
        self._jobs: deque[_Job] = deque()
        self._results: deque[WorkedOut] = deque()
        self._wake = threading.Event()
        self._stop = False
        self._thread: threading.Thread | None = None

    def close(self) -> None:
        self._stop = True
        self._wake.set()

    # --- reading, as a mapping of what is known in short ---

    def __getitem__(self, trial: str) -> Proposal:
        return self._short[trial][1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._short)

    def __len__(self) -> int:
        return len(self._short)

    @property
    def waiting(self) -> int:
        """Trials that are still to be looked at."""
        return len(self._wanted) + len(self._underway)

    def problem(self, trial: str) -> str:
        return self._problems.get(trial, "")

    # --- asking ---

    def want(self, trials: Iterable[str]) -> None:
        """These are worked out at some time; what is known and still true is not worked out again."""
        for trial in trials:
            if self._is_due(trial, self._short):
                self._wanted[trial] = None
        self._feed()

    def now(self, trial: str) -> Proposal | None:
        """In full; worked out before all others where it isn't known. An outdated one is better than none."""
        if trial not in self._hurried and self._is_due(trial, self._full, waiting=trial in self._underway):
            self._wanted.pop(trial, None)
            self._hurried.add(trial)
            self._asked_ahead.discard(trial)
            self._next = deque(job for job in self._next.copy() if job.trial.trial != trial)
            self._start(self._source.state.trials[trial], self._urgent)
        known = self._full.get(trial)
        if known is not None:
            self._full.move_to_end(trial)
        return known[1] if known is not None else None

    def ahead(self, trials: Iterable[str]) -> None:
        """These in full, after what is looked at and before all others, instead of those that were asked for so before:
        of them none is begun any more."""
        wanted = dict.fromkeys(trials)
        kept: deque[_Job] = deque()
        for job in self._next.copy():
            trial = job.trial.trial
            if trial in wanted:
                kept.append(job)
                continue
            self._asked_ahead.discard(trial)
            if self._underway.get(trial) == job.stamp:
                del self._underway[trial]
                self.want((trial,))
        self._next = kept
        for trial in wanted:
            asked = trial in self._asked_ahead or trial in self._hurried
            if not asked and self._is_due(trial, self._full, waiting=True):
                self._wanted.pop(trial, None)
                self._asked_ahead.add(trial)
                self._start(self._source.state.trials[trial], self._next)

    def known(self, trial: str) -> Proposal | None:
        """As full as it is remembered, without asking for more."""
        found = self._full.get(trial) or self._short.get(trial)
        return found[1] if found is not None else None

    def _is_due(self, trial: str, known: Mapping[str, tuple[Stamp, Proposal]], waiting: bool = False) -> bool:
        """`waiting`: also what stands in the thread's queue already."""
        state = self._source.state.trials.get(trial)
        if state is None or state.state not in DONE:
            return False
        wanted = stamp(state)
        found = known.get(trial)
        return (found is None or found[0] != wanted) and (waiting or self._underway.get(trial) != wanted)

    def _start(self, trial: TrialState, jobs: deque[_Job]) -> None:
        urgent = jobs is self._urgent
        job = _Job(copy.deepcopy(trial), stamp(trial), urgent, jobs is self._jobs, self._source.state.done)
        self._underway[trial.trial] = job.stamp
        if urgent:
            jobs.appendleft(job)
        else:
            jobs.append(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="findings", daemon=True)
            self._thread.start()
        self._wake.set()

    def _feed(self) -> None:
        while self._wanted and len(self._jobs) < PORTION:
            trial = next(iter(self._wanted))
            del self._wanted[trial]
            state = self._source.state.trials.get(trial)
            if state is not None:
                self._start(state, self._jobs)

    def take(self) -> set[str]:
        """Takes in what was worked out; the trials that changed."""
        changed = set()
        while self._results:
            found = self._results.popleft()
            self._asked_ahead.discard(found.trial)
            if self._underway.get(found.trial) == found.stamp:
                del self._underway[found.trial]
                self._hurried.discard(found.trial)
            self._look_again_beside(found)
            self._short[found.trial] = found.stamp, self._in_short(found.proposal)
            self._full[found.trial] = found.stamp, found.proposal
            self._full.move_to_end(found.trial)
            self._problems.pop(found.trial, None)
            if found.problem:
                self._problems[found.trial] = found.problem
            changed.add(found.trial)
        while len(self._full) > MOST_IN_FULL:
            self._full.popitem(last=False)
        self._feed()
        return changed

    def _look_again_beside(self, found: WorkedOut) -> None:
        """A trial that ended while the run goes on may change what is to be said of its task's other trials (flaky, a
        fault of the task): those looked at before it are looked at again. In a run that stands still none is."""
        trial = self._source.state.trials.get(found.trial)
        if trial is None:
            return
        beside = self._looked_at.setdefault(trial.task, {})
        known = self._short.get(found.trial)
        if self._first_done is None:
            self._first_done = found.done
        if found.done > self._first_done and (known is None or known[0] != found.stamp):
            self._wanted.update(
                {other: None for other, done in beside.items() if done < found.done and other not in self._underway}
            )
            self._wanted.pop(found.trial, None)
        beside[found.trial] = found.done

    def _in_short(self, proposal: Proposal) -> Proposal:
        """Which rules speak for what: there are few kinds, so ten thousand trials share them."""
        findings = []
        for finding in proposal.findings:
            kind = (finding.rule, finding.cause, finding.strength)
            if kind not in self._kinds:
                self._kinds[kind] = Finding(rule=kind[0], cause=kind[1], strength=kind[2], text="", source="")
            findings.append(self._kinds[kind])
        return msgspec.structs.replace(proposal, findings=tuple(findings))

    # --- the thread ---

    def _work(self) -> None:
        told_at = 0.0
        before_its_turn: dict[str, tuple[Stamp, int]] = {}
        while not self._stop:
            job = self._take_job()
            if job is None:
                if self._results:
                    self._tell()
                self._wake.wait()
                self._wake.clear()
                continue
            known = before_its_turn.pop(job.trial.trial, None) if job.in_turn else None
            if known is not None and known == (job.stamp, job.done):
                continue  # it was looked at already, since somebody came to it or was about to
            if not job.in_turn:
                before_its_turn[job.trial.trial] = job.stamp, job.done
            began = time.perf_counter()
            self._results.append(self._look(job))
            few = not self._next and len(self._jobs) < PORTION // 2
            if job.urgent or time.monotonic() - told_at > TELL_SEC or few:
                told_at = time.monotonic()
                self._tell()
            if not job.urgent and not self._stop:
                time.sleep(min(0.05, time.perf_counter() - began))  # the screen gets its turn

    def _take_job(self) -> _Job | None:
        for jobs in (self._urgent, self._next, self._jobs):
            try:
                return jobs.popleft()
            except IndexError:
                continue
        return None

    def _look(self, job: _Job) -> WorkedOut:
        trial = job.trial.trial
        for left in reversed(range(_TRIES)):
            try:
                logs = self._source.logs(trial)
                found = self._rules(job.trial, self._source.state, self._source.trial_folder(trial), logs)
                return WorkedOut(trial, job.stamp, job.done, found)
            except RuntimeError as error:  # the run's state grew while it was looked through
                if not left:
                    return WorkedOut(trial, job.stamp, job.done, Proposal(cause=None), _words(error))
            except Exception as error:  # whatever it is, it belongs on the screen
                return WorkedOut(trial, job.stamp, job.done, Proposal(cause=None), _words(error))
        raise AssertionError


def _words(error: Exception) -> str:
    return clean_line(f"the rules failed here: {error or type(error).__name__}", 300)
