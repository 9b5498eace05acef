"""The question whether an engine answers, asked before a run folder is made."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from console.engine_check import NoEngine, engine_host


class _Daemon(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"Name": "far", "NCPU": 8, "MemTotal": 1 << 34, "ServerVersion": "99"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), _Daemon)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_a_daemon_on_a_port_is_asked_for_what_its_host_has(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
    host = engine_host()
    assert (host.name, host.cpus, host.memory_mb, host.docker) == ("far", 8.0, 16384, "99")


def test_a_port_where_nobody_listens_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        free = taken.getsockname()[1]
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{free}")
    with pytest.raises(NoEngine, match=f"tcp://127.0.0.1:{free} .*refused.*set DOCKER_HOST"):
        engine_host()


def test_what_is_no_address_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "garbage")
    with pytest.raises(NoEngine, match="DOCKER_HOST is 'garbage'"):
        engine_host()


def test_certificates_that_are_not_there_are_a_reason(
    monkeypatch: pytest.MonkeyPatch, port: int, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path))
    with pytest.raises(NoEngine, match=f"DOCKER_CERT_PATH is {tmp_path}: ca.pem is missing there"):
        engine_host()
