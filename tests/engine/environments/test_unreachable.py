"""Why no daemon answers, in words with a way out."""

from __future__ import annotations

import errno
import os
import socket
import ssl
from pathlib import Path

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from engine.environments.docker.endpoint import Endpoint
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.unreachable import in_one_line, why

FAR = Endpoint(host="tcp://lab:2375", named_by="DOCKER_HOST")
BEHIND_SSH = Endpoint(host="ssh://lab", named_by="DOCKER_HOST")


def failed(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    ("error", "endpoint", "what", "way_out"),
    [
        (failed(errno.ECONNREFUSED), FAR, "connection refused", "start it, set DOCKER_HOST"),
        (failed(errno.ECONNRESET), FAR, "it breaks the connection off", "set DOCKER_TLS_VERIFY=1"),
        (failed(errno.EHOSTUNREACH), FAR, "No route to host", "start it"),
        (failed(errno.EMFILE), FAR, "Too many open files", "start it"),
        (socket.gaierror(-2, "Name or service not known"), FAR, "lab: no host of that name", "change DOCKER_HOST"),
        (TimeoutError(), FAR, "it does not answer in time", "look whether it hangs"),
        (RuntimeError("Client sent an HTTP request to an HTTPS server."), FAR, "it speaks TLS", "DOCKER_CERT_PATH"),
        (RuntimeError("<html>Not found</html>"), FAR, "what answers there is no Docker engine", "change DOCKER_HOST"),
        (failed(errno.ECONNRESET), BEHIND_SSH, "nobody answers at its socket /var/run/docker.sock", "ssh://host/path"),
        (failed(errno.EACCES), Endpoint(), "this account may not open that socket", "usermod -aG docker"),
    ],
)
def test_the_systems_own_reason_is_told_with_what_can_be_done(
    error: Exception, endpoint: Endpoint, what: str, way_out: str
) -> None:
    told = why(error, endpoint)
    assert what in told[0]
    assert way_out in told[1]


def test_a_reason_inside_of_a_librarys_own_is_found() -> None:
    key = ConnectionKey("lab", 2375, False, True, None, None, None)
    wrapped = RuntimeError("something went wrong")
    wrapped.__cause__ = aiohttp.ClientConnectorError(key, failed(errno.ECONNREFUSED))
    assert why(wrapped, FAR)[0].startswith("connection refused")
    broken = RuntimeError("something went wrong")
    broken.__cause__ = aiohttp.ServerDisconnectedError()
    assert why(broken, FAR)[0] == "Server disconnected"


def test_a_daemon_that_hangs_in_the_middle_of_the_handshake_is_told_as_that() -> None:
    hangs = TimeoutError()
    hangs.__context__ = ssl.SSLWantReadError(2, "The operation did not complete (read)")
    assert why(hangs, FAR)[0] == "it does not answer in time"


def test_the_address_is_told_with_what_led_there() -> None:
    error = failed(errno.ECONNREFUSED)
    assert in_one_line(error, FAR).startswith("no Docker engine answers at tcp://lab:2375 (from DOCKER_HOST): ")
    assert "unix:///var/run/docker.sock (the usual place): " in in_one_line(error, Endpoint())


def test_a_rootless_daemon_that_is_there_is_pointed_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    assert why(missing, Endpoint())[1].startswith("start it")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("docker.sock")
        told = why(missing, Endpoint())
    assert told[0] == "there is no such socket"
    assert f"set DOCKER_HOST=unix://{tmp_path}/docker.sock" in told[1]


@pytest.mark.anyio
async def test_a_socket_at_which_nobody_listens_is_told_in_one_line(tmp_path: Path) -> None:
    for kind in ("nowhere", "file"):
        path = tmp_path / kind
        if kind == "file":
            path.touch()
        with pytest.raises(EngineCallFailed) as failure:
            await Engine.connect(Endpoint(host=f"unix://{path}", named_by="DOCKER_HOST"))
        assert f"no Docker engine answers at unix://{path} (from DOCKER_HOST): " in failure.value.message
        assert "start it, set DOCKER_HOST" in failure.value.message
        assert "\n" not in failure.value.message and "aiohttp" not in failure.value.message
