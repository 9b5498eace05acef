"""A run: admits trials, starts them, keeps its folder and answers commands until nothing is left to do."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from engine import events as ev
from engine.environments.environment import Provider
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.runs.admission import Admission
from engine.runs.atomic_file import write_atomically
from engine.runs.card import RunCard
from engine.runs.event_log import EventLog
from engine.runs.harbor_writer import HarborWriter
from engine.runs.host import HOST_SAMPLE_SEC, free_space, sample_host
from engine.runs.open_files import more_than_fit
from engine.runs.outage import Outage
from engine.runs.plan import Plan, PlannedTrial
from engine.runs.rerun import want_again
from engine.runs.resume import set_one_aside
from engine.runs.spend_cap import SpendCap
from engine.runs.start_stop import StartStop
from engine.trial.engine_fault import engine_fault, traceback_of
from engine.trial.job import TrialJob
from engine.trial.trial import run_trial
from engine.trial_state import FAILED, PASSED, REFUSED, WAITING

LOW_DISK_BYTES = 512 << 20
FORCE_SEC = 20.0
OK, UNSCORED, UNUSABLE, INTERRUPTED = 0, 3, 2, 130
_DISK = "disk"


class Run:
    """One engine process's share of a run. `todo` is what it is to run, in order."""

    def __init__(
        self,
        folder: Path,
        card: RunCard,
        plan: Plan,
        todo: list[PlannedTrial],
        log: EventLog,
        provider: Provider,
        host_env: Mapping[str, str],
        *,
        disk_folders: tuple[Path, ...] = (),
    ) -> None:
        self.folder = folder
        self.card = card
        self.log = log
        self.provider = provider
        self.host_env = host_env
        self.harbor = HarborWriter(folder, card, plan, log.state)
        self._plan = plan
        self.queue = list(todo)
        self.admission = Admission(
            card.conduct.concurrency,
            card.conduct.host.cpus,
            card.conduct.host.memory_mb,
        )
        self._disk_folders = (folder, *disk_folders)
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._wake = anyio.Event()
        self._paused = False
        self._cancelled = False
        self._reason = ""
        self._disk_was_full = False
        self._unwritable = False
        self._starts = StartStop()
        self._outage = Outage(provider.answers, lambda issue: log.append(ev.RunIssue(issue=issue)), self.wake)
        self._cap = SpendCap(card.conduct.max_cost_usd)
        self._began = time.monotonic()
        self._forced = anyio.Event()
        self._over = anyio.Event()

    async def execute(self) -> int:
        """Run everything in `todo`; returns the run's exit code. Cancelled trials are cleaned up before it returns."""
        self._store(self.harbor.run_started)
        async with anyio.create_task_group() as group:
            group.start_soon(sample_host, self.log, self._disk_folders)
            group.start_soon(self._watch_for_force)
            group.start_soon(self._outage.watch)
            await self._admit_all(group)
            self._over.set()
            group.cancel_scope.cancel()
        return self._finish()

    # --- commands ---

    def handle(self, command: dict[str, Any]) -> dict[str, Any]:
        """A command from the control socket. Answers at once; what it asks for happens soon."""
        match command.get("command"):
            case "ping":
                return {"ok": True}
            case "cancel":
                trial = str(command.get("trial") or "")
                return self.cancel_trial(trial) if trial else self.cancel(force=bool(command.get("force")))
            case "pause":
                if not self._paused:
                    self._paused = True
                    self.log.append(ev.RunPaused())
                return {"ok": True}
            case "continue":
                if self._paused:
                    self._paused = False
                    self.log.append(ev.RunContinued())
                    self.wake()
                return {"ok": True}
            case "concurrency":
                value = int(command["value"])
                if value < 1:
                    return {"ok": False, "error": f"concurrency is {value}, expected at least 1"}
                if too_many := more_than_fit(value, self.admission.concurrency):
                    return {"ok": False, "error": too_many}
                self.admission.concurrency = value
                self.log.append(ev.ConcurrencyChanged(concurrency=value))
                self.wake()
                return {"ok": True}
            case "rerun":
                return self.rerun(command["trials"], str(command.get("by") or ""))
            case "gone":
                trial, container, reason = (str(command[name]) for name in ("trial", "container", "reason"))
                self.log.append(ev.EnvironmentGone(trial=trial, container=container, reason=reason))
                return {"ok": True}
            case other:
                return {"ok": False, "error": f"unknown command {other!r}"}

    def cancel(self, *, force: bool = False) -> dict[str, Any]:
        """Stop new trials and cancel the running ones, which clean up. Forced: don't wait for their clean-up."""
        if force or not self._cancelled:
            self.log.append(ev.CancelRequested(force=force))
        self._cancelled = True
        self._reason = "cancelled"
        for scope in self._scopes.values():
            scope.cancel()
        if force:
            self._forced.set()
        self.wake()
        return {"ok": True, "running": len(self._scopes)}

    def cancel_trial(self, trial: str) -> dict[str, Any]:
        if trial in self._scopes:
            self.log.append(ev.CancelRequested(trial=trial))
            self._scopes[trial].cancel()
            return {"ok": True}
        for planned in self.queue:
            if planned.trial == trial:
                self.log.append(ev.CancelRequested(trial=trial))
                self.queue.remove(planned)
                self._never_started(planned, Code.HARNESS_INTERRUPTED, "cancelled before it started")
                self.wake()
                return {"ok": True}
        return {"ok": False, "error": f"trial {trial} neither runs nor waits"}

    def rerun(self, chosen: Mapping[str, str], by: str) -> dict[str, Any]:
        """Trials of this run that are over, each with the cause decided for it, go to the end of the queue."""
        if self._cancelled:
            return {"ok": False, "error": "the run is being cancelled; ask again when it is over"}
        runnable = {planned.trial: planned for planned in self._plan.trials if planned.runnable}
        wanted, refused = want_again(
            self.log, self.card.retries, {name: cause for name, cause in chosen.items() if name in runnable}, by
        )
        refused |= {name: "the plan has no such trial, or refuses it" for name in chosen if name not in runnable}
        for name in wanted:
            set_one_aside(self.log, name)
            self.queue.append(runnable[name])
        self.wake()
        return {"ok": True, "wanted": wanted, "refused": refused}

    def wake(self) -> None:
        self._wake.set()
        self._wake = anyio.Event()

    # --- scheduling ---

    async def _admit_all(self, group: TaskGroup) -> None:
        while True:
            woken = self._wake
            if self._cancelled:
                self.queue.clear()
            if not self.queue and not self._scopes:
                return
            if self._gave_up():
                continue
            blocked = self._why_not()
            if not blocked and self.queue:
                choice = self.admission.choose(self.queue)
                if choice.blocked is not None:
                    self._say_waiting(choice.blocked, choice.reason)
                if choice.trial is not None:
                    self.queue.remove(choice.trial)
                    self.admission.start(choice.trial)
                    self._scopes[choice.trial.trial] = anyio.CancelScope()
                    group.start_soon(self._run_one, choice.trial)
                    continue
            elif blocked == _DISK and not self._scopes:
                self._give_up_for_disk()
                continue
            with anyio.move_on_after(HOST_SAMPLE_SEC):
                await woken.wait()

    def _why_not(self) -> str:
        """Why nothing is admitted now, "" if something may be."""
        if not self.log.in_place:
            self._folder_is_gone()
            return "gone"
        if self._paused or self._outage.why:
            return "paused"
        if self.log.failed is not None and not self.log.flush():
            self._disk_is_full(f"the run folder can't be written: {self.log.failed.strerror}")
            return _DISK
        for folder in self._disk_folders:
            free = free_space(folder)
            if free is not None and free < LOW_DISK_BYTES:
                self._disk_is_full(f"only {free >> 20} MiB free where {folder} lies")
                return _DISK
        self._disk_was_full = False
        self.log.reserve()
        return ""

    def _disk_is_full(self, message: str) -> None:
        if not self._disk_was_full:
            self._disk_was_full = True
            way_out = "free space; the run goes on by itself while trials run, else with `trialdeck resume`"
            self._run_issue(Code.DISK_FULL, Severity.ERROR, f"no new trials: {message}", way_out)

    def _folder_is_gone(self) -> None:
        """Every further verdict would be paid for and lost."""
        if not self._cancelled:
            message = f"{self.folder} was removed or moved while the run went on: nothing more is started"
            self._run_issue(Code.ENGINE_FAILED, Severity.FATAL, message, "`trialdeck resume` goes on where it lies now")
            self.cancel()
            self._reason = "the run folder is gone"

    def _give_up_for_disk(self) -> None:
        self._reason = "disk full"
        self._start_none(Code.DISK_FULL, "not started: the disk is full")

    def _gave_up(self) -> bool:
        """Whether what is left of the queue was just given up, with what is said about it."""
        left = len(self.queue)
        if issue := self._cap.reached(self.log.state, left) if left else None:
            what = "the cost limit is reached"
        elif issue := self._starts.reached(left):
            what = self._reason = self._starts.why
        elif issue := self._outage.reached(left):
            what, self._reason = self._outage.why, "Docker can't be reached"
        else:
            return False
        self.log.append(ev.RunIssue(issue=issue))
        self._start_none(issue.code, f"not started: {what}")
        return True

    def _say_waiting(self, planned: PlannedTrial, reason: str) -> None:
        trial = self.log.state.trials[planned.trial]
        if trial.state != WAITING or trial.waiting_for.partition(" ")[0] != reason.partition(" ")[0]:
            self.log.append(ev.TrialWaiting(trial=planned.trial, reason=reason))

    def _start_none(self, code: Code, message: str) -> None:
        for planned in self.queue:
            self._never_started(planned, code, message)
        self.queue.clear()

    def _never_started(self, planned: PlannedTrial, code: Code, message: str) -> None:
        self.log.append(ev.IssueRaised(trial=planned.trial, issue=Issue(Severity.ERROR, None, code, message)))
        self.log.append(ev.TrialFinished(trial=planned.trial, outcome="cancelled"))

    # --- one trial ---

    async def _run_one(self, planned: PlannedTrial) -> None:
        task = planned.task.task
        assert task is not None, "the plan lets only readable tasks run"
        name = planned.trial
        run_number = self.log.state.trials[name].run_number + 1
        job = TrialJob(
            run=self.card.run,
            trial=name,
            task=task,
            arm=planned.arm,
            attempt=planned.attempt,
            folder=self.folder / name,
            run_number=run_number,
            allowed_host_env=self.host_env,
            timeout_factor=self.card.timeout_factor,
            acceptance=self.card.acceptance,
            keep=self.card.conduct.keep,
            cpus=self.card.cpus_cap,
            memory_mb=self.card.memory_mb_cap,
        )
        scope = self._scopes[name]
        self.log.append(ev.TrialStarted(trial=name, run_number=run_number))
        self._store(lambda: self.harbor.trial_started(name))

        def emit(event: ev.Event) -> None:
            self.log.append(event)
            if isinstance(event, ev.IssueRaised):
                self._outage.raised(event.issue)
            if isinstance(event, ev.PhaseStarted) and event.phase is Phase.CLEANUP:
                self.admission.leave(planned)  # a slow tear-down keeps nobody from starting
                self.wake()

        try:
            with scope:
                record = await run_trial(job, self.provider, emit)
                if record.finished is not None:
                    self.log.append(record.finished)
                    self.log.sync()
                    self._store(lambda: self.harbor.trial_finished(name))
                self._starts.trial_ended(self.log.state.trials[name].issues)
                if (blind := self._cap.blind(self.log.state.trials[name])) is not None:
                    self.log.append(ev.RunIssue(issue=blind))
        except Exception as error:  # a fault of ours in one trial must not end the others
            self._trial_broke(name, error)
        finally:
            self._scopes.pop(name, None)
            self.admission.finish(planned)
            self.wake()

    def _trial_broke(self, name: str, error: Exception) -> None:
        text = traceback_of(error).encode("utf-8", "replace")
        self._store(lambda: write_atomically(self.folder / name / "exception.txt", text))
        self.log.append(ev.IssueRaised(trial=name, issue=engine_fault(error, None)))
        self.log.append(ev.TrialFinished(trial=name, outcome="unscored"))
        self._store(lambda: self.harbor.trial_finished(name))

    def _store(self, write: Callable[[], object]) -> None:
        """Files for other readers must not end a run: what goes wrong is said, once, and the events hold everything."""
        try:
            write()
        except Exception as error:
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                self._disk_is_full(f"{error.filename or 'the run folder'}: {error.strerror}")
            elif not self._unwritable:
                self._unwritable = True
                self._run_issue(
                    Code.ENGINE_FAILED,
                    Severity.WARNING,
                    f"files for Harbor's viewer are not complete: {type(error).__name__}: {error}",
                    "the events hold everything; `trialdeck show` reads them",
                )

    # --- host, end ---

    async def _watch_for_force(self) -> None:
        """Once forced: remove everything of the run at once, so that each trial's clean-up finds nothing left to wait
        for; if that takes too long, end the process. All that is left then has labels."""
        await self._forced.wait()
        with anyio.move_on_after(FORCE_SEC, shield=True):
            with suppress(Exception):  # clean-up and a sweep can do it, too
                await self.provider.remove_run(self.card.run)
            await self._over.wait()
            return
        self._mark_forced()
        self.log.append(ev.EngineStopped(reason=str(self._finish())))
        self.log.close()
        os._exit(INTERRUPTED)

    def _mark_forced(self) -> None:
        """Trials whose clean-up was not waited for: cancelled, and what they left has labels for a sweep."""
        for name in list(self._scopes):
            issue = Issue(
                Severity.ERROR,
                None,
                Code.LEFTOVER,
                "cancelled by force before it was cleaned up",
                (Evidence("way out", "`trialdeck sweep` removes what it left"),),
            )
            self.log.append(ev.IssueRaised(trial=name, issue=issue))
            self.log.append(ev.TrialFinished(trial=name, outcome="cancelled"))

    def _run_issue(self, code: Code, severity: Severity, message: str, way_out: str) -> None:
        self.log.append(ev.RunIssue(issue=Issue(severity, None, code, message, (Evidence("way out", way_out),))))

    def _finish(self) -> int:
        state = self.log.state
        code = OK
        if self._cancelled:
            code = INTERRUPTED
        elif state.count(REFUSED) == len(state.trials):
            code = UNUSABLE
        elif state.count(PASSED, FAILED) < len(state.trials):
            code = UNSCORED
        self.log.append(
            ev.RunFinished(exit_code=code, seconds=time.monotonic() - self._began, reason=self._reason or "done")
        )
        self._store(lambda: self.harbor.write_result(now=True, finished=not self._cancelled))
        return code
