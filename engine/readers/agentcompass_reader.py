"""A results folder of AgentCompass as a stream of events, while it grows or when it is over.

progress.jsonl           what happened and when: attempts, phases, retries, the end
run_info.json            what is measured; beside it the plan of each attempt as it was resolved
run.log                  the warnings that only a log tells
details/<state>/<task>--<sha256>/attempt-<n>/
  result.json            verdict and issues; the task's folder moves from running to normal, error or fatal when it ends
  retries/               what was set aside when something was tried again
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers import json_values as values
from engine.readers.agentcompass_ends import finished, without_record
from engine.readers.agentcompass_layout import LOG_FROM_TRIAL, AgentCompassFolder
from engine.readers.agentcompass_log import LogLine, RunLog
from engine.readers.agentcompass_plan import RunInfo, planned_attempts, run_info, trial_id
from engine.readers.agentcompass_progress import Known, ProgressFold, Retry
from engine.readers.agentcompass_result import RESULT, attempt_result, cost_of, issue_of, line_of
from engine.readers.foreign_times import in_utc, parsed, seconds_between
from engine.readers.json_file import JsonFile, NotJson, parse_json
from engine.readers.masked_text import masked
from engine.readers.owner_process import OwnerWatch
from engine.readers.reader import Liveness

MOST_TRIALS = 200_000
"""So many are listed; what is planned beyond them is counted."""
SCAN_SEC = 5.0
LOOK_SEC = 0.5
"""How often files beside the two that grow are looked at."""
_WORDS, _READERS = ("agentcompass",), ("watch", "show", "runs", "triage", "compare")
_CANCELLED, _UNSCORED = 130, 3


class AgentCompassReader:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = AgentCompassFolder(folder)
        self._info_file = JsonFile(folder, folder / "run_info.json")
        self._info = RunInfo()
        self._progress_file = self._files.followed("progress.jsonl")
        self._log_file = self._files.followed("run.log")
        self._fold = ProgressFold()
        self._log = RunLog()
        self._planned: set[str] = set()
        self._tasks: set[str] = set()
        self._planned_up_to: dict[str, int] = {}
        """Of each task all attempts up to this one are planned."""
        self._scanned_at: float | None = None
        self._done: set[str] = set()
        self._lines: dict[str, list[LogLine]] = {}
        self._said: set[str] = set()
        self._plan: ev.RunPlanned | None = None
        self._owner = OwnerWatch(folder, _WORDS, _READERS)
        self._looked_at = 0.0
        self._over = False
        self._unscored = False

    def poll(self) -> list[ev.AnyEvent]:
        lines = self._progress_file.new_lines()
        first = self._plan is None
        logged = self._log_file.new_lines()
        if not first and not lines and not logged and time.monotonic() - self._looked_at < LOOK_SEC:
            return []
        self._looked_at = time.monotonic()
        changed = self._info_file.look()
        if changed or first:
            self._info = run_info(self._info_file.value)
            self._log.begin(_as_written(self._info.started_at))
        found: list[ev.AnyEvent] = []
        news = self._log.feed(logged)
        told = [told for line in lines for told in self._fold.feed(line)]
        if self._fold.ended or self._info.status:
            self._read_on_log(news)
        found += self._run_plan()
        found += self._plan_tasks([item for item in told if isinstance(item, Known)])
        found += self._log_issues(news)
        for item in told:
            match item:
                case Known():
                    pass
                case Retry():
                    found += self._retried(item)
                case _:
                    found.append(item)
        if not self._fold.sessions and first and (began := self._began()) is not None:
            found.append(ev.EngineStarted(at=began, pid=0, host="", session=1))
        found += self._ended_trials()
        found += self._end()
        planned = [event for event in found if isinstance(event, ev.RunPlanned | ev.TrialPlanned)]
        rest = [event for event in found if not isinstance(event, ev.RunPlanned | ev.TrialPlanned)]
        return [*planned, *sorted(rest, key=lambda event: event.at)]

    def liveness(self) -> Liveness:
        """The files' own word for the end; else a process that is at it, or content that moves."""
        if self._over or self._fold.ended or self._info.status:
            return Liveness.FINISHED
        alive = self._owner.look(lambda: (self._progress_file.offset, self._log_file.offset, self._fold.last_at))
        return Liveness.LIVE if alive else Liveness.STALE

    def close(self) -> None:
        self._progress_file.close()
        self._log_file.close()

    # --- the plan ---

    def _began(self) -> datetime | None:
        return self._fold.began_at or in_utc(self._info.started_at)

    def _read_on_log(self, news: list[LogLine]) -> None:
        """A run that is over says no more: what its log still holds belongs to this look."""
        while lines := self._log_file.new_lines():
            news += self._log.feed(lines)

    def _run_plan(self) -> Iterator[ev.AnyEvent]:
        """Again whenever more is known: how many tasks there are, which version the agent is."""
        info = self._info
        tasks = max(self._fold.total_tasks or 0, len(info.tasks), len(self._tasks))
        plan = ev.RunPlanned(
            at=self._began() or ev.now(),
            run=info.run or self.folder.name,
            name=f"{info.run or self.folder.name} · {info.benchmark} {info.arm}" if info.model else self.folder.name,
            task_set=ev.TaskSetInfo(name=info.benchmark),
            arms=(
                ev.ArmInfo(
                    name=info.arm,
                    agent=info.harness,
                    agent_version=self._log.version,
                    model=info.model,
                    parameters=dict(info.parameters),
                ),
            ),
            tasks=tasks,
            trials=max(len(self._planned), tasks * (info.attempts if info.all_attempts else 1)),
            attempts=info.attempts,
            concurrency=info.concurrency,
            timeout_factor=info.timeout_factor,
            source="agentcompass",
        )
        before = self._plan
        if before is None or (plan.arms, plan.tasks, plan.run) != (before.arms, before.tasks, before.run):
            self._plan = plan
            yield plan

    def _plan_tasks(self, known: list[Known]) -> Iterator[ev.AnyEvent]:
        """The request's order first; folders tell of tasks that no event and no request names."""
        scanned = [self._files.index(folder) for folder in self._files.task_folders()] if self._scan_due() else []
        categories = {index.task: index.category for index in scanned} | {item.task: item.category for item in known}
        for task in self._info.tasks:
            yield from self._plan_task(task, categories.get(task, ""))
        for item in known:
            yield from self._plan_task(item.task, item.category, item.attempt)
        for index in scanned:
            for attempt in index.attempts or (1,):
                yield from self._plan_task(index.task, index.category, attempt)

    def _scan_due(self) -> bool:
        """At first, at the end, and now and then where no event tells of tasks."""
        due = self._scanned_at is None or (self._ending() and not self._over)
        if not due and not self._progress_file.offset and self._scanned_at is not None:
            due = time.monotonic() - self._scanned_at > SCAN_SEC
        if due:
            self._scanned_at = time.monotonic()
        return due

    def _plan_task(self, task: str, category: str, attempt: int = 1) -> Iterator[ev.AnyEvent]:
        if not task or max(attempt, self._info.attempts) <= self._planned_up_to.get(task, 0):
            return
        self._tasks.add(task)
        if len(self._planned) >= MOST_TRIALS:
            return
        numbers = {attempt}
        if self._info.all_attempts:
            self._planned_up_to[task] = self._info.attempts
            numbers.update(range(1, self._info.attempts + 1))
        unknown = [number for number in sorted(numbers) if trial_id(task, number) not in self._planned]
        plans = planned_attempts(self._one_plan(task)) if unknown else {}
        for number in unknown:
            trial = trial_id(task, number)
            self._planned.add(trial)
            plan = plans.get((task, number))
            yield ev.TrialPlanned(
                at=self._began() or ev.now(),
                trial=trial,
                task=task,
                arm=self._info.arm,
                attempt=number,
                position=len(self._planned) - 1,
                cpus=plan.cpus if plan else 0,
                memory_mb=plan.memory_mb if plan else 0,
                limits=dict(plan.limits) if plan else {},
                category=category,
            )

    def _one_plan(self, task: str) -> object:
        plans = values.mapping(values.within(self._info_file.value, "resolved_execution_plans"))
        return {"resolved_execution_plans": {task: plans.get(task)}}

    # --- what the log and the retries say ---

    def _log_issues(self, news: list[LogLine]) -> Iterator[ev.AnyEvent]:
        """Lines of a trial wait for its end: there they are evidence, or issues of their own. Those of the run are said
        once, with how often they came in this look."""
        times: dict[str, int] = {}
        for line in news:
            times[line.text] = times.get(line.text, 0) + 1
        for line in news:
            trial = trial_id(line.task, line.attempt) if line.task and line.attempt else ""
            if trial in self._planned:
                self._lines.setdefault(trial, []).append(line)
            elif line.text not in self._said:
                self._said.add(line.text)
                count = times[line.text]
                message = line.text if count == 1 else f"{line.text} ({count} times)"
                place = Evidence(f"run.log, {line.logger}", line.text, "run.log", line.number)
                severity = Severity.WARNING if line.level == "WARNING" else Severity.ERROR
                issue = Issue(severity, None, line.code, message, (place,))
                yield ev.RunIssue(at=line.at or self._began() or ev.now(), issue=issue)

    def _retried(self, retry: Retry) -> Iterator[ev.AnyEvent]:
        data = self._files.read(retry.trial, f"retries/{retry.record}") if retry.record else None
        record = _parsed(data)
        given = [issue_of(row) for row in values.rows(values.within(record, "issues"))]
        why = given[0] if given else None
        text = why.message if why is not None else f"{retry.stage or 'it'} failed"
        reason = f"tried again ({retry.number} of {retry.of or retry.number}) after: {text}"
        if retry.all_of_it and retry.trial in self._fold.attempts:
            cost = cost_of(values.within(record, "discarded_result"))
            yield from self._fold.again(retry.trial, retry.at, cost, reason)
        place: tuple[Evidence, ...] = ()
        if data is not None:
            file = f"retries/{retry.record}"
            place = (Evidence("what was set aside", text, file, line_of(data, b'"issues"')),)
        phase = why.phase if why is not None else (Phase.VERIFY if retry.again == "evaluate" else None)
        code = why.code if why is not None else Code.HARNESS_FAILED
        issue = Issue(Severity.WARNING, phase, code, reason, place)
        yield ev.IssueRaised(at=retry.at, trial=retry.trial, issue=issue)

    # --- ends ---

    def _ending(self) -> bool:
        return bool(self._fold.ended or self._info.status)

    def _ended_trials(self) -> Iterator[ev.AnyEvent]:
        ending = self._ending()
        if not self._progress_file.offset or ending:
            waiting = [trial for trial in self._planned if trial not in self._done]
        else:
            ended = self._fold.attempts.values()
            waiting = [known.trial for known in ended if known.ended_at is not None and known.trial not in self._done]
        for trial in sorted(waiting):
            data = self._files.read(trial, RESULT)
            value = _parsed(data)
            known = self._fold.attempts.get(trial)
            if isinstance(value, dict) and value.get("status"):
                self._done.add(trial)
                result = attempt_result(value, data or b"")
                self._unscored |= result.reward is None
                issues = tuple(self._with_log(trial, result.issues))
                yield from finished(trial, known, result, issues, self._began())
            elif ending:
                self._done.add(trial)
                self._unscored = True
                at = self._fold.ended_at or in_utc(self._info.finished_at) or self._fold.last_at or ev.now()
                yield from without_record(trial, known, data, at, cancelled=self._status() == "cancelled")
        for known in self._fold.attempts.values():  # one that began again after its end is not done
            if known.trial in self._done and known.ended_at is None and not ending:
                self._done.discard(known.trial)

    def _with_log(self, trial: str, issues: tuple[Issue, ...]) -> Iterator[Issue]:
        """The result's issues with the log's lines about them, then the lines that no issue tells."""
        left = list(self._lines.pop(trial, ()))
        for issue in issues:
            text = issue.message.partition(": ")[2] or issue.message
            about = [line for line in left if text[:80] in line.text or issue.message[:80] in line.text]
            left = [line for line in left if line not in about]
            evidence = tuple(Evidence("run.log", line.text, LOG_FROM_TRIAL, line.number) for line in about[-2:])
            yield Issue(issue.severity, issue.phase, issue.code, issue.message, (*evidence, *issue.evidence))
        for line in left:
            if issues and "verify failed" in line.text:
                continue  # of a try that was set aside: its retry tells it
            place = (Evidence("run.log", line.text, LOG_FROM_TRIAL, line.number),)
            severity = Severity.WARNING if line.level == "WARNING" else Severity.ERROR
            yield Issue(severity, None, line.code, line.text, place)

    def _status(self) -> str:
        return self._fold.ended or self._info.status

    def _end(self) -> Iterator[ev.AnyEvent]:
        """Once, when every trial has its end."""
        status = self._status()
        if not status or self._over:
            self._over = bool(status)  # a resumed run goes on
            return
        self._over = True
        at = self._fold.ended_at or in_utc(self._info.finished_at) or self._fold.last_at or ev.now()
        reason = masked(self._fold.error or self._info.error)
        if reason and status == "failed" and "FATAL issues" not in reason:
            place = (Evidence("run_info.json", reason, "run_info.json", 0),)
            yield ev.RunIssue(at=at, issue=Issue(Severity.FATAL, None, Code.ENGINE_FAILED, reason, place))
        code = _CANCELLED if status == "cancelled" else _UNSCORED if self._unscored else 0
        seconds = seconds_between(self._began(), at)
        words = "" if status == "completed" else f"{status}: {reason}" if reason else status
        yield ev.RunFinished(at=at, exit_code=code, seconds=seconds, reason=words)


def _parsed(data: bytes | None) -> object:
    if not data:
        return None
    try:
        return parse_json(data)
    except NotJson:
        return None


def _as_written(value: object) -> datetime | None:
    """With the zone of its writer, in which its log has its times of day."""
    return parsed(value)
