"""Whom the gateway reaches, and who reaches it: redirects, proxies, certificates, sockets."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import stat
import subprocess
from pathlib import Path

import pytest

from engine.issues import Code
from engine.models.gateway import Gateway, GatewayUnusable
from engine.models.scripted.script import (
    Say,
)
from engine.models.settings import Wire
from tests.engine.models.gateways import (
    KEY,
    answer,
    chat_answer,
    gateway,
    played,
    request_of,
    saying,
    scripted,
    settings,
)

pytestmark = pytest.mark.anyio


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    elsewhere: list[str] = []

    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        elsewhere.append((await request_of(reader))[0])
        writer.close()

    trap = await asyncio.start_server(other, "127.0.0.1", 0)
    port = trap.sockets[0].getsockname()[1]
    to = f"location: http://127.0.0.1:{port}/v1/chat/completions"
    async with trap, played(saying(answer(b"", to, status="307 Temporary Redirect"))) as opened:
        status, said = await opened.ask()
    assert (status, elsewhere) == (502, [])
    assert f"the server sends on to 127.0.0.1:{port}, which is not followed with a key" in said
    assert opened.calls[0].failure is not None
    assert (opened.calls[0].failure.code, opened.calls[0].failure.status) == (Code.MODEL_FAILED, 307)


async def test_a_server_that_is_not_there_is_told_to_the_program_and_to_the_engine() -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    server.close()
    await server.wait_closed()
    async with gateway(settings(address)) as opened:
        status, said = await opened.ask()
    assert status == 502
    assert "Cannot connect to host 127.0.0.1" in json.loads(said)["error"]["message"]
    assert opened.calls[0].failure is not None
    assert (opened.calls[0].failure.code, opened.calls[0].failure.status) == (Code.MODEL_UNREACHABLE, None)


@pytest.mark.parametrize(("wire", "kind"), [(Wire.ANTHROPIC, "api_error"), (Wire.OPENAI_CHAT, "api_error")])
async def test_errors_of_the_gateways_own_have_the_wires_shape(wire: Wire, kind: str) -> None:
    async with played(saying(answer(b"", "content-encoding: br")), wire) as opened:
        status, said = await opened.ask()
    error = json.loads(said)["error"]
    assert (status, error["type"]) == (502, kind)
    assert error["message"] == "trialdeck: the server packed its answer (br), though it was asked not to"


async def test_the_proxy_of_the_environment_is_taken_and_netrc_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine model.example login someone password of-another-account\n")
    heard: list[tuple[str, dict[str, str]]] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, headers, _ = await request_of(reader)
        heard.append((first, headers))
        writer.write(answer(chat_answer()))
        writer.close()

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    monkeypatch.setenv("no_proxy", "other.example")
    async with server, gateway(settings("http://model.example/v1")) as opened:
        assert (await opened.ask())[0] == 200
    ((first, headers),) = heard
    assert first == "POST http://model.example/v1/chat/completions HTTP/1.1"
    assert headers["authorization"] == f"Bearer {KEY}"


async def test_no_proxy_stands_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with played(saying(answer(chat_answer()))) as opened:
        assert (await opened.ask())[0] == 200


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One for 127.0.0.1 that nobody vouches for, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl on this machine: no certificate can be made")
    folder = tmp_path_factory.mktemp("certificate")
    made, key = folder / "certificate.pem", folder / "key.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(made)]
    subprocess.run([*command, *more], check=True, capture_output=True)
    return made, key


@pytest.mark.parametrize("trusted", [False, True], ids=["not trusted", "trusted by the host"])
async def test_the_host_decides_which_certificates_are_trusted(
    certificate: tuple[Path, Path], trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 65: what the task's image trusts, or has no bundle for, plays no part."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    host = ssl.create_default_context(cafile=str(certificate[0])) if trusted else ssl.create_default_context()
    monkeypatch.setattr("engine.models.gateway.host_trust", lambda: host)
    server = await asyncio.start_server(saying(answer(chat_answer())), "127.0.0.1", 0, ssl=context)
    address = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server, gateway(settings(address)) as opened:
        status, said = await opened.ask()
    (call,) = opened.calls
    if trusted:
        assert (status, call.failure) == (200, None)
        return
    assert status == 502
    assert "self-signed certificate" in said
    assert call.failure is not None
    assert (call.failure.code, call.failure.retryable) == (Code.MODEL_UNTRUSTED, False)


async def test_a_websocket_is_refused_so_that_http_is_taken_at_once() -> None:
    """Codex tries one first: told 404 it tries again and again."""
    async with scripted(Wire.OPENAI_RESPONSES, Say(text="one")) as (opened, server):
        given = {"upgrade": "websocket", "connection": "upgrade"}
        async with opened.client.get("/v1/responses", headers=given) as said:
            assert said.status == 426
        assert server.requests == []


async def test_the_socket_is_open_to_every_user_of_main_and_gone_afterwards() -> None:
    async with gateway(settings("http://127.0.0.1:1/v1")) as opened:
        assert stat.S_IMODE(opened.socket.stat().st_mode) == 0o666
    assert not opened.socket.exists()


async def test_a_socket_that_cannot_be_is_told_with_the_way_out(tmp_path: Path) -> None:
    given = settings("http://127.0.0.1:1/v1")
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    for folder, words in (
        (deep, r"\d+ bytes, of which the system takes 107: point TMPDIR"),
        (tmp_path / "no", "No such"),
    ):
        with pytest.raises(GatewayUnusable, match=words):
            async with Gateway(given, given.wire, folder, on_call=lambda call: None, activity=lambda text: None):
                pytest.fail("it must not listen")
