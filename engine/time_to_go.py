"""How long a run goes on yet, kept up to date trial by trial.

- A trial whose task has ended before takes as long as that: the mean of the same arm's, else of all arms'. Once it has
  taken most of that, it takes a quarter of it yet.
- Of any other the task says nothing: it takes the mean of the arm's trials, once `ENOUGH` of them have ended, else of
  all; and where it runs, what is left on the mean of a trial that has taken so long. Trials that run count for what
  they have taken (`engine.survival`): short ones end first, and their mean alone is far too low for long.
- Nobody takes longer than the limits of all its phases allow, where these are known.
- So much work is done by as many side by side as do run, or as did on the mean (no more than are allowed). The trials
  that end last don't end together: how much later than the mean the last of them ends comes on top.

In all: work / side by side + the last one's delay, and no less than what the longest trial takes by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from engine.issues import Phase
from engine.state import RunState
from engine.survival import Survival, bin_of
from engine.trial_shares import TrialShares
from engine.trial_state import CANCELLED, DONE, RUNNING, TrialState

FEW = 3
"""So many trials must have ended before anything is said, unless they are `SHARE` of all."""
SHARE = 0.25
ENOUGH = 10
LAST_PART = 0.25
LEAST_SEC = 30.0
"""For what is past its limit and not over yet."""
_LIMITED = (Phase.PREPARE, Phase.AGENT, Phase.VERIFY)
_MINUTE = 60.0


@dataclass(slots=True)
class _Times:
    """Of trials that ended, how many and their seconds."""

    ended: int = 0
    seconds: float = 0.0

    def add(self, seconds: float, sign: int) -> None:
        self.ended += sign
        self.seconds += sign * seconds

    @property
    def mean(self) -> float:
        return self.seconds / self.ended


@dataclass(slots=True)
class _Spread(_Times):
    """And how many took how long."""

    bins: dict[int, int] = field(default_factory=dict)

    def add(self, seconds: float, sign: int) -> None:
        _Times.add(self, seconds, sign)
        place = bin_of(seconds)
        self.bins[place] = self.bins.get(place, 0) + sign

    def survival(self, running: list[float]) -> Survival:
        return Survival(self.bins, self.seconds + sum(running), running)


@dataclass(slots=True)
class _Task:
    """`left` are trials that wait, by arm; `known` the seconds of those of them that the task's own times tell."""

    all: _Times = field(default_factory=_Times)
    arms: dict[str, _Times] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    limit: float = 0.0
    known: float = 0.0
    unknown: dict[str, int] = field(default_factory=dict)

    def expected(self, arm: str) -> float | None:
        """Seconds of a trial of it; None before one has ended."""
        times = self.arms.get(arm)
        if times is not None and times.ended:
            return times.mean
        return self.all.mean if self.all.ended else None


class _Share(msgspec.Struct, frozen=True, gc=False):
    """What one trial adds. `seconds` None: it has not ended by itself, or nobody knows how long it took."""

    task: str
    arm: str
    limit: float
    waits: bool
    runs: bool
    seconds: float | None


class TimeToGo:
    """Of one run: `update` what changed, then ask for `seconds`, at the price of the trials that run."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._shares = TrialShares(state, _share)
        self._tasks: dict[str, _Task] = {}
        self._arms: dict[str, _Spread] = {}
        self._all = _Spread()
        self._running: set[str] = set()
        self._waiting = 0
        self._known = 0.0
        self._unknown: dict[tuple[str, float], int] = {}

    def update(self, dirty: Iterable[str]) -> None:
        touched: dict[str, _Task] = {}
        for key, share, sign in self._shares.changes(dirty):
            self._add(key, share, sign, touched)
        for task in touched.values():
            _weigh(task)
            self._count_waiting(task, 1)

    def seconds(self, now: datetime) -> float | None:
        """As the module says. None where the run is over, or too little of it for anything to be said."""
        every = self._all
        if self._state.finished is not None or not every.ended:
            return None
        if every.ended < FEW and every.ended < SHARE * len(self._shares):
            return None
        trials = [self._state.trials[key] for key in self._running]
        taken = [trial.elapsed(now) or 0.0 for trial in trials]
        left = len(trials) + self._waiting
        if not left:
            return 0.0
        beside = min(left, self._side_by_side(now, len(trials), every.seconds + sum(taken)))
        curves = self._curves(trials, taken)
        work, longest = self._known, 0.0
        waiting, count, bound = 0.0, 0, 0.0
        for (arm, limit), many in self._unknown.items():
            waiting += many * min(curves[arm].rest(), limit)
            count += many
            bound = max(bound, limit)
        unknown = []
        for trial, elapsed in zip(trials, taken, strict=True):
            expected = self._tasks[trial.task].expected(trial.arm)
            most = _most(trial, now)
            if expected is None:
                work += min(curves[trial.arm].rest(elapsed), most)
                unknown.append((trial, elapsed, most))
            else:
                rest = min(max(expected - elapsed, LAST_PART * expected), most)
                work += rest
                longest = max(longest, rest)
        together = min(len(unknown) + count, math.ceil(beside))
        for trial, elapsed, most in unknown:
            longest = max(longest, min(curves[trial.arm].last(elapsed, min(together, len(unknown))), most))
        late = 0.0
        if count:
            last = min(bound, max(curve.last(0.0, together) for curve in curves.values()))
            longest, late = max(longest, last), max(0.0, last - waiting / count)
        return max(longest, (work + waiting) / beside + late)

    def _curves(self, trials: list[TrialState], taken: list[float]) -> dict[str, Survival]:
        """By arm."""
        of_arm: dict[str, list[float]] = {}
        for trial, elapsed in zip(trials, taken, strict=True):
            of_arm.setdefault(trial.arm, []).append(elapsed)
        general = self._all.survival(taken)
        curves = dict.fromkeys(self._state.arms, general)
        for arm, spread in self._arms.items():
            if spread.ended >= ENOUGH:
                curves[arm] = spread.survival(of_arm.get(arm, []))
        return curves

    def _side_by_side(self, now: datetime, running: int, work: float) -> float:
        """What runs, or did on the mean: a slot that was left a moment ago is filled again."""
        elapsed = self._state.elapsed(now)
        on_the_mean = work / elapsed if elapsed else 0.0
        allowed = self._state.concurrency
        ours = self._state.plan is not None and self._state.plan.source == "trialdeck"
        if not ours:  # nobody knows whether it is still what it was
            allowed = max(allowed, running)
        return max(1.0, min(allowed, max(running, on_the_mean)))

    def _add(self, key: str, share: _Share, sign: int, touched: dict[str, _Task]) -> None:
        """A task that is touched first is taken out of what waits, and comes back with what it has become."""
        task = touched.get(share.task)
        if task is None:
            task = touched[share.task] = self._tasks.get(share.task) or _Task()
            self._tasks[share.task] = task
            self._count_waiting(task, -1)
        if share.limit > task.limit:
            task.limit = share.limit
        if share.seconds is not None:
            of_arm = self._arms.setdefault(share.arm, _Spread())
            for times in (self._all, of_arm, task.all, task.arms.setdefault(share.arm, _Times())):
                times.add(share.seconds, sign)
        if share.waits:
            task.left[share.arm] = task.left.get(share.arm, 0) + sign
            self._waiting += sign
        if share.runs:
            (self._running.add if sign > 0 else self._running.discard)(key)

    def _count_waiting(self, task: _Task, sign: int) -> None:
        self._known += sign * task.known
        for arm, count in task.unknown.items():
            key = (arm, task.limit)
            count = self._unknown.get(key, 0) + sign * count
            if count:
                self._unknown[key] = count
            else:
                self._unknown.pop(key, None)


def time_to_go(state: RunState, now: datetime) -> float | None:
    """Once, of a whole run; see `TimeToGo.seconds`."""
    whole = TimeToGo(state)
    whole.update(state.trials)
    return whole.seconds(now)


def _weigh(task: _Task) -> None:
    """What its own times tell of those that wait."""
    task.known, task.unknown = 0.0, {}
    for arm, count in task.left.items():
        expected = task.expected(arm)
        if expected is not None:
            task.known += count * expected
        elif count:
            task.unknown[arm] = count


def _share(trial: TrialState) -> _Share:
    runs, over = trial.state == RUNNING, trial.state in DONE
    told = over and trial.state != CANCELLED and trial.started_at is not None
    return _Share(
        task=trial.task,
        arm=trial.arm,
        limit=_limit(trial),
        waits=not runs and not over,
        runs=runs,
        seconds=trial.seconds if told else None,
    )


def _limit(trial: TrialState) -> float:
    """Seconds that it can take, up to a whole minute; infinite where a phase has no limit. Of a task with several steps
    only the first one's limits are known."""
    limits = trial.limits
    if trial.step or len(limits) < len(_LIMITED):
        return math.inf
    whole = 0.0
    for phase in _LIMITED:
        whole += limits.get(phase, math.inf)
    return _MINUTE * math.ceil(whole / _MINUTE) if whole < math.inf else whole


def _most(trial: TrialState, now: datetime) -> float:
    """Seconds that one which runs can yet take: the rest of its phase and the phases to come."""
    limit = _limit(trial)
    if limit == math.inf or trial.phase is None:
        return limit
    later = list(Phase)[list(Phase).index(trial.phase) + 1 :]
    rest = (trial.limit() or 0.0) - (trial.phase_elapsed(now) or 0.0)
    return max(LEAST_SEC, rest + sum(trial.limits.get(phase, 0.0) for phase in later))
