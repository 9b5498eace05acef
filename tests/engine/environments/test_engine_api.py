"""Calls to a daemon that takes them and says nothing, as one does whose host is gone or hangs."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import pytest

from engine.environments.docker import engine_api
from engine.environments.docker.endpoint import Endpoint
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.tls_line import ALIVE_IDLE_SEC, keep_alive
from tests.engine.environments.tls_daemon import VERSION

pytestmark = pytest.mark.anyio

HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(VERSION)}\r\n\r\n".encode()


@asynccontextmanager
async def silent_daemon(place: Path) -> AsyncIterator[Engine]:
    """It says its version, and nothing else ever."""

    async def answer(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            async for data in stream:
                if b"/version" in data:
                    await stream.send(HEAD + VERSION)

    async with await anyio.create_unix_listener(place) as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, answer)
        engine = await Engine.connect(Endpoint(host=f"unix://{place}"))
        yield engine
        await engine.close()
        group.cancel_scope.cancel()


async def test_a_call_that_is_never_answered_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with silent_daemon(Path("s")) as engine:
        with pytest.raises(EngineCallFailed, match="did not answer GET info within 0 s") as failed:
            await engine.get("info", within=0.0)
    assert failed.value.unreachable


async def test_a_command_whose_start_is_never_answered_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with silent_daemon(Path("s")) as engine:
        monkeypatch.setattr(engine_api, "CALL_SEC", 0.0)
        with pytest.raises(EngineCallFailed, match="did not answer the start of a command within 0 s") as failed:
            async with engine.attach_exec("e"):
                raise AssertionError("nothing was started")
    assert failed.value.unreachable


def test_a_connection_to_another_host_notices_that_the_host_is_gone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as one:
        keep_alive(one)
        assert one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert one.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == ALIVE_IDLE_SEC
    keep_alive(None)


async def test_the_tools_get_an_address_that_they_take() -> None:
    """Compose and buildx refuse http://, by which other programs name the same."""
    host = "http://127.0.0.1:2375"
    engine = Engine(engine_api._client(host), Endpoint(host=host))
    assert engine.reached_at == "tcp://127.0.0.1:2375"
    await engine.close()
