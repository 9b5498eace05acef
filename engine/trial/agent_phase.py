"""The agent's phase: set up within a budget of its own, run within the task's limit, dead when time is up."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import msgspec

from engine import events as ev
from engine.agents.agent import MARK_NAME, Agent, AgentEnd, AgentSession, StepReport
from engine.environments.environment import Environment, ExecResult
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.layout import CHANGES
from engine.tasks.host_env import resolve_env
from engine.tasks.instruction import read_instruction
from engine.text import decode_output
from engine.trial.job import AGENT_SETUP_SEC, DOWNLOAD_SEC, MAX_LOG_FOLDER_BYTES, Stage, TrialJob
from engine.trial.log_file import LogFile
from engine.trial.record import Record

KILL_SEC = 30.0


async def run_agent(job: TrialJob, stage: Stage, agent: Agent, environment: Environment, record: Record) -> None:
    """One stage's agent from set-up to its end. Afterwards, if time was up, everything it started is dead.

    Raises TrialFailed where the environment failed or the agent could not be set up. What goes wrong in the agent itself is
    an issue, and verification still follows.
    """
    folder = record.folder / "steps" / stage.name / "agent" if stage.name else record.folder / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    limit = stage.agent.timeout_sec * job.timeout_factor if stage.agent.timeout_sec is not None else None
    mark = f"{MARK_NAME}={job.trial}"
    with LogFile(folder / agent.log_name) as log:
        clock = _Clock(limit)
        results: list[ExecResult] = []

        async def execute(
            command: Sequence[str],
            *,
            env: Mapping[str, str] | None = None,
            stdin: bytes | None = None,
            user: str | None = None,
            timeout_sec: float | None = None,
        ) -> ExecResult:
            clock.start()
            result = await environment.execute(
                command,
                user=user or stage.agent.user,
                env={**(env or {}), MARK_NAME: job.trial},
                stdin=stdin,
                sink=log.write,
                timeout_sec=timeout_sec,
            )
            results.append(result)
            return result

        def report_step(step: StepReport) -> None:
            fields = msgspec.structs.asdict(step)
            record.stepped(ev.AgentStepped(trial=job.trial, number=record.steps + 1, **fields))

        session = AgentSession(
            task=job.task,
            arm=job.arm,
            attempt=job.attempt,
            instruction=read_instruction(job.task, stage.step),
            environment=environment,
            folder=folder,
            step=stage.name,
            step_folder=stage.folder,
            solution_env=resolve_env(job.task.solution_env, job.allowed_host_env, "solution.env").env,
            user=stage.agent.user,
            execute=execute,
            report_step=report_step,
            activity=record.activity,
        )
        await _set_up(agent, session)
        await environment.note_processes()
        record.activity(agent.name)
        end: AgentEnd | None = None
        try:
            with clock.scope:
                end = await agent.run(session)
        except TrialFailed:
            raise
        except Exception as error:
            record.issue(_agent_raised(error, clock.seconds))
        timed_out = clock.scope.cancelled_caught
        seconds = clock.seconds
        killed = 0
        if timed_out:
            record.timed_out = True
            record.activity("stop the agent")
            killed = await environment.kill_agent(mark)
            record.issue(_time_up(limit or 0.0, seconds, killed, log))
        exit_code = end.exit_code if end is not None else None
        record.agent_seconds = (record.agent_seconds or 0.0) + seconds
        record.emit(
            ev.AgentFinished(
                trial=job.trial,
                exit_code=exit_code,
                seconds=seconds,
                timed_out=timed_out,
                killed_processes=killed,
                step=stage.name,
            )
        )
        _look_at_end(record, results[-1] if results else None, exit_code, log, stage)
    await _keep_what_it_left(job, environment, record, folder)


async def _set_up(agent: Agent, session: AgentSession) -> None:
    session.activity(f"set up {agent.name}")
    with anyio.move_on_after(AGENT_SETUP_SEC) as scope:
        await agent.set_up(session)
    if scope.cancelled_caught:
        raise TrialFailed(
            Issue(
                Severity.FATAL,
                Phase.AGENT,
                Code.AGENT_SETUP_FAILED,
                f"setting up agent {agent.name} took longer than its {AGENT_SETUP_SEC:.0f} s",
            )
        )


class _Clock:
    """The agent's clock: starts with its first command, and ends the scope when time is up."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.scope = anyio.CancelScope()
        self._began: float | None = None

    def start(self) -> None:
        if self._began is None:
            self._began = time.monotonic()
            if self.limit is not None:
                self.scope.deadline = anyio.current_time() + self.limit

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began if self._began is not None else 0.0


def _agent_raised(error: Exception, seconds: float) -> Issue:
    return Issue(
        Severity.ERROR,
        Phase.AGENT,
        Code.HARNESS_FAILED,
        f"the agent's own code failed after {seconds:.1f} s: {type(error).__name__}: {error}",
        (Evidence("traceback", "".join(traceback.format_exception(error))[-4000:]),),
    )


def _time_up(limit: float, seconds: float, killed: int, log: LogFile) -> Issue:
    return Issue(
        Severity.WARNING,
        Phase.AGENT,
        Code.HARNESS_TIMEOUT,
        f"the agent's time limit of {limit:g} s was up (measured {seconds:.1f} s); everything it started was killed"
        + (f", {killed} processes beside its command" if killed else ""),
        (Evidence("last output", decode_output(log.tail), log.name, log.lines),),
    )


def _look_at_end(record: Record, last: ExecResult | None, exit_code: int | None, log: LogFile, stage: Stage) -> None:
    """Issues from how the agent ended. They stand beside the verdict and never replace it."""
    output = Evidence("last output", decode_output(log.tail), log.name, log.lines)
    if last is not None and not last.environment_alive:
        record.issue(
            Issue(
                Severity.ERROR,
                Phase.AGENT,
                Code.ENVIRONMENT_DIED,
                "main died while the agent's command ran",
                (output,),
                service="main",
            )
        )
    elif last is not None and last.out_of_memory:
        return  # the environment's own record already says so
    elif exit_code == 137 and not record.timed_out:
        record.issue(
            Issue(
                Severity.WARNING,
                Phase.AGENT,
                Code.KILLED_UNKNOWN,
                "the agent's last command was killed (137), not by a memory limit and not by us",
                (output,),
            )
        )
    elif exit_code not in (0, None):
        record.issue(
            Issue(
                Severity.WARNING,
                Phase.AGENT,
                Code.AGENT_EXIT_NONZERO,
                f"the agent ended with exit code {exit_code}",
                (output,),
            )
        )


async def _keep_what_it_left(job: TrialJob, environment: Environment, record: Record, folder: Path) -> None:
    """What the agent changed in `main` and what it wrote to `/logs/agent`."""
    changes = await environment.changes()
    counts = {kind: sum(1 for change in changes if change.kind == kind) for kind in ("added", "changed", "deleted")}
    listing = {kind: [change.path for change in changes if change.kind == kind] for kind in counts}
    (record.folder / CHANGES).write_bytes(msgspec.json.format(msgspec.json.encode(listing)) + b"\n")
    record.emit(
        ev.FilesChanged(trial=job.trial, added=counts["added"], changed=counts["changed"], deleted=counts["deleted"])
    )
    await environment.download("/logs/agent", folder, max_bytes=MAX_LOG_FOLDER_BYTES, timeout_sec=DOWNLOAD_SEC)
