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
from tests.engine.environments.tls_daemon import certificates, tls_daemon


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


def _behind_tls(monkeypatch: pytest.MonkeyPatch, port: int, folder: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(folder))


def test_a_daemon_behind_tls_is_asked_with_the_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with tls_daemon() as port:
        _behind_tls(monkeypatch, port, certificates(tmp_path / "c"))
        assert engine_host().elsewhere


def test_a_certificate_of_a_stranger_is_told_with_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = certificates(tmp_path / "c", authority="stranger")
    with tls_daemon() as port:
        _behind_tls(monkeypatch, port, folder)
        with pytest.raises(NoEngine, match=f"certificate is not signed by {folder}/ca.pem"):
            engine_host()


def test_a_host_that_ssh_does_not_reach_is_told_in_sshs_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\necho 'Host key verification failed.' >&2\nexit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("DOCKER_HOST", "ssh://me@lab")
    with pytest.raises(NoEngine, match=r"ssh://me@lab \(from DOCKER_HOST\): Host key verification failed.*`ssh me@lab"):
        engine_host()


def test_what_answers_and_is_no_engine_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
        with pytest.raises(NoEngine, match=r"what answers there is no Docker engine \(status 404\)"):
            engine_host()
