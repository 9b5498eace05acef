"""`oracle`: runs the task's reference solution, which must pass."""

from __future__ import annotations

from pathlib import Path

from engine.agents.agent import AgentEnd, AgentSession, AgentTraits
from engine.environments.script import launch, normalised
from engine.issues import Code, Evidence, Issue, Phase, Severity, TrialFailed
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
            raise TrialFailed(
                Issue(
                    Severity.FATAL,
                    Phase.AGENT,
                    Code.AGENT_SETUP_FAILED,
                    f"the oracle needs {script.relative_to(session.task.folder)}, "
                    f"which task {session.task.id} hasn't got",
                    (Evidence("task folder", str(session.task.folder)),),
                )
            )
        await session.environment.upload(folder, str(SOLUTION))
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
