"""The task's folder of skills, put where a program in `main` looks for its own."""

from __future__ import annotations

from typing import Literal

from engine.agents.agent import AgentSession
from engine.agents.in_main.forwarder import OWN_RUNTIME
from engine.agents.in_main.setup_failed import setup_failed

_COPY_SEC = 120.0
_COPY = {
    "python": ("-I", "-c", "import shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2], dirs_exist_ok=True)"),
    "node": ("-e", "require('fs').cpSync(process.argv[1], process.argv[2], {recursive: true})"),
}


async def copy_skills(session: AgentSession, target: str, runtime: Literal["node", "python"], program: str) -> None:
    """Copied by the runtime, `program`, that the agent has in `main`: no other program of the image is needed.

    Raises TrialFailed where the task's folder isn't there.
    """
    source = session.task.environment.skills_dir
    if not source:
        return
    result = await session.execute(
        [program, *_COPY[runtime], source, target], user="0", env=OWN_RUNTIME, logged=False, timeout_sec=_COPY_SEC
    )
    if result.exit_code != 0:
        raise setup_failed(f"the task's skills_dir {source} can't be copied to {target} in main", result)
