"""The engine's own process: `python -m engine.runs.process RUN_FOLDER [--resume [--only-reruns]]`, or `--stand-by` and
the folder on standard input.

It outlives the terminal that started it. SIGINT and SIGTERM cancel the run (twice: by force), SIGHUP is ignored.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

import anyio
import msgspec
from anyio.abc import TaskGroup

from engine import events as ev
from engine.environments.docker.provider import DockerProvider
from engine.environments.environment import Provider
from engine.issues import Code, Evidence, Issue, Severity
from engine.layout import ENGINE, ENGINE_LOG
from engine.owner import engine_alive, read_owner, this_process
from engine.runs.atomic_file import write_json
from engine.runs.card import CardInvalid, RunCard, read_card
from engine.runs.control import serve, socket_path
from engine.runs.event_log import EventLog, LogTaken
from engine.runs.from_card import changed_tasks, plan_from_card
from engine.runs.model_check import without_unreachable
from engine.runs.open_files import WAY_OUT, raise_limit, trials_within
from engine.runs.plan import Plan, PlannedTrial
from engine.runs.resume import only_reruns, remaining, set_aside, set_one_aside
from engine.runs.run import UNUSABLE, Run
from engine.runs.start import ONLY_RERUNS, STAND_BY
from engine.text import clean_line
from engine.trial.job import limits_of
from engine.trial.model_folder import sweep_model_folders
from engine.trial.trial import failure_in
from engine.trial_state import INTERRUPTED, QUEUED, RUNNING, WAITING


class RunProvider(Provider, Protocol):
    """What a run needs of a provider beside the environments."""

    async def remove_images(self, run: str) -> list[str]:
        """Remove what the run built; returns what could not be removed."""

    async def root_folder(self) -> Path | None:
        """Where environments take disk space on this host, None where that is elsewhere."""


OpenProvider = Callable[[], AbstractAsyncContextManager[RunProvider]]


def main(arguments: list[str], open_provider: OpenProvider = DockerProvider.open) -> int:
    """Run (or go on with) the run in a folder; returns its exit code. Messages go to standard error."""
    folder, flags = Path(arguments[0]).resolve(), frozenset(arguments[1:])
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        card = read_card(folder)
        if card.conduct.working_folder and Path(card.conduct.working_folder).is_dir():
            os.chdir(card.conduct.working_folder)
        host_env = {name: os.environ[name] for name in card.allowed_host_env if name in os.environ}
        plan = plan_from_card(card, host_env)
    except CardInvalid as error:
        print(f"trialdeck: {error}", file=sys.stderr)
        return UNUSABLE
    owner = read_owner(folder)
    if owner is not None and engine_alive(folder):
        print(f"trialdeck: {folder}: process {owner.pid} on {owner.host} already runs this", file=sys.stderr)
        return UNUSABLE
    try:
        return anyio.run(_run, folder, card, plan, host_env, flags, open_provider)
    except LogTaken as error:
        print(f"trialdeck: {error}", file=sys.stderr)
    except OSError as error:
        print(f"trialdeck: {error.filename or folder}: {error.strerror or error}", file=sys.stderr)
    return UNUSABLE


async def _run(
    folder: Path,
    card: RunCard,
    plan: Plan,
    host_env: dict[str, str],
    flags: frozenset[str],
    open_provider: OpenProvider,
) -> int:
    log = EventLog(folder)
    path = socket_path(folder)
    write_json(folder / ENGINE, this_process(str(path)))
    log.append(
        ev.EngineStarted(
            pid=os.getpid(), host=os.uname().nodename, session=log.state.sessions + 1, resumed=log.state.sessions > 0
        )
    )
    if log.cut_bytes:
        _say(
            log,
            Code.ENGINE_FAILED,
            Severity.WARNING,
            f"the last {log.cut_bytes} bytes of the events were cut by a crash",
        )
    _announce(log, card, plan)
    code = UNUSABLE
    try:
        async with open_provider() as provider:
            if "--resume" in flags:
                _say_left(log, "of the engine before", await provider.remove_run(card.run))
            left = remaining(plan, log.state)
            if ONLY_RERUNS in flags:
                left = only_reruns(left, log.state)
            left = await without_unreachable(log, card, left)
            set_aside(log, left)
            _refuse_cut_off(log, plan)
            sweep_model_folders()
            card = _fit_descriptors(log, card)
            root = await provider.root_folder()
            disks = (root,) if root is not None else ()
            run = Run(folder, card, plan, left.todo, log, provider, host_env, disk_folders=disks)
            async with anyio.create_task_group() as group:
                await group.start(serve, path, run.handle)
                group.start_soon(_obey_signals, run)
                code = await run.execute()
                _cancel(group)
            await _remove_images(log, provider, card.run)
    except Exception as error:
        code = _failed(log, error)
    finally:
        log.append(ev.EngineStopped(reason=str(code)))
        log.close()
    return code


def _failed(log: EventLog, error: Exception) -> int:
    """Say why the run could not begin or not go on; the exit code."""
    failure = failure_in(error)
    if failure is not None:
        log.append(ev.RunIssue(issue=failure.issue))
        log.append(ev.RunFinished(exit_code=UNUSABLE, seconds=0, reason=failure.issue.message))
        print(f"trialdeck: {failure.issue.message}", file=sys.stderr)
        return UNUSABLE
    traceback.print_exception(error)
    message = f"the engine failed: {type(error).__name__}: {error}; see engine.log"
    _say(log, Code.ENGINE_FAILED, Severity.FATAL, message)
    return 1


async def _remove_images(log: EventLog, provider: RunProvider, run: str) -> None:
    """A run that is over stays what it was, whatever becomes of its images."""
    try:
        left = await provider.remove_images(run)
    except Exception as error:
        left = [f"all that were built ({error})"]
    _say_left(log, "images", left)


def _say_left(log: EventLog, what: str, left: list[str]) -> None:
    if left:
        message = f"left behind, {what}: {', '.join(left)}"
        _say(log, Code.LEFTOVER, Severity.WARNING, message, "`trialdeck sweep` removes it")


def _cancel(group: TaskGroup) -> None:
    group.cancel_scope.cancel()


def _announce(log: EventLog, card: RunCard, plan: Plan) -> None:
    """What is going to be measured; what is refused ends right here. Says nothing twice, unless the run is conducted
    otherwise from now on."""
    before, conduct = log.state.plan, card.conduct
    as_before = (
        before is not None
        and before.max_cost_usd == conduct.max_cost_usd
        and [arm.endpoint for arm in before.arms] == [arm.endpoint for arm in card.arms]
    )
    if not as_before or log.state.concurrency != conduct.concurrency:
        log.append(
            ev.RunPlanned(
                run=card.run,
                name=card.name,
                task_set=card.task_set,
                arms=card.arms,
                tasks=len(plan.tasks),
                trials=len(plan.trials),
                attempts=card.attempts,
                concurrency=conduct.concurrency,
                seed=card.seed,
                timeout_factor=card.timeout_factor,
                max_cost_usd=conduct.max_cost_usd,
                card_digest=card.digest,
                engine_version=card.engine_version,
                host=conduct.host,
            )
        )
    if before is None:
        for task in plan.tasks:
            for warning in task.warnings:
                log.append(ev.RunIssue(issue=msgspec.structs.replace(warning, message=f"{task.id}: {warning.message}")))
    told = {issue.message for issue in log.state.run_issues}
    for name, issue in changed_tasks(card, plan):
        message = f"{name}: {issue.message}; its trials are left as they are"
        if clean_line(message) not in told:
            severe = msgspec.structs.replace(issue, severity=Severity.WARNING, message=message)
            log.append(ev.RunIssue(issue=severe))
    for planned in plan.trials:
        if planned.trial in log.state.trials:
            _refuse(log, planned)
            continue
        known = planned.task.task
        limits = limits_of(known, card.timeout_factor) if known is not None else {}
        log.append(
            ev.TrialPlanned(
                trial=planned.trial,
                task=planned.task.id,
                arm=planned.arm.name,
                attempt=planned.attempt,
                position=planned.position,
                cpus=planned.task.cpus,
                memory_mb=planned.task.memory_mb,
                limits=limits,
                category=known.category if known is not None else "",
                difficulty=known.difficulty if known is not None else "",
            )
        )
        _refuse(log, planned)


def _refuse_cut_off(log: EventLog, plan: Plan) -> None:
    """A trial that the engine before left behind and that may not run again now: its record is kept."""
    for planned in plan.trials:
        if not planned.runnable and log.state.trials[planned.trial].state == RUNNING:
            set_one_aside(log, planned.trial)
            _refuse(log, planned)


def _refuse(log: EventLog, planned: PlannedTrial) -> None:
    """What the plan doesn't let run ends here, unless it had run before."""
    if planned.runnable or log.state.trials[planned.trial].state not in (QUEUED, WAITING, INTERRUPTED):
        return
    for issue in planned.refused:
        log.append(ev.IssueRaised(trial=planned.trial, issue=issue))
    log.append(ev.TrialFinished(trial=planned.trial, outcome="refused"))


def _fit_descriptors(log: EventLog, card: RunCard) -> RunCard:
    """Raise the limit on open files as far as it goes, and lower the concurrency where that is not enough."""
    limit = raise_limit()
    fits = trials_within(limit)
    if card.conduct.concurrency <= fits:
        return card
    message = f"only {limit} files may be open: concurrency lowered from {card.conduct.concurrency} to {fits}"
    _say(log, Code.OUT_OF_DESCRIPTORS, Severity.WARNING, message, WAY_OUT)
    log.append(ev.ConcurrencyChanged(concurrency=fits))
    return msgspec.structs.replace(card, conduct=msgspec.structs.replace(card.conduct, concurrency=fits))


async def _obey_signals(run: Run) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        times = 0
        async for _ in signals:
            times += 1
            run.cancel(force=times > 1)


def _say(log: EventLog, code: Code, severity: Severity, message: str, way_out: str = "") -> None:
    evidence = (Evidence("way out", way_out),) if way_out else ()
    log.append(ev.RunIssue(issue=Issue(severity, None, code, message, evidence)))


def _told_later() -> list[str]:
    """Wait for the run folder on standard input; from then on everything is as if it had been an argument."""
    told = sys.stdin.buffer.read().removesuffix(b"\0")
    if not told:
        sys.exit(0)
    folder = Path(os.fsdecode(told))
    log = os.open(folder / ENGINE_LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for stream, place in ((sys.stdin, os.open(os.devnull, os.O_RDONLY)), (sys.stdout, log), (sys.stderr, log)):
        os.dup2(place, stream.fileno())
    return [str(folder)]


if __name__ == "__main__":
    sys.exit(main(_told_later() if sys.argv[1:] == [STAND_BY] else sys.argv[1:]))
