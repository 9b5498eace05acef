"""`oracle`: runs the task's reference solution, which must pass."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anyio.to_thread
import msgspec

from engine.agents.agent import AgentEnd, AgentSession, AgentTraits
from engine.environments.script import launch, normalised
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
from engine.tasks.harbor_ignore import NAME as IGNORE_FILE
from engine.tasks.harbor_ignore import selected
from engine.tasks.invalid import TaskInvalid
from engine.tasks.task import SOLUTION

TRAITS = AgentTraits(
    name="oracle", version="1", summary="runs the task's reference solution, which must pass", costs_nothing=True
)


class OracleAgent:
    """Uploads `solution/` (a step's own where it has one) to `/solution` and runs `solve.sh` there."""

    name = "oracle"
    version = "1"
    log_name = "oracle.txt"

    async def set_up(self, session: AgentSession) -> None:
        folder = self._solution(session)
        script = folder / "solve.sh"
        if not script.is_file():
            raise _missing(session, script, f"which task {session.task.id} hasn't got")
        with tempfile.TemporaryDirectory(prefix="trialdeck-") as place:
            try:
                chosen = await anyio.to_thread.run_sync(selected, session.task.folder, folder, Path(place))
            except TaskInvalid as invalid:
                raise TrialFailed(msgspec.structs.replace(invalid.issue, phase=Phase.AGENT)) from None
            if not (chosen / script.name).is_file():
                raise _missing(session, script, f"which {IGNORE_FILE} of task {session.task.id} leaves out")
            await session.environment.upload(chosen, str(SOLUTION))
        await session.environment.upload_bytes(normalised(script.read_bytes()), str(SOLUTION / "solve.sh"), mode=0o755)

    async def run(self, session: AgentSession) -> AgentEnd:
        session.activity("solve.sh")
        result = await session.execute(
            launch(str(SOLUTION / "solve.sh")),
            env={"DEBIAN_FRONTEND": "noninteractive", **session.solution_env},
        )
        return AgentEnd(exit_code=result.exit_code)

    def _solution(self, session: AgentSession) -> Path:
        own = session.step_folder / "solution" if session.step_folder is not None else None
        return own if own is not None and own.is_dir() else session.task.folder / "solution"


def _missing(session: AgentSession, script: Path, why: str) -> TrialFailed:
    return TrialFailed(
        Issue(
            Severity.FATAL,
            Phase.AGENT,
            Code.AGENT_SETUP_FAILED,
            f"the oracle needs {script.relative_to(session.task.folder)}, {why}",
            (Evidence("task folder", str(session.task.folder)),),
        )
    )
