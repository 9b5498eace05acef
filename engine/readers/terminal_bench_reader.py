"""A run folder of Terminal-Bench 0.x, or several that are the attempts of one submission, as a stream of events.

<run>/run_metadata.json tb.lock results.json run.log
<run>/<task>/<trial>/results.json                      appears when the trial is over
<run>/<task>/<trial>/sessions/ panes/ agent-logs/ commands.txt
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Severity
from engine.readers import json_values as values
from engine.readers.foreign_times import seconds_between
from engine.readers.in_order import in_order
from engine.readers.inside import files_in, folders_in, is_inside
from engine.readers.json_file import JsonFile
from engine.readers.owner_process import OwnerWatch, Pulse
from engine.readers.reader import Liveness
from engine.readers.terminal_bench_plan import RESULTS, TerminalBenchPlan, arm_name, runs_of
from engine.readers.terminal_bench_trial import started_at, story

LOOK_SEC = 0.5
OVER_SEC = 2.0
"""How often a run that is over is looked at: somebody may go on with it."""
OWNER_SEC = 1.0
_RECHECKED = 200
_MOST_RESULTS = 64 << 20
_UNSCORED = 3
_WORDS = ("tb", "terminal-bench", "terminal_bench")


class Trial:
    """`id` is the path of its folder, relative to the run folder. `value` is its parsed results.json until told."""

    def __init__(self, folder: Path, path: Path, plan: TerminalBenchPlan) -> None:
        self.id = str(path.relative_to(folder))
        self.folder = path
        self.plan = plan
        self.task = path.parent.name
        self.file = JsonFile(folder, path / RESULTS)
        self.value: object | None = None
        self.end: datetime | None = None
        self.scored = False
        self.told = self.running = self.cut_off = False

    def look(self) -> bool:
        if not self.file.look():
            return False
        self.value, self.file.value = self.file.value, None  # thousands of them would not fit into memory
        return True


class TerminalBenchReader:
    def __init__(self, folder: Path, pulse: Pulse | None = None) -> None:
        self.folder = folder
        self._plans: list[TerminalBenchPlan] = []
        self._planned: ev.RunPlanned | None = None
        self._trials: dict[str, Trial] = {}
        self._attempts: dict[str, int] = {}
        self._results: dict[Path, JsonFile] = {}
        self._owner = OwnerWatch(folder, _WORDS, pulse=pulse, look_sec=OWNER_SEC)
        self._looked_at = 0.0
        self._rechecked = 0
        self._session = 0
        self._stopped = False
        self._over: ev.RunFinished | None = None
        self._first: datetime | None = None
        self._last: datetime | None = None
        self._opened_at = ev.now()

    # --- what the rest of the program calls ---

    def poll(self) -> list[ev.AnyEvent]:
        now = time.monotonic()
        if self._planned is not None and now - self._looked_at < (OVER_SEC if self._over else LOOK_SEC):
            return []
        self._looked_at = now
        self._plans = runs_of(self.folder) or self._plans
        new = list(self._find_trials())
        self._from_run_results()
        plans: list[ev.AnyEvent] = list(self._plan_trials(new))
        alive = self._alive()
        told: list[ev.AnyEvent] = list(self._begin(alive))
        for trial in self._to_tell(new):
            told += self._tell(trial, alive)
        told += self._end(alive)
        planned = self._run_planned()
        if planned != self._planned:
            self._planned = planned
            plans.insert(0, planned)
        return [*plans, *in_order(told)]

    def liveness(self) -> Liveness:
        if self._over is not None:
            return Liveness.FINISHED
        return Liveness.LIVE if self._alive() else Liveness.STALE

    def close(self) -> None:
        pass

    # --- the plan ---

    @property
    def _several(self) -> bool:
        return len(self._plans) > 1

    def _arm(self) -> str:
        return arm_name(self.folder, self._plans[0], submission=self._several) if self._plans else self.folder.name

    def _run_planned(self) -> ev.RunPlanned:
        first = self._plans[0] if self._plans else TerminalBenchPlan(self.folder)
        arm = ev.ArmInfo(name=self._arm(), agent=first.agent, model=first.model, parameters=dict(first.parameters))
        return ev.RunPlanned(
            at=self._began(),
            run=self.folder.name if self._several else first.run or self.folder.name,
            name=self.folder.name,
            task_set=ev.TaskSetInfo(name=first.dataset or "unnamed", version=first.dataset_version),
            arms=(arm,),
            tasks=len({trial.task for trial in self._trials.values()}),
            trials=len(self._trials),
            attempts=sum(plan.attempts for plan in self._plans) or 1,
            concurrency=first.concurrency,
            timeout_factor=first.timeout_factor,
            engine_version=f"Terminal-Bench {first.version}".strip(),
            source="terminal-bench",
        )

    def _began(self) -> datetime:
        known = [plan.started for plan in self._plans if plan.started is not None]
        return min([*known, *([self._first] if self._first else [])], default=self._opened_at)

    def _last_sign(self) -> datetime:
        ends = [plan.ended for plan in self._plans if plan.ended is not None]
        return max([self._began(), *ends, *([self._last] if self._last else [])])

    def _find_trials(self) -> Iterator[Trial]:
        """Those that the plan names, there or not, and whatever else lies where trials lie."""
        for plan in self._plans:
            named = {task: [plan.folder / task / name for name in plan.trial_names(task)] for task in plan.tasks}
            for task in folders_in(plan.folder):
                if task.name not in named or {path.name for path in folders_in(task)} - {
                    path.name for path in named[task.name]
                }:
                    named[task.name] = folders_in(task) or named.get(task.name, [])
            for paths in named.values():
                for path in paths:
                    if str(path.relative_to(self.folder)) not in self._trials and is_inside(self.folder, path):
                        trial = Trial(self.folder, path, plan)
                        self._trials[trial.id] = trial
                        trial.look()
                        yield trial

    def _from_run_results(self) -> None:
        """Where trials' own files were left out, the run's results.json tells of them."""
        for plan in self._plans:
            missing = {
                t.folder.name: t for t in self._trials.values() if t.plan is plan and t.file.missing and not t.told
            }
            file = self._results.setdefault(plan.folder, JsonFile(self.folder, plan.folder / RESULTS, _MOST_RESULTS))
            if not missing or not file.look():
                continue
            for row in values.rows(values.within(file.value, "results")):
                trial = missing.get(values.text(row.get("trial_name")))
                if trial is not None:
                    trial.value = row
            file.value = None

    def _plan_trials(self, new: list[Trial]) -> Iterator[ev.AnyEvent]:
        """Attempts of a task are numbered by their run's start, and in a run by their own; what began earlier is
        first."""
        order = {plan.folder: number for number, plan in enumerate(self._plans)}
        late = self._last_sign()
        new.sort(key=lambda one: (order[one.plan.folder], started_at(one.value) or late, one.id))
        for position, trial in enumerate(new, len(self._trials) - len(new) + 1):
            self._attempts[trial.task] = self._attempts.get(trial.task, 0) + 1
            yield ev.TrialPlanned(
                at=self._began(),
                trial=trial.id,
                task=trial.task,
                arm=self._arm(),
                attempt=self._attempts[trial.task],
                position=position,
            )

    # --- trials ---

    def _to_tell(self, new: list[Trial]) -> Iterator[Trial]:
        fresh = {trial.id for trial in new}
        yield from new
        over = [trial for trial in self._trials.values() if trial.told and trial.id not in fresh]
        self._rechecked = self._rechecked % max(1, len(over))
        again = over[self._rechecked : self._rechecked + _RECHECKED]
        self._rechecked += _RECHECKED
        waiting = [trial for trial in self._trials.values() if not trial.told and trial.id not in fresh]
        for trial in [*waiting, *again]:
            if trial.look() and trial.told:
                trial.told = False
                trial.cut_off = True  # set aside below, as if it ran again
            yield trial

    def _tell(self, trial: Trial, alive: bool) -> Iterator[ev.AnyEvent]:
        if trial.value is not None:
            value, trial.value = trial.value, None
            if trial.cut_off and trial.end is not None:
                why = "its results.json was written anew"
                yield ev.TrialInterrupted(at=trial.end, trial=trial.id, run_number=1, reason=why)
            told = story(trial.id, trial.folder, value)
            last = told[-1]
            assert isinstance(last, ev.TrialFinished)
            trial.told, trial.running, trial.cut_off = True, False, False
            trial.end, trial.scored = last.at, last.outcome == "scored"
            self._first = min(told[0].at, self._first or told[0].at)
            self._last = max(last.at, self._last or last.at)
            yield from told
        elif trial.told or not trial.folder.is_dir():
            return
        elif alive and not trial.running:
            trial.running, trial.cut_off = True, False
            yield ev.TrialStarted(at=ev.now(), trial=trial.id)
        elif not alive and not trial.cut_off:
            yield from self._cut_off(trial)

    def _cut_off(self, trial: Trial) -> Iterator[ev.AnyEvent]:
        last = self._last_sign()
        broken = "" if trial.file.missing else trial.file.problem
        said = f"cut off: its results.json {broken or 'is missing'}, and nobody works on this run any more"
        if not trial.running:
            yield ev.TrialStarted(at=last, trial=trial.id)
        yield ev.TrialInterrupted(at=last, trial=trial.id, run_number=1, reason=said)
        place = Evidence("file", broken or "missing", RESULTS if broken else "")
        issue = Issue(Severity.ERROR, None, Code.HARNESS_INTERRUPTED, said, (place,))
        yield ev.IssueRaised(at=last, trial=trial.id, issue=issue)
        trial.running, trial.cut_off = False, True

    # --- the run ---

    def _finished(self) -> bool:
        """By its own word, or because everything that was planned has its result."""
        if not self._plans or not self._trials:
            return False
        return all(plan.ended is not None for plan in self._plans) or (
            all(plan.tasks for plan in self._plans)
            and all(trial.told or trial.value for trial in self._trials.values())
        )

    def _alive(self) -> bool:
        if self._finished():
            return False
        return self._owner.look(lambda: tuple(self._signs()))

    def _signs(self) -> Iterator[tuple[str, object]]:
        for plan in self._plans:
            yield from ((path.name, _size(path)) for path in files_in(self.folder, plan.folder, most=20))
        for trial in self._trials.values():
            if trial.told:
                yield trial.id, trial.end
                continue
            for part in ("sessions", "panes", "agent-logs"):
                for path in files_in(self.folder, trial.folder / part, most=20):
                    yield f"{trial.id}/{path.name}", _size(path)

    def _begin(self, alive: bool) -> Iterator[ev.AnyEvent]:
        if self._session == 0 or (alive and (self._over is not None or self._stopped)):
            self._session += 1
            at = self._began() if self._session == 1 else ev.now()
            self._over, self._stopped = None, False
            yield ev.EngineStarted(at=at, pid=0, host="", session=self._session, resumed=self._session > 1)

    def _end(self, alive: bool) -> Iterator[ev.AnyEvent]:
        if self._over is not None or (alive and not self._finished()):
            return
        last = self._last_sign()
        if not self._finished():
            if not self._stopped:
                self._stopped = True
                yield ev.EngineStopped(at=last, reason="no sign of life any more")
            return
        scored = all(trial.scored for trial in self._trials.values())
        seconds = seconds_between(self._began(), last) if self._first or self._last else None
        self._over = ev.RunFinished(at=last, exit_code=0 if scored else _UNSCORED, seconds=seconds, reason="done")
        yield self._over


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
