"""One trial folder of a Harbor job, followed while it runs, and told as events once it is over."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.readers import harbor_evidence as evidence
from engine.readers import json_values as values
from engine.readers.foreign_times import seconds_between
from engine.readers.harbor_exceptions import issue_of
from engine.readers.harbor_log import MOST_READ, TRIAL_LOG, Retry, TrialLog, trial_log
from engine.readers.harbor_record import HarborRecord, Timed, Verdict, harbor_record
from engine.readers.inside import files_in, read_inside
from engine.readers.json_file import JsonFile

RESULT = "result.json"
CONFIG = "config.json"
ACCEPTED = 1.0
_LIMIT = "timed out after "


class HarborTrial:
    """`record` is what result.json says, None while there is none; `config` is what defines the trial."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self.record: HarborRecord | None = None
        self.task: object = None
        self.agent: object = None
        self.told = False
        """Its end has been told."""
        self.running = False
        """Its start has been told, its end not."""
        self.cut_off = False
        """It has been told as cut off."""
        self.run_number = 1
        self.gone_at = 0.0
        """When its folder was first missed, by the monotonic clock; 0: it is there."""
        self.phase: Phase | None = None
        self.activity = ""
        self._result = JsonFile(folder, folder / RESULT)
        self._config = JsonFile(folder, folder / CONFIG)

    def look(self) -> bool:
        """Whether result.json is another one than before, or has gone."""
        changed = self._result.look()
        if changed:
            value, self._result.value = self._result.value, None  # thousands of them would not fit into memory
            self.record = harbor_record(value)
            self._define(values.within(value, "config"))
        elif self._result.missing and self.record is not None:
            self.record = None
            self._result = JsonFile(self.folder, self.folder / RESULT)
            changed = True
        if self.record is None and self._config.look():
            value, self._config.value = self._config.value, None
            self._define(value)
        return changed

    @property
    def broken(self) -> str:
        """What is wrong with a result.json that never was whole."""
        return self._result.problem if self.record is None and not self._result.missing else ""

    def _define(self, config: object) -> None:
        self.task = values.within(config, "task") or self.task
        self.agent = values.within(config, "agent") or self.agent

    @property
    def defined(self) -> bool:
        return self.task is not None

    # --- while it runs ---

    def signs(self) -> tuple[object, ...]:
        """What moves while it runs: the sizes of its logs. Once it is over: which record it has."""
        if self.record is not None:
            return self.record.id, self.record.finished
        found: list[object] = []
        for part in ("", "agent", "verifier", "steps"):
            for path in files_in(self.folder, self.folder / part if part else self.folder, most=50):
                try:
                    found.append((path.name, path.stat().st_size))
                except OSError:
                    continue
        return tuple(found)

    def began(self, job_began: datetime, latest: datetime) -> datetime:
        """Harbor writes a trial's start down with its end. Until then the date of its config is taken, where it can be
        true: not before the job, not after `latest`, the job's last sign of life."""
        try:
            written = datetime.fromtimestamp((self.folder / CONFIG).stat().st_mtime, UTC)
        except (OSError, ValueError, OverflowError):
            return latest
        return written if job_began <= written <= latest else latest

    def left_off(self, last: datetime) -> Iterator[ev.AnyEvent]:
        """Nobody works on it any more, since `last`."""
        broken = f"its result.json {self.broken}" if self.broken else "it has no result"
        said = f"cut off: {broken}, and nobody works on this job any more; its last sign of life is of {last:%F %T} UTC"
        yield ev.TrialInterrupted(at=last, trial=self.name, run_number=self.run_number, reason=said)
        place = (
            Evidence("log", "ends here", "trial.log")
            if not self.broken
            else Evidence("file", self.broken, "result.json")
        )
        issue = Issue(Severity.ERROR, None, Code.HARNESS_INTERRUPTED, said, (place,))
        yield ev.IssueRaised(at=last, trial=self.name, issue=issue)

    def observed(self, at: datetime) -> Iterator[ev.AnyEvent]:
        """Where a running trial stands, from the files it has so far; whether it still prepares or its agent works
        shows only where the agent's logs are written straight into the folder."""
        log = self.log()
        phase = Phase.PREPARE
        if any(path.name != "trajectory.json" for path in files_in(self.folder, self.folder / "agent", most=3)):
            phase = Phase.AGENT
        if log.collecting:
            phase = Phase.COLLECT
        if files_in(self.folder, self.folder / "verifier", most=1):
            phase = Phase.VERIFY
        if phase is not self.phase:
            self.phase = phase
            yield ev.PhaseStarted(at=at, trial=self.name, phase=phase)
        activity = f"step {log.step_number}: {log.step}" if log.step else ""
        if not activity and phase is Phase.PREPARE:
            activity = "prepares, or its agent works"
        if activity != self.activity:
            self.activity = activity
            yield ev.ActivityChanged(at=at, trial=self.name, activity=activity)

    def log(self) -> TrialLog:
        return trial_log(read_inside(self.folder, self.folder / TRIAL_LOG, MOST_READ) or b"")

    # --- once it is over ---

    def story(self, retries: list[Retry]) -> list[ev.AnyEvent]:
        """All that the files tell of a trial that is over, from its start to its end, in order."""
        record = self.record
        assert record is not None
        start = record.started or record.finished or datetime.fromtimestamp(0, UTC)
        end = max([start, *(moment for moment in _moments(record) if moment is not None)])
        told = list(_Story(self, record, start, end).told(retries))
        return sorted(told, key=lambda event: event.at)


def _moments(record: HarborRecord) -> Iterator[datetime | None]:
    yield record.finished
    for timed in record.phases:
        yield timed.start
        yield timed.end


class _Story:
    def __init__(self, trial: HarborTrial, record: HarborRecord, start: datetime, end: datetime) -> None:
        self.trial, self.record, self.start, self.end = trial, record, start, end
        self.name, self.folder = trial.name, trial.folder
        self.log = trial.log()
        self.steps = tuple(dict.fromkeys(timed.step for timed in record.phases if timed.step))
        self.timed_out = any(raised.type == "AgentTimeoutError" for raised in record.raised)

    def told(self, retries: list[Retry]) -> Iterator[ev.AnyEvent]:
        yield ev.TrialStarted(
            at=self.start,
            untimed=self.record.started is None,
            trial=self.name,
            run_number=max(self.trial.run_number, len(retries) + 1),
        )
        for retry in retries:
            yield ev.IssueRaised(at=self.start, trial=self.name, issue=_thrown_away(retry))
        for timed in self.record.phases:
            yield from self._phase(timed)
        yield from self._raise([(self._at(Phase.COLLECT), issue) for issue in self.log.issues])
        yield from self._hooks()
        for step in self.steps or ("",):
            yield from self._artifacts(step)
        if not self.record.verdict.rewards or self.record.verdict.reward != ACCEPTED:
            yield from self._killed()
        for raised in self.record.raised:
            issue = issue_of(raised, self.folder, self.name, scored=self.record.verdict.reward is not None)
            yield ev.IssueRaised(at=max(self.start, min(raised.at or self.end, self.end)), trial=self.name, issue=issue)
        yield from self._verdicts()
        yield self._finished()

    def _phase(self, timed: Timed) -> Iterator[ev.AnyEvent]:
        failed = next((one for one in self.record.raised if (one.phase, one.step) == (timed.phase, timed.step)), None)
        limit = _limit(failed.message) if failed is not None and failed.type.endswith("TimeoutError") else None
        start = min(max(timed.start, self.start), self.end)
        end = min(timed.end or self.end, self.end)
        seconds = seconds_between(timed.start, timed.end) if timed.end else seconds_between(start, end)
        yield ev.PhaseStarted(at=start, trial=self.name, phase=timed.phase, limit_sec=limit, step=timed.step)
        if timed.phase is Phase.AGENT:
            yield ev.AgentFinished(
                at=max(start, end),
                trial=self.name,
                exit_code=evidence.agent_exit(self.folder, timed.step),
                seconds=seconds,
                timed_out=failed is not None and failed.type == "AgentTimeoutError",
                step=timed.step,
            )
        yield ev.PhaseFinished(
            at=max(start, end),
            trial=self.name,
            phase=timed.phase,
            seconds=seconds or 0.0,
            ok=failed is None and timed.end is not None,
            step=timed.step,
        )

    def _at(self, phase: Phase, step: str = "") -> datetime:
        """When this phase was over: what has no time of its own belongs there."""
        ends = [t.end for t in self.record.phases if t.phase is phase and t.end and (not step or t.step == step)]
        return min(ends[-1], self.end) if ends else self.end

    def _raise(self, issues: list[tuple[datetime, Issue]]) -> Iterator[ev.AnyEvent]:
        for at, issue in issues:
            yield ev.IssueRaised(at=at, trial=self.name, issue=issue)

    def _hooks(self) -> Iterator[ev.AnyEvent]:
        over = [hook for hook in self.log.hooks if hook.over]
        for number, hook in enumerate(over, 1):
            yield ev.HookFinished(
                at=self._at(Phase.COLLECT, hook.step),
                trial=self.name,
                number=number,
                of=len(over),
                service=hook.service,
                command=hook.command,
                exit_code=hook.exit_code,
                seconds=hook.seconds,
                timed_out=hook.timed_out,
                output=hook.output,
                step=hook.step,
            )

    def _artifacts(self, step: str) -> Iterator[ev.AnyEvent]:
        at = self._at(Phase.COLLECT, step)
        events, issues = evidence.artifacts(
            self.name, self.folder, self.log, reached_agent=self.record.reached_agent, step=step
        )
        for event in events:
            yield msgspec.structs.replace(event, at=at)
        yield from self._raise([(at, issue) for issue in issues])

    def _killed(self) -> Iterator[ev.AnyEvent]:
        by_harbor = self.timed_out or self.record.cancelled
        for step in self.steps or ("",):
            code = evidence.agent_exit(self.folder, step)
            signs = evidence.killed_signs(self.folder, code, ended_by_harbor=by_harbor, step=step)
            yield from self._raise([(self._at(issue.phase or Phase.AGENT, step), issue) for issue in signs])

    def _verdicts(self) -> Iterator[ev.AnyEvent]:
        for verdict in self.record.step_verdicts:
            yield self._reward(verdict, self._at(Phase.VERIFY, verdict.step))
        verdict = self.record.verdict
        if verdict.rewards or any(timed.phase is Phase.VERIFY for timed in self.record.phases):
            yield self._reward(verdict, self._at(Phase.VERIFY))
        if verdict.rewards and verdict.reward is None:
            said = ", ".join(f"{key}={value:g}" for key, value in list(verdict.rewards.items())[:10])
            why = (
                "Harbor does not count this trial's reward, because of the exception that it recorded"
                if self.record.raised
                else "none of the rewards is named reward, so there is no primary one"
            )
            issue = Issue(
                Severity.WARNING,
                Phase.VERIFY,
                Code.VERIFIER_RESULT_INVALID,
                f"{why}: {said}",
                (Evidence("rewards", said, RESULT),),
            )
            yield ev.IssueRaised(at=self._at(Phase.VERIFY), trial=self.name, issue=issue)

    def _reward(self, verdict: Verdict, at: datetime) -> ev.RewardRecorded:
        tests = evidence.test_counts(self.folder, verdict.step)
        return ev.RewardRecorded(
            at=at,
            trial=self.name,
            reward=verdict.reward,
            rewards=verdict.rewards,
            source=RESULT,
            tests_passed=tests[0] if tests else None,
            tests_total=tests[1] if tests else None,
            step=verdict.step,
        )

    def _finished(self) -> ev.TrialFinished:
        record, reward = self.record, self.record.verdict.reward
        outcome = "cancelled" if record.cancelled else "unscored" if reward is None else "scored"
        ends = [moment for moment in _moments(record) if moment is not None]
        spans = (seconds_between(timed.start, timed.end) for timed in record.phases if timed.phase is Phase.AGENT)
        agent = [seconds for seconds in spans if seconds is not None]
        return ev.TrialFinished(
            at=self.end,
            untimed=all(moment is None for moment in _moments(record)),
            trial=self.name,
            outcome=outcome,
            reward=reward,
            passed=reward == ACCEPTED if outcome == "scored" else None,
            seconds=seconds_between(record.started, max(ends)) if ends else None,
            agent_seconds=sum(agent) if agent else None,
            tokens_in=record.usage.tokens_in,
            tokens_cached=record.usage.tokens_cached,
            tokens_out=record.usage.tokens_out,
            cost_usd=record.usage.cost_usd,
            timed_out=self.timed_out,
        )


def _limit(message: str) -> float | None:
    try:
        return float(message.rpartition(_LIMIT)[2].split()[0]) if _LIMIT in message else None
    except (ValueError, IndexError):
        return None


def _thrown_away(retry: Retry) -> Issue:
    said = (
        f"an earlier run of this trial ended with {retry.exception}: Harbor deleted its files and ran it again; "
        "what that run cost is known to nobody"
    )
    log = Evidence("log", f"failed with exception {retry.exception}, retrying", "../job.log", retry.line)
    return Issue(Severity.WARNING, None, Code.HARNESS_FAILED, said, (log,))
