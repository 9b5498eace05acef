"""Verification: in the agent's environment, or in a fresh one that gets only the artifacts."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anyio

from engine import events as ev
from engine.environments.environment import Emit, Environment, ExecResult, Provider
from engine.environments.script import launch, normalised
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.tasks.host_env import resolve_env
from engine.tasks.task import LOGS_VERIFIER, TESTS
from engine.tasks.verifier_image import VerifierImage, test_script
from engine.text import decode_output
from engine.trial.collect import Collected
from engine.trial.definitions import verifier_environment
from engine.trial.job import DOWNLOAD_SEC, MAX_LOG_FOLDER_BYTES, SCRIPT_FETCH_SEC, Stage, TrialJob
from engine.trial.log_file import LogFile
from engine.trial.record import Record, StepVerdict
from engine.trial.reward import RewardReading, read_reward
from engine.trial.verifier_evidence import VerifierEvidence, look

_SCRIPT = str(TESTS / "test.sh")
_REWARDS = (str(LOGS_VERIFIER / "reward.txt"), str(LOGS_VERIFIER / "reward.json"))
_OUTPUT = "test-stdout.txt"


class FreshVerifier:
    """A verifier's own environment: made from its own definition, given the artifacts, removed at the end."""

    def __init__(self, job: TrialJob, stage: Stage, image: VerifierImage, provider: Provider, emit: Emit) -> None:
        self.image = image
        self.environment = provider.environment(verifier_environment(job, stage, image), emit)

    async def start(self, record: Record, rows: list[Collected], folder: Path) -> None:
        record.activity("start a fresh verifier")
        await self.environment.start()
        await make_log_folders(self.environment, ("verifier",))
        for row in rows:
            if row.destination:
                record.activity(f"restore {row.path}")
                await self.environment.upload(folder / row.destination, row.path)


async def make_log_folders(environment: Environment, names: tuple[str, ...]) -> None:
    """`/logs/<name>` with mode 0777 (the folders only), so that a task's own user can write there."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)  # becomes `/logs` itself, which others must be able to enter
        for name in names:
            folder = Path(made) / name
            folder.mkdir()
            folder.chmod(0o777)
        await environment.upload(Path(made), "/logs")


async def verify(
    job: TrialJob, stage: Stage, environment: Environment, record: Record, folder: Path, *, image: VerifierImage | None
) -> StepVerdict:
    """Run the tests in `environment` and read the reward. Raises TrialFailed where there can be no valid score.

    `folder` is the trial's folder (the step's, in a multi-step task); `image` is a fresh verifier's. In a fresh verifier what the output says about its
    set-up decides; in a shared one, where the agent could have written it, it is only a proposal.
    """
    script = await _bring_tests(job, stage, environment, record, image)
    logs = folder / "verifier"
    logs.mkdir(parents=True, exist_ok=True)
    limit = stage.verifier.timeout_sec * job.timeout_factor
    record.activity("test.sh")
    await _remove_stale_rewards(environment)
    with LogFile(logs / _OUTPUT) as log:
        result = await environment.execute(
            launch(script),
            user=stage.verifier.user,
            env=resolve_env(stage.verifier.env, job.allowed_host_env, "verifier.env").env,
            sink=log.write,
            timeout_sec=limit,
        )
    await _download_logs(environment, logs)
    if result.timed_out:
        raise TrialFailed(
            Issue(
                Severity.FATAL,
                Phase.VERIFY,
                Code.VERIFIER_TIMEOUT,
                f"the verifier's time limit of {limit:g} s was up (measured {result.seconds:.1f} s)",
                (Evidence("last output", decode_output(log.tail), f"verifier/{_OUTPUT}", log.lines),),
            )
        )
    return _judge(record, stage, logs, result, log, fresh=image is not None)


async def _bring_tests(
    job: TrialJob, stage: Stage, environment: Environment, record: Record, image: VerifierImage | None
) -> str:
    """Tests in place and `test.sh` executable; returns its path."""
    if image is None or not image.tests_baked:
        record.activity("upload tests")
        folders = [job.task.folder / "tests", *([stage.folder / "tests"] if stage.folder is not None else [])]
        for tests in folders:
            if tests.is_dir():
                await environment.upload(tests, str(TESTS))
        source = test_script(job.task, stage.step)
        if source is None:
            raise TrialFailed(
                Issue(
                    Severity.FATAL, Phase.VERIFY, Code.VERIFIER_SETUP_FAILED, f"task {job.task.id} has no tests/test.sh"
                )
            )
        await environment.upload_bytes(normalised(source.read_bytes()), _SCRIPT, mode=0o755)
        return _SCRIPT
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "test.sh"
        transfer = await environment.download(_SCRIPT, copy, timeout_sec=SCRIPT_FETCH_SEC)
        if transfer.status != "collected" or not copy.is_file():
            raise TrialFailed(
                Issue(
                    Severity.FATAL,
                    Phase.VERIFY,
                    Code.VERIFIER_SETUP_FAILED,
                    f"the verifier's image has no {_SCRIPT}; its tests must be part of it",
                    (Evidence("image of", str(image.folder)),),
                )
            )
        script = copy.read_bytes()
        executable = copy.stat().st_mode & 0o111
        if normalised(script) != script or not executable:
            await environment.upload_bytes(normalised(script), _SCRIPT, mode=0o755)
    return _SCRIPT


async def _remove_stale_rewards(environment: Environment) -> None:
    await environment.execute(["rm", "-rf", *_REWARDS], user="0", timeout_sec=SCRIPT_FETCH_SEC)


async def _download_logs(environment: Environment, logs: Path) -> None:
    """`/logs/verifier` to the host. Our own record of the output wins over a file of that name in there."""
    with anyio.move_on_after(DOWNLOAD_SEC):
        await environment.download(
            str(LOGS_VERIFIER), logs, exclude=(_OUTPUT,), max_bytes=MAX_LOG_FOLDER_BYTES, timeout_sec=DOWNLOAD_SEC
        )


def _judge(record: Record, stage: Stage, logs: Path, result: ExecResult, log: LogFile, *, fresh: bool) -> StepVerdict:
    reading = read_reward(logs)
    evidence = look(logs / _OUTPUT, logs / "ctrf.json", result.exit_code)
    output = Evidence("last output", decode_output(log.tail), f"verifier/{_OUTPUT}", log.lines)
    never_tested = bool(evidence.setup_failure) and not evidence.tests_ran and not reading.reward
    if never_tested:
        _raise_setup_issue(record, evidence, output, fatal=fresh)
    if reading.reward is None:
        _raise_result_issue(record, reading, result, output)
    for name in reading.booleans:
        record.issue(
            Issue(
                Severity.WARNING,
                Phase.VERIFY,
                Code.REWARD_IS_BOOLEAN,
                f"{reading.source}: {name} is true or false, counted as 1 or 0",
            )
        )
    reward = None if never_tested and fresh else reading.reward
    counts = evidence.counts
    record.emit(
        ev.RewardRecorded(
            trial=record.trial,
            reward=reward,
            rewards=reading.rewards,
            source=reading.source,
            tests_passed=counts.passed if counts else None,
            tests_total=counts.total if counts else None,
            step=stage.name,
        )
    )
    return StepVerdict(step=stage.name, reward=reward, rewards=reading.rewards if reward is not None else {})


def _raise_setup_issue(record: Record, evidence: VerifierEvidence, output: Evidence, *, fatal: bool) -> None:
    record.issue(
        Issue(
            Severity.FATAL if fatal else Severity.WARNING,
            Phase.VERIFY,
            Code.VERIFIER_SETUP_FAILED,
            ("the verifier never got to its tests: " if fatal else "the verifier may never have got to its tests: ")
            + evidence.setup_failure,
            (Evidence("sign", evidence.setup_failure, f"verifier/{_OUTPUT}", evidence.line), output),
        )
    )


def _raise_result_issue(record: Record, reading: RewardReading, result: ExecResult, output: Evidence) -> None:
    """Why there is no reward: killed, out of memory, or simply none or a wrong one."""
    code = result.exit_code
    ended = "lost its environment" if not result.environment_alive else f"ended with exit code {code}"
    if result.out_of_memory:
        ended = "hit the memory limit"
    if not result.environment_alive or result.out_of_memory or (code is not None and code > 128):
        record.issue(
            Issue(
                Severity.ERROR,
                Phase.VERIFY,
                Code.VERIFIER_CRASHED,
                f"the verifier {ended} before it wrote a reward",
                (output,),
            )
        )
    facts = [output]
    if reading.raw:
        facts.insert(0, Evidence(f"{reading.source} begins with", reading.raw, f"verifier/{reading.source}", 1))
    record.issue(
        Issue(
            Severity.WARNING,
            Phase.VERIFY,
            Code.VERIFIER_RESULT_INVALID,
            f"{reading.problem}; test.sh {ended}",
            tuple(facts),
        )
    )


def overall(verdicts: list[StepVerdict], steps: int, strategy: str) -> tuple[float | None, dict[str, float]]:
    """The trial's reward from its steps'. `mean`: over the steps that have one; `final`: the last step's, where it was
    reached. A single verdict is itself. The rewards' table is built the same way, name by name."""
    if steps <= 1:
        return (verdicts[0].reward, verdicts[0].rewards) if verdicts else (None, {})
    if strategy == "final":
        last = verdicts[-1] if len(verdicts) == steps else None
        return (last.reward, last.rewards) if last else (None, {})
    scored = [verdict for verdict in verdicts if verdict.reward is not None]
    if not scored:
        return None, {}
    names = {name for verdict in scored for name in verdict.rewards}
    rewards = {
        name: sum(values) / len(values)
        for name in sorted(names)
        if (values := [verdict.rewards[name] for verdict in scored if name in verdict.rewards])
    }
    return sum(verdict.reward for verdict in scored if verdict.reward is not None) / len(scored), rewards


def falls_short(verdict: StepVerdict, minimum: float | dict[str, float] | None) -> str:
    """Why a step's verdict ends a multi-step task, "" if it doesn't."""
    if minimum is None:
        return ""
    wanted = minimum if isinstance(minimum, dict) else {"reward": minimum}
    for name, least in wanted.items():
        got = verdict.reward if name == "reward" and verdict.reward is not None else verdict.rewards.get(name)
        if got is None or got < least:
            return f"{name} is {'missing' if got is None else format(got, 'g')}, at least {least:g} is needed to go on"
    return ""
