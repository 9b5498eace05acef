"""Commands in a real environment, run as a trial runs those of its agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.agents.agent import MARK_NAME
from engine.environments.docker.environment import DockerEnvironment
from engine.environments.environment import ExecResult, Sink


class AsAgent:
    """With the agent's user and mark; what is to be logged goes to `log`, too."""

    def __init__(self, environment: DockerEnvironment, mark: str, user: str | None, log: Sink) -> None:
        self._environment = environment
        self._mark = mark
        self._user = user
        self._log = log

    async def __call__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        user: str | None = None,
        timeout_sec: float | None = None,
        sink: Sink | None = None,
        logged: bool = True,
    ) -> ExecResult:
        def both(stream: str, data: bytes) -> None:
            if logged:
                self._log(stream, data)
            if sink is not None:
                sink(stream, data)

        return await self._environment.execute(
            command,
            user=user or self._user,
            env={**(env or {}), MARK_NAME: self._mark},
            stdin=stdin,
            sink=both,
            timeout_sec=timeout_sec,
        )
