"""A SWE-bench evaluation as a stream of events, while it goes on or when it is over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers.foreign_times import seconds_between
from engine.readers.inside import folders_in
from engine.readers.owner_process import OwnerWatch
from engine.readers.reader import Liveness
from engine.readers.swe_bench_instance import LOG, REPORT, InstanceLog, Verdict, issues_of, read_log, read_verdict
from engine.readers.swe_bench_layout import Place, Shape
from engine.readers.swe_bench_report import Ending, Report, is_name, read_report

LOOK_SEC = 0.5
"""How often an evaluation that is not over is looked at."""
_WORDS, _READERS = ("swebench", "run_evaluation"), ("watch", "show", "runs", "triage", "compare")
_SETTLED_LOOKS = 2
"""A log that has not grown for so many looks and ends in an error is over."""


@dataclass
class _Instance:
    trial: str
    model: str
    name: str
    folder: Path
    stamp: tuple[int, ...] = ()
    started: bool = False
    tests: bool = False
    done: bool = False
    unchanged: int = 0


class SweBenchReader:
    def __init__(self, place: Place) -> None:
        self.folder = place.path
        self._place = place
        self._instances: dict[str, _Instance] = {}
        self._reports: dict[str, Report] = {}
        self._stamps: dict[str, tuple[int, ...]] = {}
        self._plan: ev.RunPlanned | None = None
        self._looked_at = 0.0
        self._owner = OwnerWatch(self.folder, _WORDS, _READERS)
        self._ended = False
        self._over = False
        self._times: list[datetime] = []
        self._unscored = False

    def poll(self) -> list[ev.AnyEvent]:
        first = self._plan is None
        if self._over or (not first and time.monotonic() - self._looked_at < LOOK_SEC and not self._ended):
            return []
        self._looked_at = time.monotonic()
        self._read_reports()
        known = len(self._instances)
        self._find()
        planned: list[ev.AnyEvent] = []
        if first or len(self._instances) != known:
            self._plan = self._planned()
            planned.append(self._plan)
            planned += self._trials(known)
        found: list[ev.AnyEvent] = []
        for instance in self._instances.values():
            if not instance.done:
                found += self._advance(instance)
        if first:
            found += self._run_issues()
            if self._times:
                found.append(ev.EngineStarted(at=min(self._times), pid=0, host="", session=1))
        found.sort(key=lambda event: event.at)
        return [*planned, *found, *self._end()]

    def liveness(self) -> Liveness:
        """A report is the harness's last word. Without one: whether somebody is at it, or everything here has ended."""
        if self._over:
            return Liveness.FINISHED
        if self._place.shape in (Shape.REPORT, Shape.LEADERBOARD):
            return Liveness.STALE  # some were still pending when it was written
        if self._owner.look(lambda: tuple(sorted((item.trial, item.stamp) for item in self._instances.values()))):
            return Liveness.LIVE
        if self._instances and all(item.done for item in self._instances.values()):
            self._ended = True
            return Liveness.FINISHED
        return Liveness.STALE

    def close(self) -> None:
        """Nothing is kept open."""

    # --- what there is ---

    def _read_reports(self) -> None:
        for model in self._place.models or {self._place.run_id: self.folder}:
            path = self._place.report_of(model)
            if path is None:
                continue
            stamp = _stamp(path)
            if stamp and stamp != self._stamps.get(model):
                root = self._place.top or self._place.root
                found = read_report(root, path)
                if found is not None:
                    self._reports[model], self._stamps[model] = found, stamp

    def _find(self) -> None:
        if self._place.shape is Shape.RUN:
            for folder in folders_in(self.folder):
                self._place.models.setdefault(folder.name, folder)
        for model, folder in (self._place.models or {self._place.run_id: self.folder / "\x01"}).items():
            named = dict.fromkeys(self._reports[model].endings) if model in self._reports else {}
            for name in [*named, *(path.name for path in folders_in(folder))]:
                trial = self._place.trial(model, name)
                if trial not in self._instances and is_name(name):
                    self._instances[trial] = _Instance(trial, model, name, folder / name)

    def _planned(self) -> ev.RunPlanned:
        models = sorted({item.model for item in self._instances.values()} or self._place.models)
        tasks = len({item.name for item in self._instances.values()})
        return ev.RunPlanned(
            at=self._written(),
            run=self._place.run_id,
            name=self._place.run_id if len(models) != 1 else _joined(models[0], self._place.run_id),
            task_set=ev.TaskSetInfo(name="SWE-bench"),
            arms=tuple(ev.ArmInfo(name=model, agent="", model=model) for model in models),
            tasks=tasks,
            trials=len(self._instances),
            source="swe-bench",
        )

    def _trials(self, known: int) -> Iterator[ev.AnyEvent]:
        at = self._written()
        for position, item in enumerate(self._instances.values()):
            if position >= known:
                repository = item.name.rpartition("-")[0].replace("__", "/")
                yield ev.TrialPlanned(
                    at=at,
                    trial=item.trial,
                    task=item.name,
                    arm=item.model,
                    attempt=1,
                    position=position,
                    category=repository,
                )

    def _written(self) -> datetime:
        """Reports have no time in them: where no log tells one, it is that of the file. Nothing is judged by it."""
        for path in (*(self._place.report_of(model) for model in self._place.models), self.folder):
            if path is not None and (stamp := _stamp(path)):
                return datetime.fromtimestamp(stamp[0] / 1e9, UTC)
        return datetime.fromtimestamp(0, UTC)

    # --- one instance ---

    def _advance(self, item: _Instance) -> Iterator[ev.AnyEvent]:
        report = self._reports.get(item.model)
        stamp = (*_stamp(item.folder / REPORT), *_stamp(item.folder / LOG))
        settled = item.stamp == stamp
        item.unchanged = item.unchanged + 1 if settled else 0
        if settled and report is None and not (0 < item.unchanged <= _SETTLED_LOOKS):
            return
        item.stamp = stamp
        log = read_log(self._place.root, item.folder)
        found, broken = read_verdict(self._place.root, item.folder)
        ending = report.endings.get(item.name) if report is not None else None
        if ending is Ending.PENDING:
            return
        yield from self._begin(item, log)
        over = (found is not None and found.resolved is not None) or report is not None
        # At the first look an error in a log is its end; where somebody writes on, once the log has come to rest.
        at_rest = item.unchanged >= _SETTLED_LOOKS or not self._owner.alive
        if over or (log.broke and at_rest):
            item.done = True
            yield from self._finish(item, log, found, broken, ending)

    def _begin(self, item: _Instance, log: InstanceLog) -> Iterator[ev.AnyEvent]:
        if log.began is not None and not item.started:
            item.started = True
            self._times.append(log.began)
            yield ev.TrialStarted(at=log.began, trial=item.trial)
            yield ev.PhaseStarted(at=log.began, trial=item.trial, phase=Phase.PREPARE)
        if log.tests_began is not None and not item.tests and log.began is not None:
            item.tests = True
            seconds = seconds_between(log.began, log.tests_began) or 0.0
            yield ev.PhaseFinished(at=log.tests_began, trial=item.trial, phase=Phase.PREPARE, seconds=seconds)
            yield ev.PhaseStarted(at=log.tests_began, trial=item.trial, phase=Phase.VERIFY)

    def _finish(
        self, item: _Instance, log: InstanceLog, found: Verdict | None, broken: str, ending: Ending | None
    ) -> Iterator[ev.AnyEvent]:
        report = self._reports.get(item.model)
        at = log.last or self._written()
        if log.last is not None:
            self._times.append(log.last)
        resolved = found.resolved if found is not None else None
        if resolved is None and ending in (Ending.RESOLVED, Ending.UNRESOLVED) and not broken and not log.broke:
            resolved = ending is Ending.RESOLVED
        if item.started:
            phase = Phase.VERIFY if item.tests else Phase.PREPARE
            began = log.tests_began if item.tests else log.began
            seconds = seconds_between(began, at) or 0.0
            yield ev.PhaseFinished(at=at, trial=item.trial, phase=phase, seconds=seconds, ok=resolved is not None)
        issues = [*issues_of(log, found, broken), *self._said(item, ending, resolved, found)]
        if not issues and resolved is None and ending not in (Ending.MISSING,):
            text = "no verdict: no report, and the log tells no error"
            issues.append(Issue(Severity.FATAL, Phase.VERIFY, Code.VERIFIER_RESULT_INVALID, text))
        for issue in issues:
            yield ev.IssueRaised(at=at, trial=item.trial, issue=issue)
        reward = None if resolved is None else float(resolved)
        self._unscored |= reward is None
        yield ev.RewardRecorded(
            at=at,
            trial=item.trial,
            reward=reward,
            rewards=found.rewards if found is not None else {},
            source=REPORT if found is not None and found.resolved is not None else "report of the run",
            tests_passed=found.tests_passed if found is not None else None,
            tests_total=found.tests_total if found is not None else None,
        )
        yield ev.TrialFinished(
            at=at,
            untimed=log.last is None,
            trial=item.trial,
            outcome="scored" if resolved is not None else "cancelled" if ending is Ending.MISSING else "unscored",
            reward=reward,
            passed=resolved,
            seconds=seconds_between(log.began, log.last),
            cost_usd=report.costs.get(item.name) if report is not None else None,
        )

    def _said(
        self, item: _Instance, ending: Ending | None, resolved: bool | None, found: Verdict | None
    ) -> Iterator[Issue]:
        """What only the run's report tells, and where it says something else than the instance's own."""
        path = self._place.report_of(item.model)
        name = path.name if path is not None else ""
        file = name if self._place.shape is Shape.REPORT and not item.folder.is_dir() else ""
        if ending is Ending.EMPTY:
            text = "the prediction holds no patch: there was nothing to evaluate"
            place = (Evidence(name, "empty patch", file, 0),)
            yield Issue(Severity.ERROR, None, Code.NOTHING_HANDED_OVER, text, place)
        elif ending is Ending.ERROR and resolved is None:
            told = self._reports[item.model].lists.get(item.name, "")
            if not item.folder.is_dir():
                text = f"the evaluation broke off ({told}), and no log of it is here"
                yield Issue(Severity.FATAL, Phase.VERIFY, Code.VERIFIER_CRASHED, text, (Evidence(name, told, file, 0),))
        elif ending in (Ending.RESOLVED, Ending.UNRESOLVED) and found is not None:
            contradicted = found.resolved is not None and found.resolved is not (ending is Ending.RESOLVED)
            if contradicted:
                text = f"{name} says {ending}, the instance's own {REPORT} says the opposite; the latter is shown"
                place = (Evidence(REPORT, f"resolved: {str(found.resolved).lower()}", REPORT, 1),)
                yield Issue(Severity.WARNING, Phase.VERIFY, Code.REWARD_CONTRADICTED, text, place)

    # --- the run ---

    def _run_issues(self) -> Iterator[ev.AnyEvent]:
        at = self._written()
        for model, report in self._reports.items():
            if report.only_resolved and len(report.endings) >= len(self._instances):
                text = (
                    f"{model}: the report names what was resolved and what was not evaluated; instances that were "
                    "evaluated and not resolved are named nowhere, so no rate can be told from it"
                )
                issue = Issue(Severity.WARNING, None, Code.VERIFIER_RESULT_INVALID, text)
                yield ev.RunIssue(at=at, issue=issue)
            if report.unstopped:
                text = f"{model}: containers were left running: {', '.join(report.unstopped[:5])}"
                yield ev.RunIssue(at=at, issue=Issue(Severity.WARNING, Phase.CLEANUP, Code.LEFTOVER, text))

    def _end(self) -> Iterator[ev.AnyEvent]:
        done = all(item.done for item in self._instances.values())
        told = bool(self._reports) and len(self._reports) >= len(self._place.models)
        if self._over or not done or not (told or self._ended):
            return
        self._over = True
        at = max(self._times, default=self._written())
        seconds = seconds_between(min(self._times), at) if self._times else None
        yield ev.RunFinished(at=at, untimed=not self._times, exit_code=3 if self._unscored else 0, seconds=seconds)


def _joined(model: str, run_id: str) -> str:
    return run_id if model in run_id else f"{model} {run_id}"


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return ()
    return (found.st_mtime_ns, found.st_size)
