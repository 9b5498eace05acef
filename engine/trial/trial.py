"""One trial, from top to bottom: prepare, agent, collect, verify, clean up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress

import anyio
import msgspec

from engine import events as ev
from engine.agents.agent import GATEWAY_FOLDER, Agent, AgentConfigInvalid, AgentUnavailable
from engine.agents.registry import make_agent, traits_of
from engine.environments.environment import Emit, Environment, EnvironmentSpec, Provider
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.tasks.task import LOGS_AGENT, LOGS_ARTIFACTS, LOGS_VERIFIER, TESTS
from engine.tasks.verifier_image import VerifierImage, verifier_image
from engine.trial.acceptance import read_rule
from engine.trial.agent_phase import run_agent
from engine.trial.carried import capsule_mounts
from engine.trial.collect import Collected, collect
from engine.trial.definitions import agent_environment
from engine.trial.engine_fault import engine_fault, traceback_of
from engine.trial.job import CLEANUP_SEC, Keep, Stage, TrialJob
from engine.trial.model_access import TrialModel
from engine.trial.model_folder import ModelFolder, model_folder
from engine.trial.places import empty_folders, make_log_folders
from engine.trial.record import Record, StepVerdict
from engine.trial.verify import FreshVerifier, ends_early, overall, verify


async def run_trial(job: TrialJob, provider: Provider, emit: Emit) -> Record:
    """Run one trial to its end and return its record; its last event, `TrialFinished`, is in it and not yet sent.

    Whatever fails ends as an issue. Cancellation cleans up, gives the outcome `cancelled` and returns as well, so that
    the caller can store the record; the caller's cancel scope then ends what is left. Raises OSError where not even the
    trial's folder can be made.
    """
    record = Record(job, emit)
    trial = _Trial(job, provider, record)
    cancelled = False
    try:
        await trial.run()
    except anyio.get_cancelled_exc_class():
        cancelled = True
    except Exception as error:
        cancelled = anyio.current_effective_deadline() == -math.inf  # what it turned into on its way does not matter
        if not cancelled:
            record.issue(_issue_of(error, record))
    if cancelled:
        message = f"cancelled in phase {record.phase_now}"
        record.issue(Issue(Severity.ERROR, record.phase_now, Code.HARNESS_INTERRUPTED, message))
    with anyio.CancelScope(shield=True):
        kept = await trial.clean_up(cancelled=cancelled)
    reward, rewards = trial.verdict()
    passed = trial.passed()
    if reward is not None and passed is None and not cancelled:
        record.issue(_rule_without_its_reward(job.acceptance, rewards))
        reward = None
    if cancelled:
        record.finish("cancelled", None, None, kept)
    elif reward is None:
        record.finish("unscored", None, None, kept)
    else:
        if len(job.stages()) > 1:
            record.emit(ev.RewardRecorded(trial=job.trial, reward=reward, rewards=rewards, source="steps"))
        record.finish("scored", reward, passed, kept)
    return record


def _rule_without_its_reward(rule: str, rewards: Mapping[str, float]) -> Issue:
    given = ", ".join(rewards) or "reward alone"
    return Issue(
        Severity.FATAL,
        Phase.VERIFY,
        Code.VERIFIER_RESULT_INVALID,
        f"the card accepts {rule!r}, and the verifier gave no such reward (it gave {given})",
    )


class _Trial:
    """The environments that one trial has up, so that clean-up finds them whatever happened."""

    def __init__(self, job: TrialJob, provider: Provider, record: Record) -> None:
        self.job = job
        self.provider = provider
        self.record = record
        self.up: list[Environment] = []
        self.leftovers: list[str] = []
        self.model: TrialModel | None = None
        self._for_model: ModelFolder | None = None
        self._places = ExitStack()
        self._did_nothing = True  # as far as is known, which it must be

    def verdict(self) -> tuple[float | None, dict[str, float]]:
        """The trial's reward; none where something fatal happened."""
        if self.record.fatal:
            return None, {}
        return overall(self.record.verdicts, self.job.task.multi_step_reward_strategy)

    def passed(self) -> bool | None:
        """By the card's acceptance rule; None where the reward that it asks for is missing."""
        return read_rule(self.job.acceptance).passes(*self.verdict())

    async def run(self) -> None:
        job, record = self.job, self.record
        environment = await self._prepare()
        stages = job.stages()
        shared_before = False
        for number, stage in enumerate(stages, 1):
            last = number == len(stages)
            image = verifier_image(job.task, stage.step)
            limit = stage.agent.timeout_sec * job.timeout_factor if stage.agent.timeout_sec is not None else None
            with self._phase(environment, Phase.AGENT, limit, stage):
                if number > 1:
                    await self._clear_traces(environment, tests=shared_before)
                await self._enter_step(stage, environment)
                changes = await run_agent(job, stage, self._agent(), environment, record, self.model)
            with self._phase(environment, Phase.COLLECT, None, stage):
                rows = await collect(job, stage, environment, record, stop_main=image is not None and last)
            self._did_nothing &= changes == 0 and not any(row.bytes for row in rows)
            single = len(environment.services) == 1
            with self._phase(environment, Phase.VERIFY, stage.verifier.timeout_sec * job.timeout_factor, stage):
                verdict = await self._verify(stage, environment, rows, image, last=last)
            record.verdicts.append(verdict)
            shared_before |= image is None
            if not last and (why := ends_early(verdict, stage.step.min_reward if stage.step is not None else None)):
                record.log(f"step {stage.name} ends the task: {why}")
                break
        if single and self._did_nothing and self.passed():
            self._tell_passed_without_changes()

    def _agent(self) -> Agent:
        """What its arm names may be gone since the run was planned."""
        try:
            return make_agent(self.job.arm)
        except AgentConfigInvalid as error:
            raise _agent_gone(error) from None

    @contextmanager
    def _phase(self, environment: Environment, phase: Phase, limit: float | None, stage: Stage) -> Iterator[None]:
        """What happens in the environment by itself meanwhile is booked under this phase, too."""
        environment.phase = phase
        with self.record.phase(phase, limit, stage.name):
            yield

    def _tell_passed_without_changes(self) -> None:
        self.record.issue(
            Issue(
                Severity.WARNING,
                Phase.VERIFY,
                Code.PASSED_WITHOUT_CHANGES,
                "passed, although nothing in main was changed and no artifact has content; does it pass as it is?",
            )
        )

    async def _prepare(self) -> Environment:
        job, record = self.job, self.record
        spec = agent_environment(job)
        with record.phase(Phase.PREPARE, spec.build_timeout_sec):
            spec = await self._with_what_is_brought_in(spec)
            environment = self.provider.environment(spec, record.emit)
            self.up.append(environment)
            await environment.start()
            await make_log_folders(environment, ("agent", "verifier", "artifacts"))
        return environment

    async def _with_what_is_brought_in(self, spec: EnvironmentSpec) -> EnvironmentSpec:
        """What the agent finds in `main` beside the task's own: its capsules, and the folder of its model's gateway.
        Where the engine is on another host, or a capsule isn't built yet, the agent's set-up unpacks it instead."""
        try:
            traits = traits_of(self.job.arm)
        except AgentConfigInvalid as error:
            raise _agent_gone(error) from None
        if traits.calls_model:
            self.model = TrialModel(self.record, traits)
        if not traits.capsules and not traits.needs_gateway:
            return spec
        spec = msgspec.structs.replace(spec, brings_in=True)
        if not await self.provider.mounts_host_folders():
            if traits.needs_gateway:
                message = (
                    f"agent {traits.name} reaches its model through a folder of this host, and the Docker engine is "
                    "elsewhere, or not reached by its own socket: unset DOCKER_HOST where it runs on this host"
                )
                raise TrialFailed(Issue(Severity.FATAL, Phase.PREPARE, Code.AGENT_UNAVAILABLE, message))
            return spec
        mounts = await capsule_mounts(traits.capsules)
        if self.model is not None and traits.needs_gateway:
            self._for_model = self._places.enter_context(model_folder())
            self.model.folder = self._for_model.path
            mounts[self._for_model.path] = GATEWAY_FOLDER
        return msgspec.structs.replace(spec, bind_read_only=mounts)

    async def _clear_traces(self, environment: Environment, *, tests: bool) -> None:
        """Between steps: each has its own logs, and no agent sees the tests of the step before."""
        folders = [str(LOGS_AGENT), str(LOGS_VERIFIER), str(LOGS_ARTIFACTS), *([str(TESTS)] if tests else [])]
        await empty_folders(environment, folders, Phase.AGENT, Code.SETUP_FAILED)
        await make_log_folders(environment, ("agent", "verifier", "artifacts"))

    async def _enter_step(self, stage: Stage, environment: Environment) -> None:
        """A step's own files and health check, before its agent."""
        if stage.step is None or stage.folder is None:
            return
        workdir = stage.folder / "workdir"
        if workdir.is_dir():
            self.record.activity("upload workdir")
            await environment.upload(workdir, environment.workdir)
            if (workdir / "setup.sh").is_file():
                await self._run_setup(stage, environment)
        if stage.step.healthcheck is not None:
            await environment.check_health(stage.step.healthcheck)

    async def _run_setup(self, stage: Stage, environment: Environment) -> None:
        script = f"{environment.workdir.rstrip('/')}/setup.sh"
        result = await environment.execute(["bash", script], timeout_sec=self.job.task.environment.build_timeout_sec)
        if result.exit_code != 0:
            raise TrialFailed(
                Issue(
                    Severity.FATAL,
                    Phase.AGENT,
                    Code.SETUP_FAILED,
                    f"step {stage.name}: setup.sh ended with exit code {result.exit_code}",
                    (Evidence("last output", result.tail),),
                )
            )

    async def _verify(
        self, stage: Stage, environment: Environment, rows: list[Collected], image: VerifierImage | None, *, last: bool
    ) -> StepVerdict:
        job, record = self.job, self.record
        folder = record.folder / "steps" / stage.name if stage.name else record.folder
        if image is None:
            return await verify(job, stage, environment, record, folder, image=None)
        if last:
            await self._take_down(environment)
        if not any(row.destination and row.bytes for row in rows):
            record.issue(
                Issue(
                    Severity.WARNING,
                    Phase.VERIFY,
                    Code.NOTHING_HANDED_OVER,
                    "nothing was handed over: the fresh verifier gets no artifact with content",
                    tuple(Evidence(f"{row.service}:{row.source}", row.status) for row in rows),
                )
            )
        verifier = FreshVerifier(job, stage, image, self.provider, record.emit)
        self.up.append(verifier.environment)
        await verifier.start(record, rows, folder)
        verdict = await verify(job, stage, verifier.environment, record, folder, image=image)
        if not last:
            await self._take_down(verifier.environment)
        return verdict

    def _keeps(self, *, cancelled: bool) -> bool:
        """Does the agent's (or, where that is gone, the verifier's) environment stay up for a shell?"""
        if self.job.keep is Keep.NEVER or cancelled or not self.up:
            return False
        return self.job.keep is Keep.ALWAYS or not self.passed()

    async def _take_down(self, environment: Environment) -> None:
        """Remove an environment before the trial's end. Where that fails, clean-up tries again."""
        if self.job.keep is not Keep.NEVER and environment is self.up[0]:
            return  # the agent's own stays until the verdict is known
        self.record.activity("take the environment down")
        with anyio.move_on_after(CLEANUP_SEC):
            try:
                self.leftovers += await environment.down()
            except TrialFailed as failure:
                self.record.log(f"not taken down: {failure.issue.message}")
            else:
                self.up.remove(environment)

    async def clean_up(self, *, cancelled: bool) -> bool:
        """Remove what is still up, within a bound; says whether something was kept on purpose. Raises nothing."""
        record = self.record
        for environment in self.up:
            environment.phase = Phase.CLEANUP
        with record.phase(Phase.CLEANUP, CLEANUP_SEC):
            kept = self._keeps(cancelled=cancelled) and await self._keep(self.up[0])
            environments = self.up[1:] if kept else list(self.up)
            with anyio.move_on_after(CLEANUP_SEC):
                async with anyio.create_task_group() as group:
                    for environment in environments:
                        group.start_soon(self._down, environment)
            for environment in environments:
                if environment in self.up:
                    self.leftovers.append(f"{environment.spec.name} (not taken down after {CLEANUP_SEC:.0f} s)")
            if self.leftovers:
                record.issue(
                    Issue(
                        Severity.WARNING,
                        Phase.CLEANUP,
                        Code.LEFTOVER,
                        f"left behind: {', '.join(self.leftovers)}; `trialdeck sweep` removes it",
                    )
                )
        if kept and self._for_model is not None:
            self._for_model.keep()
        self._places.close()
        return kept

    async def _keep(self, environment: Environment) -> bool:
        """False where it could not be kept; then it is taken down like any other."""
        why = f"not done after {CLEANUP_SEC:.0f} s"
        with anyio.move_on_after(CLEANUP_SEC):
            try:
                await environment.keep()
                return True
            except Exception as error:
                why = _words(error)
        self.record.issue(
            Issue(
                Severity.WARNING, Phase.CLEANUP, Code.ENVIRONMENT_FAILED, f"the environment could not be kept up: {why}"
            )
        )
        return False

    async def _down(self, environment: Environment) -> None:
        try:
            self.leftovers += await environment.down()
        except Exception as error:
            self.leftovers.append(f"{environment.spec.name} ({_words(error)})")
        self.up.remove(environment)


def _agent_gone(error: AgentConfigInvalid) -> TrialFailed:
    code = Code.AGENT_UNAVAILABLE if isinstance(error, AgentUnavailable) else Code.AGENT_SETUP_FAILED
    return TrialFailed(Issue(Severity.FATAL, Phase.AGENT, code, str(error)))


def _words(error: Exception) -> str:
    return error.issue.message if isinstance(error, TrialFailed) else f"{type(error).__name__}: {error}"


def failure_in(error: Exception) -> TrialFailed | None:
    """The failure that this is, or the first of those that came at once; None where something else failed, too."""
    while isinstance(error, ExceptionGroup):
        failures, rest = error.split(TrialFailed)
        if failures is None or rest is not None:
            return None
        error = failures.exceptions[0]
    return error if isinstance(error, TrialFailed) else None


def _issue_of(error: Exception, record: Record) -> Issue:
    """What failed: a phase, said by itself, else something of ours."""
    failure = failure_in(error)
    return failure.issue if failure is not None else _engine_failed(error, record)


def _engine_failed(error: Exception, record: Record) -> Issue:
    with suppress(OSError):  # the disk may be what failed
        (record.folder / "exception.txt").write_text(traceback_of(error), encoding="utf-8", errors="replace")
    return engine_fault(error, record.phase_now)
