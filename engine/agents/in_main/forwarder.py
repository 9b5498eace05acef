"""A program's way to its model out of `main`: a port of its loopback, whose bytes go on to the gateway's socket."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import anyio
import msgspec

from engine.agents.agent import GATEWAY_SOCKET, AgentSession
from engine.agents.in_main.setup_failed import setup_failed

SCRIPTS = Path(__file__).parents[1] / "capsules" / "forward"
FOLDER = "/opt/trialdeck/forward"
NAMES = {"node": "forward.js", "python": "forward.py"}
START_SEC = 30.0
STOP_SEC = 15.0


class _Started(msgspec.Struct):
    port: int
    pid: int


class Forwarder:
    """Runs in `main` from `start` to `stop`, marked as the agent's: when time is up it is killed with the rest."""

    def __init__(self, session: AgentSession, command: tuple[str, str], port: int, pid: int) -> None:
        self._session = session
        self._command = command
        self.port = port
        self._pid = pid

    @property
    def address(self) -> str:
        """`http://127.0.0.1:PORT`: what stands before the paths of the model's server."""
        return f"http://127.0.0.1:{self.port}"

    @classmethod
    async def start(cls, session: AgentSession, runtime: Literal["node", "python"], program: str) -> Forwarder:
        """`program` is the runtime's path in `main`. Call it in `set_up`. Raises TrialFailed where nothing listens."""
        name = NAMES[runtime]
        script = await anyio.Path(SCRIPTS / name).read_bytes()
        path = f"{FOLDER}/{name}"
        await session.environment.upload_bytes(script, path, mode=0o644)
        said = bytearray()

        def listen(stream: str, data: bytes) -> None:
            if stream == "stdout":
                said.extend(data)

        result = await session.execute(
            [program, path, "--detach", GATEWAY_SOCKET], sink=listen, logged=False, timeout_sec=START_SEC
        )
        try:
            started = msgspec.json.decode(bytes(said), type=_Started)
        except msgspec.DecodeError:
            started = None
        if result.exit_code != 0 or started is None:
            raise setup_failed("the way to the model can't be opened in main", result)
        return cls(session, (program, path), started.port, started.pid)

    async def stop(self) -> None:
        """Gone, or dead already. A background process of the agent that still asks the model gets no answer then."""
        await self._session.execute([*self._command, "--stop", str(self._pid)], logged=False, timeout_sec=STOP_SEC)
