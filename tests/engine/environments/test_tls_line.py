"""The line to a daemon behind TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import anyio
import pytest

from engine.environments.docker import tls_line
from engine.environments.docker.compose import tool_environment
from engine.environments.docker.endpoint import Endpoint
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.provider import DockerProvider
from engine.environments.docker.tls_line import TlsLine
from engine.issues import Code, TrialFailed
from tests.engine.environments import tls_daemon as daemon
from tests.engine.environments.tls_daemon import EARLY, LATE, certificates, tls_daemon

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls_line, "SETTLE_SEC", 30.0)


def endpoint(port: int, folder: Path, *, verify: bool = True) -> Endpoint:
    return Endpoint(
        host=f"tcp://127.0.0.1:{port}",
        named_by="DOCKER_HOST",
        tls=True,
        certificates=folder,
        certificates_by="DOCKER_CERT_PATH",
        verify=verify,
    )


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_an_end_of_what_is_sent_arrives_and_what_comes_afterwards_is_read(
    tmp_path: Path, version: ssl.TLSVersion
) -> None:
    """As a command with its stdin needs it: what ends it is the end of its input, and then it says what it found."""
    with tls_daemon(version=version) as port:
        line = await TlsLine.open(endpoint(port, certificates(tmp_path / "c")))
        async with await anyio.connect_unix(line.url.removeprefix("unix://")) as stream:
            await stream.send(b"x" * 200_000)
            got = await stream.receive()
            await stream.send(b"x" * 100_000)
            await stream.send_eof()
            async for data in stream:
                got += data
        await line.close()
    assert got == EARLY + b"300000 bytes\n" + LATE
    assert line.said == ""


async def test_a_call_that_is_given_up_before_all_was_read_ends_at_the_far_side_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each of them holds a connection until the run is over."""
    monkeypatch.setattr(daemon, "ENDED_SEC", 60.0)  # it gives nothing up by itself
    with tls_daemon() as port:
        line = await TlsLine.open(endpoint(port, certificates(tmp_path / "c")))
        with socket.socket(socket.AF_UNIX) as near:
            near.connect(line.url.removeprefix("unix://"))
            near.sendall(b"x")
            await anyio.wait_readable(near)
        with anyio.fail_after(30):
            await asyncio.gather(*line._carrying)
        await line.close()


async def test_the_engine_and_every_tool_come_through_the_line(tmp_path: Path) -> None:
    """buildx alone heeds no variable about TLS, so its way has to be without."""
    with tls_daemon() as port:
        engine = await Engine.connect(endpoint(port, certificates(tmp_path / "c")))
        place = Path(engine.reached_at.removeprefix("unix://"))
        env = tool_environment(engine.reached_at)
        assert engine.version["Version"] == "99"
        assert place.is_socket() and place.parent.stat().st_mode & 0o077 == 0
        assert env["DOCKER_HOST"] == f"unix://{place}"
        assert not {"DOCKER_TLS_VERIFY", "DOCKER_TLS", "DOCKER_CERT_PATH", "DOCKER_CONTEXT"} & set(env)
        await engine.close()
    assert not place.parent.exists()


@pytest.mark.parametrize(
    ("server", "client", "authority", "words"),
    [
        ("server", "client", "stranger", "its certificate is not signed by {folder}/ca.pem"),
        ("server-expired", "client", "authority", "its certificate has expired; renew the engine's certificate"),
        ("server-elsewhere", "client", "authority", "its certificate is for another host than 127.0.0.1"),
        ("server", "client-stranger", "authority", "it does not accept our certificate {folder}/cert.pem"),
        ("server", "client-expired", "authority", "our certificate has expired: {folder}/cert.pem"),
    ],
)
async def test_a_certificate_that_will_not_do_is_named(
    tmp_path: Path, server: str, client: str, authority: str, words: str
) -> None:
    folder = certificates(tmp_path / "c", client, authority)
    with tls_daemon(server) as port, pytest.raises(EngineCallFailed) as failed:
        await Engine.connect(endpoint(port, folder))
    assert failed.value.unreachable
    assert f"no Docker engine answers at tcp://127.0.0.1:{port} (from DOCKER_HOST): " in failed.value.message
    assert words.format(folder=folder) in failed.value.message


async def test_a_client_without_a_certificate_is_told_that_one_is_wanted(tmp_path: Path) -> None:
    folder = certificates(tmp_path / "c")
    for name in ("cert.pem", "key.pem"):
        (folder / name).unlink()
    with tls_daemon() as port, pytest.raises(EngineCallFailed, match=r"wants a certificate of ours; put cert\.pem"):
        await Engine.connect(endpoint(port, folder))


async def test_what_is_not_to_be_verified_is_not(tmp_path: Path) -> None:
    with tls_daemon("server-elsewhere") as port:
        engine = await Engine.connect(endpoint(port, certificates(tmp_path / "c", authority="stranger"), verify=False))
        await engine.close()
    assert engine.version["ApiVersion"] == "1.45"


async def test_a_daemon_that_goes_away_is_said_with_its_address(tmp_path: Path) -> None:
    with tls_daemon() as port:
        engine = await Engine.connect(endpoint(port, certificates(tmp_path / "c")))
    with pytest.raises(EngineCallFailed) as failed:
        await engine.get("info")
        await engine.get("info")
    await engine.close()
    assert failed.value.unreachable
    assert f"the connection to the daemon broke: tcp://127.0.0.1:{port} (from DOCKER_HOST): " in failed.value.message


async def test_a_provider_says_what_ails_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = certificates(tmp_path / "c")
    (folder / "key.pem").unlink()
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(folder))
    with pytest.raises(TrialFailed) as failed:
        await DockerProvider.connect()
    assert failed.value.issue.code is Code.DAEMON_UNREACHABLE
    assert failed.value.issue.message == (
        f"DOCKER_CERT_PATH is {folder}: cert.pem is there, and key.pem, which belongs to it, is missing"
    )
