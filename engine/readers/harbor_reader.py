"""A job folder of Harbor as a stream of events: while it runs, when it is over, or left by an owner that died.

<job>/
  config.json lock.json result.json job.log     the plan, and how far it is
  <trial>/                                       see harbor_trial.py; result.json appears when the trial is over
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Severity
from engine.readers import json_values as values
from engine.readers.followed_file import FollowedFile
from engine.readers.foreign_times import in_utc, seconds_between
from engine.readers.harbor_log import JobLog
from engine.readers.harbor_places import TrialPlaces
from engine.readers.harbor_plan import MOST_TRIALS, HarborPlan
from engine.readers.harbor_trial import HarborTrial
from engine.readers.in_order import in_order
from engine.readers.inside import folders_in, is_inside
from engine.readers.json_file import JsonFile
from engine.readers.owner_process import OwnerWatch, Pulse
from engine.readers.reader import Liveness

JOB_LOG = "job.log"
LOOK_SEC = 0.25
OVER_SEC = 2.0
"""How often a job that is over is looked at: it may be resumed or graded anew."""
OWNER_SEC = 1.0
BUDGET_SEC = 0.2
"""How long one poll tells of trials that are over; the rest waits for the next one."""
GONE_SEC = 2.0
"""How long the folder of a trial may be away while Harbor runs: it deletes one before it says why."""
_RECHECKED = 200
"""Trials that are over and looked at again in one poll: a regrade or a rerun changes them."""
_CANCELLED, _UNSCORED = 130, 3
_WORDS = ("harbor",)
_NOT_RUNNING = ("view",)


def _may_be_a_trial(folder: Path) -> bool:
    """Harbor names a trial's folder before it writes into it; what else people keep in a job's folder is no trial."""
    return "__" in folder.name or any((folder / name).is_file() for name in ("config.json", "lock.json", "result.json"))


class HarborReader:
    def __init__(self, folder: Path, pulse: Pulse | None = None) -> None:
        self.folder = folder
        self._config = JsonFile(folder, folder / "config.json")
        self._lock = JsonFile(folder, folder / "lock.json")
        self._result = JsonFile(folder, folder / "result.json")
        self._log = FollowedFile(folder / JOB_LOG)
        self._job_log = JobLog()
        self._plan = HarborPlan(folder)
        self._planned: ev.RunPlanned | None = None
        self._trials: dict[str, HarborTrial] = {}
        self._places = TrialPlaces()
        self._positions = 0
        self._versions: dict[str, str] = {}
        self._untold: list[str] = []
        self._outcomes: dict[str, str] = {}
        self._said: set[str] = set()
        self._rechecked = 0
        self._looked_at = 0.0
        self._owner = OwnerWatch(folder, _WORDS, _NOT_RUNNING, pulse=pulse, look_sec=OWNER_SEC)
        self._session = 0
        self._first_start: datetime | None = None
        self._last_end: datetime | None = None
        self._opened_at = ev.now()
        self._over: ev.RunFinished | None = None
        self._stopped = False

    # --- what the rest of the program calls ---

    def poll(self) -> list[ev.AnyEvent]:
        now = time.monotonic()
        if (
            self._planned is not None
            and not self._untold
            and now - self._looked_at < (OVER_SEC if self._over else LOOK_SEC)
        ):
            return []
        self._looked_at = now
        self._read_plan()
        plans: list[ev.AnyEvent] = []
        told: list[ev.AnyEvent] = list(self._read_log())
        new = self._find_trials()
        alive = self._alive()
        told += self._begin(alive)
        told += () if alive else self._broken()
        told += self._gone()
        plans += self._plan_trials(new)
        plans += self._not_begun()
        told += self._tell_trials(alive)
        if not self._untold:
            told += self._end(alive)
        if (planned := self._run_planned()) is not None:
            plans.insert(0, planned)
        return [*plans, *in_order(told)]

    def liveness(self) -> Liveness:
        if self._over is not None:
            return Liveness.FINISHED
        return Liveness.LIVE if self._alive() else Liveness.STALE

    def close(self) -> None:
        self._log.close()

    # --- the plan ---

    def _read_plan(self) -> None:
        looked = [file.look() for file in (self._config, self._lock, self._result)]
        if any(looked):
            self._plan.tell(self._config.value, self._lock.value, self._result.value)

    def _broken(self) -> Iterator[ev.AnyEvent]:
        """Files of the job that nobody is about to write whole."""
        for file in (self._config, self._lock, self._result):
            name, problem = file.path.name, file.problem
            if not problem or file.value is not None or name in self._said:
                continue
            self._said.add(name)
            said = f"{name} of the job {problem}: what it would have told is missing"
            issue = Issue(Severity.WARNING, None, Code.HARNESS_FAILED, said, (Evidence("file", problem, name),))
            yield ev.RunIssue(at=self._last_sign(), issue=issue)

    def _run_planned(self) -> ev.RunPlanned | None:
        planned = self._plan.planned(self._began(), len(self._trials) + len(self._places.pending), self._versions)
        if planned == self._planned:
            return None
        self._planned = planned
        return planned

    def _began(self) -> datetime:
        beside = [moment for moment in (self._plan.created_at, self._first_start) if moment is not None]
        return in_utc(values.within(self._result.value, "started_at"), beside) or min(beside, default=self._opened_at)

    def _last_sign(self) -> datetime:
        """The latest moment that any record tells of; dates of files play no part."""
        known = [self._began()]
        if self._last_end is not None:
            known.append(self._last_end)
        said = self._result.value
        told = (in_utc(values.within(said, name), [known[-1]]) for name in ("updated_at", "finished_at"))
        return max([*known, *(moment for moment in told if moment is not None)])

    def _note_times(self, trial: HarborTrial) -> None:
        if trial.record is None:
            return
        start, end = trial.record.started, trial.record.finished
        if start is not None:
            self._first_start = min(start, self._first_start or start)
        if end is not None:
            self._last_end = max(end, self._last_end or end)

    # --- trials ---

    def _find_trials(self) -> list[HarborTrial]:
        new = []
        for path in folders_in(self.folder):
            if path.name not in self._trials and is_inside(self.folder, path) and _may_be_a_trial(path):
                trial = self._trials[path.name] = HarborTrial(path)
                trial.look()
                self._note_times(trial)
                new.append(trial)
        return new

    def _plan_trials(self, new: list[HarborTrial]) -> Iterator[ev.AnyEvent]:
        """Trials of one task and arm are numbered by their start; those that still run come last."""
        late = self._last_sign()
        new.sort(key=lambda one: ((one.record.started if one.record else None) or late, one.name))
        for trial in new:
            task, arm = self._pair_of(trial)
            if trial.record is not None:
                self._versions.setdefault(arm, trial.record.agent_version)
            yield from self._take_the_place(task, arm)
            yield self._trial_planned(trial.name, task, arm)
            self._untold.append(trial.name)

    def _pair_of(self, trial: HarborTrial) -> tuple[str, str]:
        """A folder that was cut off before its config was written is told by its name, and by what is left over."""
        if trial.defined:
            return self._plan.task_of(trial.task), self._plan.arm_of(trial.agent)
        begins = trial.name.rpartition("__")[0] or trial.name
        for pair, planned in self._plan.assigned.items():
            if pair[0][:32].rstrip("_-") == begins and planned > self._places.begun(pair):
                return pair
        return begins, next(iter(self._plan.arms), "") or self._plan.arm_of({})

    def _trial_planned(self, name: str, task: str, arm: str) -> ev.TrialPlanned:
        self._positions += 1
        return ev.TrialPlanned(
            at=self._began(),
            trial=name,
            task=task,
            arm=arm,
            attempt=self._places.take(name, (task, arm)),
            position=self._positions,
        )

    def _take_the_place(self, task: str, arm: str) -> Iterator[ev.AnyEvent]:
        """One that had not begun begins, under a name of its own; or one runs anew whose folder Harbor deleted when it
        resumed the job."""
        pair = task, arm
        place = self._places.waiting(pair)
        if place is not None:
            self._places.give_back(place)
            self._outcomes.pop(place, None)
            yield ev.TrialWithdrawn(at=self._last_sign(), trial=place, reason="it began, under a name of its own")
        elif 0 < self._plan.assigned[pair] <= self._places.taken(pair):
            same = (one for name, one in self._trials.items() if self._places.pair_of(name) == pair)
            gone = next((one.name for one in same if not one.folder.is_dir()), None)
            if gone is not None:
                yield self._withdraw(gone)

    def _withdraw(self, name: str) -> ev.TrialWithdrawn:
        del self._trials[name]
        self._untold = [one for one in self._untold if one != name]
        self._outcomes.pop(name, None)
        self._places.give_back(name)
        return ev.TrialWithdrawn(at=self._last_sign(), trial=name, reason="Harbor deleted its folder")

    def _gone(self) -> Iterator[ev.AnyEvent]:
        """Harbor deletes what was cut off when it resumes a job, and a run that it tries again."""
        for name, trial in list(self._trials.items()):
            if trial.told or trial.folder.is_dir():
                trial.gone_at = 0.0
                continue
            retries = len(self._job_log.retries.get(name, ()))
            if retries and retries + 1 >= trial.run_number and self._alive():
                continue  # it comes back under the same name
            trial.gone_at = trial.gone_at or time.monotonic()
            if self._alive() and time.monotonic() - trial.gone_at < GONE_SEC:
                continue
            yield self._withdraw(name)

    def _tell_trials(self, alive: bool) -> Iterator[ev.AnyEvent]:
        until = time.monotonic() + BUDGET_SEC
        untold, self._untold = self._untold, []
        for number, name in enumerate(untold):
            if number and time.monotonic() > until:
                self._untold = untold[number:]
                return
            yield from self._tell(self._trials[name], alive, looked=True)
        fresh = set(untold)
        names = [name for name, trial in self._trials.items() if not trial.told and name not in fresh]
        over = [name for name, trial in self._trials.items() if trial.told and name not in fresh]
        self._rechecked = self._rechecked % max(1, len(over))
        names += over[self._rechecked : self._rechecked + _RECHECKED]
        self._rechecked += _RECHECKED
        for name in names:
            yield from self._tell(self._trials[name], alive, looked=False)

    def _tell(self, trial: HarborTrial, alive: bool, *, looked: bool) -> Iterator[ev.AnyEvent]:
        changed = looked or trial.look()
        if changed:
            self._note_times(trial)
        if trial.told and changed and not looked:
            yield from self._set_aside(trial)
        if trial.record is not None and not trial.told:
            yield from self._goes_on(trial)
            retries = self._job_log.retries.get(trial.name, [])
            story = trial.story(retries)
            finished = story[-1]
            assert isinstance(finished, ev.TrialFinished)
            trial.told, trial.running, trial.cut_off = True, False, False
            self._outcomes[trial.name] = finished.outcome
            yield from story
        elif trial.record is None and not trial.told:
            yield from self._still_open(trial, alive)

    def _set_aside(self, trial: HarborTrial) -> Iterator[ev.AnyEvent]:
        """Its result is another one than was told, or has gone: it was regraded, or runs again."""
        reason = "Harbor runs it again" if trial.record is None else "its result.json was written anew"
        yield ev.TrialInterrupted(at=self._last_sign(), trial=trial.name, run_number=trial.run_number, reason=reason)
        trial.told = trial.running = False
        trial.phase = None
        self._outcomes.pop(trial.name, None)
        if trial.record is None:
            trial.run_number += 1

    def _still_open(self, trial: HarborTrial, alive: bool) -> Iterator[ev.AnyEvent]:
        if alive and not trial.folder.is_dir():
            return  # it comes back, or is taken back
        if alive:
            if not trial.running:
                yield from self._goes_on(trial)
                trial.running, trial.cut_off, trial.phase = True, False, None
                at = trial.began(self._began(), ev.now())
                yield ev.TrialStarted(at=at, trial=trial.name, run_number=trial.run_number)
                yield from trial.observed(at)
            else:
                yield from trial.observed(ev.now())
        elif not trial.cut_off:
            yield from self._cut_off(trial)

    def _goes_on(self, trial: HarborTrial) -> Iterator[ev.AnyEvent]:
        """One that was taken for cut off, as where its files are copied here, is told as if it had never been."""
        pair = self._places.pair_of(trial.name)
        if trial.cut_off and pair is not None:
            self._places.give_back(trial.name)
            yield ev.TrialWithdrawn(at=self._last_sign(), trial=trial.name, reason="taken for cut off, but it goes on")
            yield self._trial_planned(trial.name, *pair)

    def _cut_off(self, trial: HarborTrial) -> Iterator[ev.AnyEvent]:
        last = self._last_sign()
        if not trial.running:
            at = trial.began(self._began(), last)
            yield ev.TrialStarted(at=at, trial=trial.name, run_number=trial.run_number)
        yield from trial.left_off(last)
        trial.running, trial.cut_off, trial.phase = False, True, None

    # --- the job ---

    def _read_log(self) -> Iterator[ev.AnyEvent]:
        if not is_inside(self.folder, self._log.path):
            return
        while lines := self._log.new_lines():
            issues = self._job_log.feed(lines, lambda name: any(name == task for task, _ in self._plan.assigned))
            for issue in issues:
                yield ev.RunIssue(at=self._last_sign(), issue=issue)

    def _alive(self) -> bool:
        """A process of Harbor that has this job's files open, or content that moves since we began to look."""
        if values.text(values.within(self._result.value, "finished_at")):
            return False
        return self._owner.look(self._signs)

    def _signs(self) -> tuple[object, ...]:
        updated = values.text(values.within(self._result.value, "updated_at"))
        trials = tuple((name, trial.signs()) for name, trial in self._trials.items())
        return updated, self._log.offset, len(self._trials), trials

    def _begin(self, alive: bool) -> Iterator[ev.AnyEvent]:
        """Harbor resumes a job in its folder: the same run goes on in another session."""
        if self._session == 0 or (alive and (self._over is not None or self._stopped)):
            self._session += 1
            at = self._began() if self._session == 1 else ev.now()
            self._over, self._stopped = None, False
            yield ev.EngineStarted(at=at, pid=0, host="", session=self._session, resumed=self._session > 1)

    def _end(self, alive: bool) -> Iterator[ev.AnyEvent]:
        if alive or self._over is not None:
            return
        said = self._result.value
        finished = in_utc(values.within(said, "finished_at"), [self._last_sign()])
        cancelled = finished is None and self._cancelled()
        last = self._last_sign()
        if finished is None and not cancelled:
            if not self._stopped:
                self._stopped = True
                yield ev.EngineStopped(at=last, reason="no sign of life any more")
            return
        at = max(finished or last, self._began())
        for name in self._places.pending:
            if name not in self._outcomes:
                self._outcomes[name] = "cancelled"
                yield ev.TrialFinished(at=at, trial=name, outcome="cancelled")
        outcomes = {self._outcomes.get(name, "cut off") for name in (*self._trials, *self._places.pending)}
        code = _CANCELLED if "cancelled" in outcomes else _UNSCORED if outcomes - {"scored"} else 0
        self._stopped = False
        self._over = ev.RunFinished(
            at=at,
            exit_code=code,
            seconds=seconds_between(self._began(), at),
            reason="cancelled" if code == _CANCELLED else "done",
        )
        yield self._over

    def _cancelled(self) -> bool:
        """Cancelled by hand, Harbor ends without a last word; its counts say that some were, and that none runs."""
        stats = values.within(self._result.value, "stats")
        running, cancelled = (
            values.count(values.within(stats, f"n_{what}_trials")) for what in ("running", "cancelled")
        )
        return running == 0 and bool(cancelled) and all(trial.told for trial in self._trials.values())

    def _not_begun(self) -> Iterator[ev.AnyEvent]:
        """Planned trials without a folder, whether or not somebody is there to start them: they count as assigned. So
        many that nobody could have planned them are counted, and not all listed."""
        known = len(self._trials) + len(self._places.pending)
        left = max(0, self._plan.total - known)
        for pair, planned in self._plan.assigned.items() if left else ():
            for _ in range(min(left, MOST_TRIALS - known, planned - self._places.taken(pair))):
                left, known = left - 1, known + 1
                yield self._trial_planned(self._places.wait(pair), *pair)
        if left and known >= MOST_TRIALS and "unlisted" not in self._said:
            self._said.add("unlisted")
            said = f"{left:,} trials that never started are counted and not listed: {MOST_TRIALS:,} are listed at most"
            issue = Issue(Severity.WARNING, None, Code.HARNESS_FAILED, said, (Evidence("plan", said, "config.json"),))
            yield ev.RunIssue(at=self._last_sign(), issue=issue)
