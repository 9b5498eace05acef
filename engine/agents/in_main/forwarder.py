"""A program's way to its model out of `main`: a port of its loopback, whose bytes go on to the gateway's socket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
OWN_RUNTIME = {"NODE_OPTIONS": ""}
"""What the image wants of the task's own Node is nothing to this one."""


class _Started(msgspec.Struct):
    port: int
    pid: int
    no_proxy: str = ""


class Forwarder:
    """Runs in `main` from `start` to `stop`, marked as the agent's: when time is up it is killed with the rest."""

    def __init__(self, session: AgentSession, command: Sequence[str], started: _Started) -> None:
        self._session = session
        self._command = command
        self.port = started.port
        self._pid = started.pid
        no_proxy = beside_proxies(started.no_proxy)
        self.environment: Mapping[str, str] = {"NO_PROXY": no_proxy, "no_proxy": no_proxy}
        """For the program: a proxy that the image names is none for this way."""

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
        command = (program, "-I", path) if runtime == "python" else (program, path)
        said = bytearray()

        def listen(stream: str, data: bytes) -> None:
            if stream == "stdout":
                said.extend(data)

        result = await session.execute(
            [*command, "--detach", GATEWAY_SOCKET], env=OWN_RUNTIME, sink=listen, logged=False, timeout_sec=START_SEC
        )
        try:
            started = msgspec.json.decode(bytes(said), type=_Started)
        except msgspec.DecodeError:
            started = None
        if result.exit_code != 0 or started is None:
            raise setup_failed("the way to the model can't be opened in main", result)
        return cls(session, command, started)

    async def stop(self) -> None:
        """Gone, or dead already. A background process of the agent that still asks the model gets no answer then."""
        words = [*self._command, "--stop", str(self._pid)]
        await self._session.execute(words, env=OWN_RUNTIME, logged=False, timeout_sec=STOP_SEC)


def beside_proxies(told: str) -> str:
    """`NO_PROXY` as it stands in `main`, and the loopback."""
    hosts = [host for host in (part.strip() for part in told.split(",")) if host]
    return ",".join([*hosts, *(host for host in ("127.0.0.1", "localhost") if host not in hosts)])
