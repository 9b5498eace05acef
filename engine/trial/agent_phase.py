"""The agent's phase: set up within a budget of its own, run within the task's limit, dead when time is up."""

from __future__ import annotations

import time
import traceback
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext

import anyio
import msgspec

from engine import events as ev
from engine.agents.agent import MARK_NAME, Agent, AgentEnd, AgentSession, LooksBack, StepReport
from engine.agents.replay import STATE as REPLAY_STATE
from engine.environments.environment import Environment, ExecResult, Sink
from engine.hidden_values import HiddenValues, HidingSink
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.layout import CHANGES
from engine.models.model_call import ModelCallFailed
from engine.tasks.host_env import resolve_env
from engine.tasks.instruction import read_instruction
from engine.tasks.task import MAIN
from engine.text import clean_line, decode_output
from engine.trial.agent_issues import AgentIssues
from engine.trial.agent_left import OF_THE_HOST, keep_what_it_wrote, look_back
from engine.trial.job import AGENT_SETUP_SEC, Stage, TrialJob
from engine.trial.log_file import LogFile
from engine.trial.model_access import TrialModel
from engine.trial.model_issues import AgentOutcome
from engine.trial.record import Record
from engine.trial.whole_file import write_whole

KILL_SEC = 30.0
_KINDS = ("added", "changed", "deleted")
WHAT_CHARS = 500


async def run_agent(
    job: TrialJob,
    stage: Stage,
    agent: Agent,
    environment: Environment,
    record: Record,
    model: TrialModel | None = None,
) -> int | None:
    """One stage's agent from set-up to its end. Afterwards, if time was up, everything it started is dead, and nothing
    reaches the model any more.

    Returns how many files it changed, None where that is unknown. Raises TrialFailed where the environment failed, or
    the agent could not be set up or not be stopped. What goes wrong in the agent itself is an issue, and verification
    still follows.
    """
    folder = record.folder / "steps" / stage.name / "agent" if stage.name else record.folder / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    limit = stage.agent.timeout_sec * job.timeout_factor if stage.agent.timeout_sec is not None else None
    issues = AgentIssues(record)
    with LogFile(folder / agent.log_name, record.folder) as log:
        work = _Work(job, stage, environment, record, log, _Clock(limit))
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
            execute=work.execute,
            report_step=work.report_step,
            issue=issues.raised,
            model=model,
            activity=record.activity,
            hide=work.hidden.add,
        )
        async with model.at_work() if model is not None else nullcontext():
            await environment.note_processes()  # before its set-up: what that leaves running is the agent's, too
            await _set_up(agent, session)
            record.activity(agent.name)
            await work.run(agent, session)
        if model is not None:
            issues.of_model(model.seen, work.outcome(issues.codes))
    if (complaint := log.complaint(Phase.AGENT)) is not None:
        record.issue(complaint)
    await keep_what_it_wrote(environment, record, folder)
    if isinstance(agent, LooksBack):
        await look_back(agent, agent.name, session)
    return await _note_changes(job, environment, record)


class _Work:
    """What an agent does within its time, and how that ended."""

    def __init__(
        self, job: TrialJob, stage: Stage, environment: Environment, record: Record, log: LogFile, clock: _Clock
    ) -> None:
        self._job = job
        self._stage = stage
        self._environment = environment
        self._record = record
        self._log = log
        self._clock = clock
        self._last: ExecResult | None = None
        self._end: AgentEnd | None = None
        self._killed = 0
        self._hit_memory = False
        self._gave_up: ModelCallFailed | None = None
        self.hidden = HiddenValues.of(job.allowed_host_env)

    async def execute(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        user: str | None = None,
        timeout_sec: float | None = None,
        sink: Sink | None = None,
        logged: bool = True,
    ) -> ExecResult:
        self._clock.start()
        with HidingSink(self._log.write, self.hidden) as shown:
            result = await self._environment.execute(
                command,
                user=user or self._stage.agent.user,
                env={**(env or {}), MARK_NAME: self._job.trial},
                stdin=stdin,
                sink=_both(shown, sink) if logged else sink,
                timeout_sec=timeout_sec,
            )
        if self._last is None and not result.started and result.environment_alive:
            raise TrialFailed(_not_started(result))
        self._last = result
        self._hit_memory = self._hit_memory or result.out_of_memory
        return result

    def report_step(self, step: StepReport) -> None:
        fields = {
            **msgspec.structs.asdict(step),
            "what": clean_line(step.what, WHAT_CHARS),
            "cost_source": step.cost_source or "",
        }
        self._record.stepped(ev.AgentStepped(trial=self._job.trial, number=self._record.steps + 1, **fields))

    async def run(self, agent: Agent, session: AgentSession) -> None:
        record, clock = self._record, self._clock
        try:
            try:
                with clock.scope:
                    clock.arm()
                    self._end = await agent.run(session)
            except TrialFailed:
                raise
            except ModelCallFailed as error:
                self._gave_up = error
            except Exception as error:
                if isinstance(error, OSError) and error.errno in OF_THE_HOST:
                    raise
                if not clock.is_up:
                    record.issue(_agent_raised(error, clock.seconds))
            finally:
                clock.stop()
            if clock.is_up:
                await self._stop()
        finally:
            record.agent_seconds = (record.agent_seconds or 0.0) + clock.seconds
            record.emit(
                ev.AgentFinished(
                    trial=self._job.trial,
                    exit_code=self._exit_code,
                    seconds=clock.seconds,
                    timed_out=clock.is_up,
                    killed_processes=self._killed,
                    step=self._stage.name,
                )
            )
        ours = clock.is_up or (self._hit_memory and self._exit_code == 137)
        _look_at_end(record, self._last, self._exit_code, self._log, explained=ours)

    def outcome(self, raised: Collection[Code]) -> AgentOutcome:
        return AgentOutcome(
            ended_well=self._end is not None and self._end.exit_code in (0, None) and not self._clock.is_up,
            gave_up=self._gave_up,
            raised=raised,
            last_output=Evidence("last output", decode_output(self._log.tail), self._log.name, self._log.lines),
        )

    @property
    def _exit_code(self) -> int | None:
        return self._end.exit_code if self._end is not None else None

    async def _stop(self) -> None:
        """Time is up: everything that the agent started is dead before anything else happens."""
        record, clock = self._record, self._clock
        record.timed_out = True
        record.activity("stop the agent")
        stopped = False
        try:
            with anyio.move_on_after(KILL_SEC):
                self._killed = await self._environment.kill_agent(f"{MARK_NAME}={self._job.trial}")
                stopped = True
        finally:
            record.issue(_time_up(clock.limit or 0.0, clock.seconds, self._killed, self._log))
        if not stopped:
            raise TrialFailed(
                Issue(
                    Severity.FATAL,
                    Phase.AGENT,
                    Code.AGENT_NOT_STOPPED,
                    f"what the agent started was not dead {KILL_SEC:.0f} s after its time was up",
                    (Evidence("last output", decode_output(self._log.tail), self._log.name, self._log.lines),),
                )
            )


def _both(shown: HidingSink, sink: Sink | None) -> Sink:
    def pass_on(stream: str, data: bytes) -> None:
        shown(stream, data)
        if sink is not None:
            sink(stream, data)

    return pass_on


async def _set_up(agent: Agent, session: AgentSession) -> None:
    session.activity(f"set up {agent.name}")
    with anyio.move_on_after(AGENT_SETUP_SEC):
        await agent.set_up(session)
        return
    raise TrialFailed(
        Issue(
            Severity.FATAL,
            Phase.AGENT,
            Code.AGENT_SETUP_FAILED,
            f"setting up agent {agent.name} took longer than its {AGENT_SETUP_SEC:.0f} s",
        )
    )


class _Clock:
    """The agent's clock: starts with its first command once it is armed, and ends the scope when time is up."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.scope = anyio.CancelScope()
        self._armed = False
        self._began: float | None = None
        self._ended: float | None = None

    def arm(self) -> None:
        self._armed = True

    def start(self) -> None:
        if self._armed and self._began is None:
            self._began = time.monotonic()
            if self.limit is not None:
                self.scope.deadline = anyio.current_time() + self.limit

    def stop(self) -> None:
        self._ended = time.monotonic()

    @property
    def is_up(self) -> bool:
        """Was the limit reached? Also where the agent's code turned the cancellation into something else."""
        return self.scope.cancel_called

    @property
    def seconds(self) -> float:
        if self._began is None:
            return 0.0
        return (time.monotonic() if self._ended is None else self._ended) - self._began


def _not_started(result: ExecResult) -> Issue:
    """Not the agent's end: it never began. The working directory, the user or the shell that the task names is not
    there."""
    why = clean_line(result.tail, WHAT_CHARS)
    return Issue(
        Severity.FATAL,
        Phase.AGENT,
        Code.SETUP_FAILED,
        f"no command can be started in main as the task wants it: {why}",
        (Evidence("the engine says", result.tail),),
        service=MAIN,
    )


def _agent_raised(error: Exception, seconds: float) -> Issue:
    return Issue(
        Severity.ERROR,
        Phase.AGENT,
        Code.HARNESS_FAILED,
        f"the agent's own code failed after {seconds:.1f} s: {type(error).__name__}: {error}",
        (Evidence("traceback", "".join(traceback.format_exception(error))[-4000:]),),
    )


_SHELL_SAYS = {126: ": main has its command and can't run it", 127: ": main doesn't have its command"}
_BRING_IT = Evidence("way out", "what an agent runs is in the task's image, or the agent's own command brings it in")


def _time_up(limit: float, seconds: float, killed: int, log: LogFile) -> Issue:
    return Issue(
        Severity.WARNING,
        Phase.AGENT,
        Code.HARNESS_TIMEOUT,
        f"the agent's time limit of {limit:g} s was up (measured {seconds:.1f} s); everything it started was killed"
        + (f", {killed} processes beside its command" if killed else ""),
        (Evidence("last output", decode_output(log.tail), log.name, log.lines),),
    )


def _look_at_end(
    record: Record, last: ExecResult | None, exit_code: int | None, log: LogFile, *, explained: bool
) -> None:
    """Issues from how the agent ended. They stand beside the verdict and never replace it. `explained`: that time was
    up, or memory, is said already."""
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
    elif exit_code == 137 and not explained:
        record.issue(
            Issue(
                Severity.WARNING,
                Phase.AGENT,
                Code.KILLED_UNKNOWN,
                "the agent's last command was killed (137), not by a memory limit and not by us",
                (output,),
            )
        )
    elif last is not None and last.exit_code is None and exit_code is None and not (explained or last.timed_out):
        record.issue(
            Issue(
                Severity.WARNING,
                Phase.AGENT,
                Code.ENVIRONMENT_FAILED,
                "how the agent's last command ended is unknown: Docker gave no exit code for it",
                (output,),
            )
        )
    elif exit_code not in (0, None) and not (exit_code == 137 and explained):
        record.issue(
            Issue(
                Severity.WARNING,
                Phase.AGENT,
                Code.AGENT_EXIT_NONZERO,
                f"the agent ended with exit code {exit_code}{_SHELL_SAYS.get(exit_code, '')}",
                (output, *([_BRING_IT] if exit_code in _SHELL_SAYS else [])),
            )
        )


async def _note_changes(job: TrialJob, environment: Environment, record: Record) -> int | None:
    """The list of what changed in `main`, beside the verdict; without it the trial is scored all the same. None: nobody
    knows whether anything was."""
    try:
        found = await environment.changes()
    except TrialFailed as failure:
        record.issue(msgspec.structs.replace(failure.issue, severity=Severity.WARNING, phase=Phase.AGENT))
        return None
    changes = [change for change in found if not change.path.startswith(REPLAY_STATE)]
    record.deleted = tuple(change.path for change in changes if change.kind == "deleted")
    listing = {kind: [change.path for change in changes if change.kind == kind] for kind in _KINDS}
    unseen = tuple(environment.unseen)
    text = msgspec.json.format(_encodable({**listing, **({"unseen": unseen} if unseen else {})})) + b"\n"
    write_whole(record.folder / CHANGES, text)
    added, changed, deleted = (len(listing[kind]) for kind in _KINDS)
    record.emit(ev.FilesChanged(trial=job.trial, added=added, changed=changed, deleted=deleted, unseen=unseen))
    return len(changes) or (None if unseen else 0)


def _encodable(listing: Mapping[str, Sequence[str]]) -> bytes:
    """JSON of the paths; those that are not UTF-8 are written with backslash escapes."""
    return msgspec.json.encode(
        {kind: [path.encode("utf-8", "backslashreplace").decode() for path in paths] for kind, paths in listing.items()}
    )
