"""`replay`: runs the commands of a recorded trajectory again. Deterministic, no model.

Parameter `sessions` is a folder with `<task>.<attempt>.json` or `<task>.json` (for every other attempt), or a
trajectory file; parameter `run` is a run folder (ours or a Harbor job) whose trials of the same task are replayed;
parameter `trial` is the folder of the one trial that every attempt replays.
Tokens and costs are those of the recording.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec

from engine.agents.agent import AgentConfigInvalid, AgentEnd, AgentSession, AgentTraits, StepReport
from engine.agents.recording import RecordedCommand, Recording, read_recording
from engine.environments.environment import ExecResult
from engine.events import ArmInfo
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed

TRAITS = AgentTraits(
    name="replay",
    version="1",
    summary="runs the commands of a recorded session again; no model is called",
    parameters={
        "sessions": "a folder of trajectories (<task>.json, <task>.<attempt>.json), or one trajectory",
        "run": "a run folder whose trials of the same task are replayed",
        "trial": "the folder of the one trial that every attempt replays",
    },
)

STATE = "/tmp/.trialdeck-replay"
"""What the names of its files in `main` begin with."""


def wrapper(state: str) -> str:
    """A script for `bash -c` that shows the file in `$1` and runs it as the next command of one long shell session.

    Working directory and exported variables live on from one command to the next in the folder `state`; the command
    itself may do anything: `exit`, take any variable's name, leave a background process, which holds nothing of ours.
    """
    place = shlex.quote(state)
    return f"""
mkdir -p {place} 2>/dev/null
if [ -s {place}/env ]; then . {place}/env 2>/dev/null; fi
if [ -s {place}/cwd ]; then cd "$(cat {place}/cwd)" 2>/dev/null; fi
__trialdeck_end() {{ set -- $?; pwd > {place}/cwd; export -p > {place}/env; exit "$1"; }} 2>/dev/null
trap __trialdeck_end EXIT
printf '$ '; cat "$1"
. "$1"
"""


class ReplayAgent:
    name = "replay"
    version = "1"
    log_name = "replay.txt"

    def __init__(self, arm: ArmInfo) -> None:
        self.arm = arm
        self.sessions = _folder(arm, "sessions")
        self.run_folder = _folder(arm, "run")
        self.trial_folder = _folder(arm, "trial")
        if sum(place is not None for place in (self.sessions, self.run_folder, self.trial_folder)) != 1:
            raise AgentConfigInvalid(
                f'arm {arm.name}: agent "replay" needs one of the parameters sessions (a folder of trajectories or a '
                "file), run (a run folder) and trial (a trial's folder)"
            )
        if self.run_folder is not None and not any(self.run_folder.glob("*/config.json")):
            raise AgentConfigInvalid(
                f"arm {arm.name}: run={arm.parameters['run']}: no run folder, there are no trials in it"
            )
        self.recording: Recording | None = None

    async def set_up(self, session: AgentSession) -> None:
        try:
            self.recording = self._find(session.task.id, session.attempt, session.step)
        except AgentConfigInvalid as error:
            raise TrialFailed(
                Issue(
                    Severity.FATAL, Phase.AGENT, Code.AGENT_SETUP_FAILED, str(error), (Evidence("arm", self.arm.name),)
                )
            ) from None

    async def run(self, session: AgentSession) -> AgentEnd:
        recording = self.recording
        if recording is None:
            raise RuntimeError("run before set_up")
        (session.folder / "trajectory.json").write_bytes(recording.path.read_bytes())
        state = f"{STATE}-{session.step}" if session.step else STATE
        last: int | None = 0
        for step in recording.steps:
            session.report_step(
                StepReport(
                    what=step.message,
                    tokens_in=step.tokens_in,
                    tokens_cached=step.tokens_cached,
                    tokens_out=step.tokens_out,
                    cost_usd=step.cost_usd,
                )
            )
            for number, command in enumerate(step.commands, 1):
                session.activity(f"step {step.number} of {len(recording.steps)} · bash")
                result = await self._command(session, command, state, f"{step.number}-{number}")
                last = result.exit_code
                if not result.environment_alive:
                    return AgentEnd(exit_code=last, note="main is dead, the rest was not replayed")
        return AgentEnd(exit_code=last)

    async def _command(self, session: AgentSession, command: RecordedCommand, state: str, label: str) -> ExecResult:
        path = f"{state}-{label}.sh"
        await session.environment.upload_bytes(command.command.encode("utf-8", "surrogateescape") + b"\n", path)
        return await session.execute(["bash", "-c", wrapper(state), "bash", path], timeout_sec=command.timeout_sec)

    def _find(self, task: str, attempt: int, step: str) -> Recording:
        for path in self._places(task, attempt, step):
            if path.is_file():
                return read_recording(path)
        where = self.sessions or self.run_folder or self.trial_folder
        raise AgentConfigInvalid(f"arm {self.arm.name}: no recorded session of task {task} in {where}")

    def _places(self, task: str, attempt: int, step: str) -> list[Path]:
        if self.sessions is not None:
            if self.sessions.is_file():
                return [self.sessions]
            names = [f"{task}.{attempt}", task]
            stepped = [f"{name}.{step}" for name in names] if step else []
            return [self.sessions / f"{name}.json" for name in (*stepped, *names)]
        inside = Path("steps") / step / "agent" / "trajectory.json" if step else Path("agent") / "trajectory.json"
        if self.trial_folder is not None:
            return [self.trial_folder / inside, self.trial_folder / "agent" / "trajectory.json"]
        trials = [trial for trial in sorted((self.run_folder or Path()).iterdir()) if _task_of(trial) == task]
        chosen = trials[min(attempt, len(trials)) - 1 :] + trials
        return [trial / place for trial in chosen for place in (inside, Path("agent") / "trajectory.json")]


class _TrialConfigTask(msgspec.Struct):
    path: str = ""
    name: str = ""


class _TrialConfig(msgspec.Struct):
    task: _TrialConfigTask


def _task_of(trial: Path) -> str | None:
    """The task of a trial folder (ours or Harbor's), None where it says none."""
    try:
        task = msgspec.json.decode((trial / "config.json").read_bytes(), type=_TrialConfig).task
    except (OSError, msgspec.DecodeError):
        return None
    return Path(task.path).name or task.name.rpartition("/")[2]


def _folder(arm: ArmInfo, key: str) -> Path | None:
    value = arm.parameters.get(key)
    if value is None:
        return None
    path = Path(value).expanduser()
    if not path.exists():
        raise AgentConfigInvalid(f"arm {arm.name}: {key}={value}: no such file or folder")
    return path.resolve()
