"""One trial, from top to bottom: prepare, agent, collect, verify, clean up."""

from __future__ import annotations

import time
import traceback

import anyio

from engine import events as ev
from engine.agents.registry import make_agent
from engine.environments.environment import Emit, Environment, Provider
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.tasks.verifier_image import VerifierImage, verifier_image
from engine.trial.agent_phase import run_agent
from engine.trial.collect import Collected, collect
from engine.trial.definitions import agent_environment
from engine.trial.job import CLEANUP_SEC, Keep, Stage, TrialJob
from engine.trial.record import Record, StepVerdict
from engine.trial.reward import passes
from engine.trial.verify import FreshVerifier, falls_short, make_log_folders, overall, verify


async def run_trial(job: TrialJob, provider: Provider, emit: Emit) -> Record:
    """Run one trial to its end and return its record; its last event, `TrialFinished`, is in it and not yet sent.

    Whatever fails ends as an issue. Cancellation cleans up, gives the outcome `cancelled` and returns as well, so that the
    caller can store the record; the caller's cancel scope then ends what is left.
    """
    record = Record(job, emit)
    trial = _Trial(job, provider, record)
    cancelled = False
    try:
        await trial.run()
    except TrialFailed as failure:
        record.issue(failure.issue)
    except anyio.get_cancelled_exc_class():
        cancelled = True
        record.issue(
            Issue(Severity.ERROR, record.phase_now, Code.HARNESS_INTERRUPTED, f"cancelled in phase {record.phase_now}")
        )
    except Exception as error:
        record.issue(_engine_failed(error, record))
    with anyio.CancelScope(shield=True):
        kept = await trial.clean_up(cancelled=cancelled)
    reward, rewards = overall(record.verdicts, len(job.stages()), job.task.multi_step_reward_strategy)
    if cancelled:
        record.finish("cancelled", None, None, kept)
    elif reward is None or record.fatal:
        record.finish("unscored", None, None, kept)
    else:
        if len(job.stages()) > 1:
            emit(ev.RewardRecorded(trial=job.trial, reward=reward, rewards=rewards, source="steps"))
        record.finish("scored", reward, passes(reward), kept)
    return record


class _Trial:
    """The environments that one trial has up, so that clean-up finds them whatever happened."""

    def __init__(self, job: TrialJob, provider: Provider, record: Record) -> None:
        self.job = job
        self.provider = provider
        self.record = record
        self.up: list[Environment] = []
        self.leftovers: list[str] = []

    async def run(self) -> None:
        job, record = self.job, self.record
        environment = await self._prepare()
        stages = job.stages()
        for number, stage in enumerate(stages, 1):
            last = number == len(stages)
            image = verifier_image(job.task, stage.step)
            limit = stage.agent.timeout_sec * job.timeout_factor if stage.agent.timeout_sec is not None else None
            with record.phase(Phase.AGENT, limit, stage.name):
                await self._enter_step(stage, environment)
                await run_agent(job, stage, make_agent(job.arm), environment, record)
            with record.phase(Phase.COLLECT, None, stage.name):
                rows = await collect(job, stage, environment, record, stop_main=image is not None and last)
            with record.phase(Phase.VERIFY, stage.verifier.timeout_sec * job.timeout_factor, stage.name):
                verdict = await self._verify(stage, environment, rows, image, last=last)
            record.verdicts.append(verdict)
            minimum = stage.step.min_reward if stage.step is not None else None
            short = falls_short(verdict, minimum) if not last else ""
            if short:
                record.log(f"step {stage.name} ends the task: {short}")
                break

    async def _prepare(self) -> Environment:
        job, record = self.job, self.record
        spec = agent_environment(job)
        with record.phase(Phase.PREPARE, spec.build_timeout_sec):
            environment = self.provider.environment(spec, record.emit)
            self.up.append(environment)
            await environment.start()
            await make_log_folders(environment, ("agent", "verifier", "artifacts"))
        return environment

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
        verdicts = self.record.verdicts
        passed = bool(verdicts) and all(verdict.reward == 1.0 for verdict in verdicts) and not self.record.fatal
        return self.job.keep is Keep.ALWAYS or not passed

    async def _take_down(self, environment: Environment) -> None:
        """Remove an environment; under `--keep always|failed` the agent's own stays until the verdict is known."""
        if self.job.keep is not Keep.NEVER and environment is self.up[0]:
            return
        self.record.activity("take the environment down")
        self.leftovers += await environment.down()
        self.up.remove(environment)

    async def clean_up(self, *, cancelled: bool) -> bool:
        """Remove what is still up, within a bound; says whether something was kept on purpose."""
        record = self.record
        kept = self._keeps(cancelled=cancelled)
        with record.phase(Phase.CLEANUP, CLEANUP_SEC):
            environments = list(self.up)
            if kept:
                environment = environments.pop(0)
                with anyio.move_on_after(CLEANUP_SEC):
                    await environment.keep()
            began = time.monotonic()
            with anyio.move_on_after(CLEANUP_SEC) as scope:
                async with anyio.create_task_group() as group:
                    for environment in environments:
                        group.start_soon(self._down, environment)
            if scope.cancelled_caught:
                self.leftovers.append(f"clean-up was not done after {time.monotonic() - began:.0f} s")
            if self.leftovers:
                record.issue(
                    Issue(
                        Severity.WARNING,
                        Phase.CLEANUP,
                        Code.LEFTOVER,
                        f"left behind: {', '.join(self.leftovers)}; `trialdeck sweep` removes it",
                    )
                )
        return kept

    async def _down(self, environment: Environment) -> None:
        try:
            self.leftovers += await environment.down()
        except TrialFailed as failure:
            self.leftovers.append(f"{environment.spec.name} ({failure.issue.message})")
        except Exception as error:
            self.leftovers.append(f"{environment.spec.name} ({type(error).__name__}: {error})")


def _engine_failed(error: Exception, record: Record) -> Issue:
    """A fault of ours. The traceback goes to `exception.txt`, never to a screen."""
    text = "".join(traceback.format_exception(error))
    (record.folder / "exception.txt").write_text(text, encoding="utf-8", errors="replace")
    if isinstance(error, OSError) and error.errno == 28:
        return Issue(
            Severity.FATAL,
            record.phase_now,
            Code.DISK_FULL,
            f"no space left on the host's disk: {error.filename or error}",
            (Evidence("way out", "free space where the run folder lies, then `trialdeck resume`"),),
        )
    if isinstance(error, OSError) and error.errno in (23, 24):
        return Issue(
            Severity.FATAL,
            record.phase_now,
            Code.OUT_OF_DESCRIPTORS,
            "the engine ran out of file descriptors",
            (Evidence("way out", "raise `ulimit -n` or lower --concurrency"),),
        )
    return Issue(
        Severity.FATAL,
        record.phase_now,
        Code.ENGINE_FAILED,
        f"the engine failed: {type(error).__name__}: {error}",
        (Evidence("traceback", text[-3000:], "exception.txt", 1),),
    )
