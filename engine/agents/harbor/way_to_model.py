"""Where `main` finds the gateway, for a program that Harbor brings into any image."""

from __future__ import annotations

from engine.agents.agent import AgentSession
from engine.agents.capsules.python_v1 import PYTHON, PYTHON_TAG
from engine.agents.in_main.carried import carried
from engine.agents.in_main.forwarder import Forwarder

LOOK_SEC = 30.0
_LOOK = """
python3 -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null && command -v python3 && exit
node -e 'process.exit(+process.versions.node.split(".")[0] < 12)' 2>/dev/null && command -v node
"""


async def forwarder(session: AgentSession) -> Forwarder:
    """On the image's own Python or Node; where it has none, a Python is carried in. Raises TrialFailed."""
    said = bytearray()
    await session.execute(
        ["sh", "-c", _LOOK],
        logged=False,
        timeout_sec=LOOK_SEC,
        sink=lambda stream, data: said.extend(data if stream == "stdout" else b""),
    )
    program = said.decode("utf-8", "replace").strip()
    if program.endswith("node"):
        return await Forwarder.start(session, "node", program)
    if not program.startswith("/"):
        program = (await carried(session, [PYTHON_TAG]))[PYTHON_TAG].programs[PYTHON]
    return await Forwarder.start(session, "python", program)
