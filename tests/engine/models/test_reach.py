"""Whether a model's server can be reached, before anything is paid (case 65)."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.streams.tls import TLSStream

from engine.issues import Code
from engine.models.reach import reach

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@asynccontextmanager
async def listening(context: ssl.SSLContext | None = None) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A port, and what was said to it."""
    heard: list[bytes] = []

    async def take(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            try:
                if context is None:
                    heard.append(await stream.receive())
                else:
                    await TLSStream.wrap(stream, server_side=True, ssl_context=context)
            except (anyio.EndOfStream, anyio.BrokenResourceError, ssl.SSLError):
                pass

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve, take)
        yield port, heard
        group.cancel_scope.cancel()
    await listener.aclose()


async def test_a_server_that_is_there_is_reached_and_asked_nothing() -> None:
    async with listening() as (port, heard):
        assert await reach(f"http://127.0.0.1:{port}/v1", pauses=()) is None
    assert heard == []


async def test_a_port_where_nobody_listens_is_tried_again_and_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        failure = await reach(f"http://127.0.0.1:{port}/v1", pauses=(0.0, 0.0))
    assert failure is not None and (failure.code, failure.retryable) == (Code.MODEL_UNREACHABLE, True)
    assert f"127.0.0.1:{port}" in failure.words and "refused" in failure.words.lower()


async def test_a_server_that_comes_up_meanwhile_is_reached() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))

        async with anyio.create_task_group() as group:

            async def listen() -> None:
                taken.listen()

            group.start_soon(listen)
            assert await reach(f"http://127.0.0.1:{taken.getsockname()[1]}", pauses=(0.0,) * 50) is None


async def test_a_host_that_nobody_knows_is_named() -> None:
    failure = await reach("https://no-such-host.invalid/v1", pauses=())
    assert failure is not None and failure.code is Code.MODEL_UNREACHABLE
    assert "no-such-host.invalid" in failure.words


async def test_a_server_that_speaks_no_tls_is_told_apart() -> None:
    async def plain(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with anyio.create_task_group() as group:
        group.start_soon(listener.serve, plain)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        failure = await reach(f"https://127.0.0.1:{port}", pauses=(60.0,))
        group.cancel_scope.cancel()
    await listener.aclose()
    assert failure is not None and (failure.code, failure.retryable) == (Code.MODEL_UNREACHABLE, False)
    assert "does not speak TLS" in failure.words


@pytest.fixture
def own_certificate(tmp_path: Path) -> ssl.SSLContext:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    words = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost"
    subprocess.run(
        [*words.split(), "-addext", "subjectAltName=IP:127.0.0.1"], cwd=tmp_path, check=True, capture_output=True
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    return context


async def test_a_certificate_that_nobody_vouches_for_is_said_with_the_tls_text(own_certificate: ssl.SSLContext) -> None:
    async with listening(own_certificate) as (port, _):
        failure = await reach(f"https://127.0.0.1:{port}/v1", pauses=(60.0,))
    assert failure is not None and (failure.code, failure.retryable) == (Code.MODEL_UNTRUSTED, False)
    assert "CERTIFICATE_VERIFY_FAILED" in failure.words and "self" in failure.words


async def test_behind_a_proxy_it_is_the_proxy_that_has_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening() as (port, _):
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        assert await reach("https://model.invalid/v1", pauses=()) is None
        monkeypatch.setenv("no_proxy", "model.invalid")
        failure = await reach("https://model.invalid/v1", pauses=())
    assert failure is not None and "model.invalid" in failure.words
