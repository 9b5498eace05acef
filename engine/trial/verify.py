"""Verification: in the agent's environment, or in a fresh one that gets only the artifacts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import anyio
import anyio.to_thread
import msgspec

from engine import events as ev
from engine.environments.environment import Emit, Environment, ExecResult, Provider
from engine.environments.excludes import tells_of
from engine.environments.script import launch, normalised
from engine.hidden_values import HiddenValues, HidingSink
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.log_streams import SUFFIX
from engine.tasks.harbor_ignore import selected
from engine.tasks.host_env import resolve_env
from engine.tasks.invalid import TaskInvalid
from engine.tasks.task import LOGS_VERIFIER, MAIN, TESTS
from engine.tasks.verifier_image import VerifierImage, test_script
from engine.text import clean_line, decode_output
from engine.trial.collect import Collected
from engine.trial.definitions import verifier_environment
from engine.trial.job import DOWNLOAD_SEC, MAX_LOG_FOLDER_BYTES, SCRIPT_FETCH_SEC, Stage, TrialJob
from engine.trial.log_file import LogFile
from engine.trial.places import EMPTY_SEC, empty_folders, make_log_folders
from engine.trial.record import Record, StepVerdict
from engine.trial.reward import RewardReading, read_reward
from engine.trial.verifier_evidence import VerifierEvidence, look

_SCRIPT = str(TESTS / "test.sh")
_OUTPUT = "test-stdout.txt"
WHAT_CHARS = 500
PATHS_AT_ONCE = 100


class FreshVerifier:
    """A verifier's own environment: made from its own definition, given the artifacts, removed at the end."""

    def __init__(self, job: TrialJob, stage: Stage, image: VerifierImage, provider: Provider, emit: Emit) -> None:
        self.image = image
        self.environment = provider.environment(verifier_environment(job, stage, image), emit)

    async def start(self, record: Record, rows: list[Collected], folder: Path) -> None:
        """Raises TrialFailed, of the phase `verify`: the agent's environment had been prepared well."""
        record.activity("start a fresh verifier")
        try:
            await self.environment.start()
        except TrialFailed as failure:
            raise TrialFailed(msgspec.structs.replace(failure.issue, phase=Phase.VERIFY)) from failure
        await make_log_folders(self.environment, ("verifier",))
        handed_over = [row for row in rows if row.destination and os.path.lexists(folder / row.destination)]
        await self._delete_again(handed_over, record.deleted)
        placed: dict[str, Collected] = {}
        for row in handed_over:
            record.activity(f"restore {row.path}")
            other = placed.setdefault(row.path, row)
            if other.service != row.service:
                _tell_collision(record, row, other)
            await self.environment.upload(folder / row.destination, row.path)

    async def _delete_again(self, rows: Sequence[Collected], deleted: Sequence[str]) -> None:
        """What the agent deleted in a folder that is handed over does not come back from the verifier's image. What
        that image has there of its own stays, and so does what the artifact excludes."""
        paths = [path for path in deleted if any(_holds(row, path) for row in rows)]
        for at in range(0, len(paths), PATHS_AT_ONCE):
            command = ["rm", "-rf", "--", *paths[at : at + PATHS_AT_ONCE]]
            await self.environment.execute(command, user="0", timeout_sec=DOWNLOAD_SEC)


def _holds(row: Collected, path: str) -> bool:
    """Does this artifact speak for the path?"""
    if row.service != MAIN or row.type != "directory":
        return False
    return tells_of(PurePosixPath(row.path), row.exclude, path)


def _tell_collision(record: Record, row: Collected, other: Collected) -> None:
    record.issue(
        Issue(
            Severity.WARNING,
            Phase.VERIFY,
            Code.ARTIFACT_COLLISION,
            f"{row.service}:{row.source} goes to {row.path} in the verifier, over what is from "
            f"{other.service}:{other.source}",
            service=row.service,
        )
    )


async def verify(
    job: TrialJob, stage: Stage, environment: Environment, record: Record, folder: Path, *, image: VerifierImage | None
) -> StepVerdict:
    """Run the tests in `environment` and read the reward. Raises TrialFailed where there can be no valid score.

    `folder` is the trial's folder (the step's, in a multi-step task); `image` is a fresh verifier's. In a fresh
    verifier what the output says about its set-up decides; in a shared one, where the agent could have written it, it
    is only a proposal.
    """
    script = await _bring_tests(job, stage, environment, record, image)
    logs = folder / "verifier"
    logs.mkdir(parents=True, exist_ok=True)
    limit = stage.verifier.timeout_sec * job.timeout_factor
    record.activity("test.sh")
    # No stale or planted reward, no old report.
    await empty_folders(environment, [str(LOGS_VERIFIER)], Phase.VERIFY, Code.VERIFIER_SETUP_FAILED)
    if image is None:
        await make_log_folders(environment, ("verifier",))  # the agent may have removed it
    with (
        LogFile(logs / _OUTPUT, record.folder) as log,
        HidingSink(log.write, HiddenValues.of(job.allowed_host_env)) as shown,
    ):
        result = await environment.execute(
            launch(script),
            user=stage.verifier.user,
            env=resolve_env(stage.verifier.env, job.allowed_host_env, "verifier.env").env,
            sink=shown,
            timeout_sec=limit,
        )
    if (complaint := log.complaint(Phase.VERIFY)) is not None:
        record.issue(complaint)
    if not result.started and result.environment_alive:
        raise TrialFailed(_not_started(result))
    left_out = await _download_logs(environment, logs)
    if result.timed_out:
        raise TrialFailed(
            Issue(
                Severity.FATAL,
                Phase.VERIFY,
                Code.VERIFIER_TIMEOUT,
                f"the verifier's time limit of {limit:g} s was up (measured {result.seconds:.1f} s)",
                (_last_output(log),),
            )
        )
    return _judge(record, stage, logs, result, log, left_out, fresh=image is not None)


def _not_started(result: ExecResult) -> Issue:
    why = clean_line(result.tail, WHAT_CHARS)
    message = f"test.sh could not be started: {why}"
    return Issue(
        Severity.FATAL,
        Phase.VERIFY,
        Code.VERIFIER_SETUP_FAILED,
        message,
        (Evidence("the engine says", result.tail),),
        service=MAIN,
    )


async def _bring_tests(
    job: TrialJob, stage: Stage, environment: Environment, record: Record, image: VerifierImage | None
) -> str:
    """Tests in place and `test.sh` executable; returns its path."""
    if image is None or not image.tests_baked:
        record.activity("upload tests")
        folders = [job.task.folder / "tests", *([stage.folder / "tests"] if stage.folder is not None else [])]
        for tests in folders:
            if tests.is_dir():
                await _upload_tests(environment, job.task.folder, tests)
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


async def _upload_tests(environment: Environment, task: Path, tests: Path) -> None:
    """What the agent put in the place of the folder or of a part of it makes room."""
    with tempfile.TemporaryDirectory(prefix="trialdeck-") as place:
        try:
            chosen = await anyio.to_thread.run_sync(selected, task, tests, Path(place))
        except TaskInvalid as invalid:
            raise TrialFailed(msgspec.structs.replace(invalid.issue, phase=Phase.VERIFY)) from None
        try:
            await environment.upload(chosen, str(TESTS))
        except TrialFailed:
            await environment.execute(["rm", "-rf", "--", str(TESTS)], user="0", timeout_sec=EMPTY_SEC)
            await environment.upload(chosen, str(TESTS))


def _last_output(log: LogFile) -> Evidence:
    return Evidence("last output", decode_output(log.tail), log.name, log.lines)


async def _download_logs(environment: Environment, logs: Path) -> tuple[str, ...]:
    """`/logs/verifier` to the host; what was left out of it, and why. Our own record of the output, and of its streams,
    wins over a file of that name in there."""
    with anyio.move_on_after(DOWNLOAD_SEC):
        transfer = await environment.download(
            str(LOGS_VERIFIER),
            logs,
            exclude=(str(LOGS_VERIFIER / _OUTPUT), str(LOGS_VERIFIER / (_OUTPUT + SUFFIX))),
            max_bytes=MAX_LOG_FOLDER_BYTES,
            timeout_sec=DOWNLOAD_SEC,
        )
        return transfer.skipped
    raise TrialFailed(
        Issue(
            Severity.FATAL,
            Phase.VERIFY,
            Code.ARTIFACT_TRANSFER_FAILED,
            f"downloading {LOGS_VERIFIER} took longer than {DOWNLOAD_SEC:.0f} s",
        )
    )


def _judge(
    record: Record,
    stage: Stage,
    logs: Path,
    result: ExecResult,
    log: LogFile,
    left_out: Sequence[str],
    *,
    fresh: bool,
) -> StepVerdict:
    reading = read_reward(logs, left_out)
    evidence = look(logs / _OUTPUT, logs / "ctrf.json", result.exit_code)
    output = _last_output(log)
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
    if reading.contradiction:
        record.issue(Issue(Severity.WARNING, Phase.VERIFY, Code.REWARD_CONTRADICTED, reading.contradiction, (output,)))
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
            (Evidence("sign", evidence.setup_failure, output.file, evidence.line), output),
        )
    )


def _raise_result_issue(record: Record, reading: RewardReading, result: ExecResult, output: Evidence) -> None:
    """Why there is no reward: killed, out of memory, or simply none or a wrong one."""
    code = result.exit_code
    ended = "lost its environment" if not result.environment_alive else f"ended with exit code {code}"
    if result.out_of_memory:
        ended = "hit the memory limit"
    lost = not result.environment_alive and not result.out_of_memory  # by whom, the environment's own issue tells
    if lost or result.out_of_memory or (code is not None and code > 128):
        record.issue(
            Issue(
                Severity.ERROR,
                Phase.VERIFY,
                Code.ENVIRONMENT_DIED if lost else Code.VERIFIER_CRASHED,
                f"the verifier {ended} before it wrote a reward",
                (output,),
            )
        )
    facts = [output]
    if reading.raw:
        file = str(Path(output.file).with_name(reading.source))
        facts.insert(0, Evidence(f"{reading.source} begins with", reading.raw, file, 1))
    record.issue(
        Issue(
            Severity.WARNING,
            Phase.VERIFY,
            Code.VERIFIER_RESULT_INVALID,
            f"{reading.problem}; test.sh {ended}",
            tuple(facts),
        )
    )


def overall(verdicts: Sequence[StepVerdict], strategy: str) -> tuple[float | None, dict[str, float]]:
    """The trial's reward from those of the steps that ran: their mean, or the last one's (`final`).

    As in Harbor, steps that were not reached don't count, and a name that a step's table lacks is 0 there. A step
    without a reward leaves the whole trial without one.
    """
    found = [verdict.reward for verdict in verdicts if verdict.reward is not None]
    if not verdicts or len(found) < len(verdicts):
        return None, {}
    if strategy == "final" or len(verdicts) == 1:
        return verdicts[-1].reward, verdicts[-1].rewards
    names = sorted({name for verdict in verdicts for name in verdict.rewards})
    tables = {name: sum(verdict.rewards.get(name, 0.0) for verdict in verdicts) / len(verdicts) for name in names}
    return sum(found) / len(found), tables


def ends_early(verdict: StepVerdict, minimum: float | dict[str, float] | None) -> str:
    """Why no further step follows this one, "" if one does."""
    return "there is no reward" if verdict.reward is None else falls_short(verdict, minimum)


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
