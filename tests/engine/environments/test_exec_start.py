"""A command that was made and then refused is told from one that ran (case 25), without a container."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import cast

import pytest

from engine.environments.docker.containers import Container
from engine.environments.docker.engine_api import UNREACHABLE, Engine, EngineCallFailed
from engine.environments.docker.exec import ExecRequest, run_exec


class RefusingEngine:
    """Makes a command, then fails to start it as `refusal` says; `told` is what it knows of the command afterwards."""

    def __init__(self, refusal: EngineCallFailed, told: Mapping[str, object] | EngineCallFailed) -> None:
        self._refusal = refusal
        self._told = told

    async def post(self, path: str, body: object = None) -> dict[str, str]:
        return {"Id": "e1"}

    async def get(self, path: str) -> Mapping[str, object]:
        if isinstance(self._told, EngineCallFailed):
            raise self._told
        return self._told

    @asynccontextmanager
    async def attach_exec(self, exec_id: str) -> AsyncIterator[None]:
        raise self._refusal
        yield


pytestmark = pytest.mark.anyio

STOPPED = EngineCallFailed(409, "container c1 is not running")
BROKEN = EngineCallFailed(UNREACHABLE, "the connection to the daemon broke")
NEVER_RAN: dict[str, object] = {"Running": False, "ExitCode": None, "Pid": 0}
RAN: dict[str, object] = {"Running": True, "ExitCode": None, "Pid": 4711}


@pytest.mark.parametrize(
    ("refusal", "told", "started"),
    [
        (STOPPED, NEVER_RAN, False),
        (STOPPED, EngineCallFailed(404, "no such exec"), False),
        (BROKEN, NEVER_RAN, False),
        (BROKEN, RAN, True),
        (BROKEN, BROKEN, True),
    ],
)
async def test_a_command_that_was_made_and_never_started_is_not_called_started(
    refusal: EngineCallFailed, told: Mapping[str, object] | EngineCallFailed, started: bool
) -> None:
    engine = cast(Engine, RefusingEngine(refusal, told))
    container = cast(Container, SimpleNamespace(id="c1"))
    end = await run_exec(engine, container, None, ExecRequest(command=["true"]))
    assert (end.exit_code, end.started, end.refused) == (None, started, refusal.message)
