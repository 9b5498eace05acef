"""The line to a daemon behind ssh, with a program in ssh's place that forwards as it does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.environments.docker import ssh_line
from engine.environments.docker.endpoint import Endpoint
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.ssh_line import SshFailed, SshLine, ssh_command

ENDPOINT = Endpoint(host="ssh://me@lab:2222/run/far.sock", named_by="DOCKER_HOST")

FORWARDS = """#!{python}
import json, os, socketserver, sys, threading
local = sys.argv[sys.argv.index("-L") + 1].partition(":")[0]
with open({told!r}, "a") as told:
    told.write(json.dumps({{"pid": os.getpid(), "words": sys.argv[1:]}}) + "\\n")
class Daemon(socketserver.StreamRequestHandler):
    def handle(self):
        body = b'{{"Version": "99", "ApiVersion": "1.45"}}'
        while self.rfile.readline():
            while self.rfile.readline().strip():
                pass
            head = f"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: {{len(body)}}\\r\\n\\r\\n"
            self.wfile.write(head.encode() + body)
server = socketserver.ThreadingUnixStreamServer(local, Daemon)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.buffer.read()
"""
REFUSED = "#!/bin/sh\necho 'Warning: something else' >&2\necho 'me@lab: Permission denied (publickey).' >&2\nexit 255\n"
SILENT = "#!/bin/sh\ncat\n"


class Ssh:
    """What is called `ssh` here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = folder / "told"

    def is_(self, script: str) -> None:
        made = self.folder / "new"
        made.write_text(script)
        made.chmod(0o755)
        made.rename(self.folder / "ssh")

    def forwards(self) -> None:
        self.is_(FORWARDS.format(python=sys.executable, told=str(self.told)))

    def started(self) -> list[str]:
        return self.told.read_text().splitlines()


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ssh:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return Ssh(folder)


def test_ssh_is_told_where_to_and_asks_nobody_anything() -> None:
    words = ssh_command(ENDPOINT, Path("/x/docker.sock"))
    assert words[-7:] == ["-p", "2222", "-l", "me", "--", "lab", "cat"]
    assert words[words.index("-L") + 1] == "/x/docker.sock:/run/far.sock"
    assert "BatchMode=yes" in words and "ControlPath=none" in words
    plain = ssh_command(Endpoint(host="ssh://lab"), Path("/x"))
    assert plain[-5:] == ["-L", "/x:/var/run/docker.sock", "--", "lab", "cat"]


@pytest.mark.anyio
async def test_the_engine_comes_through_and_ssh_ends_with_it(ssh: Ssh) -> None:
    ssh.forwards()
    engine = await Engine.connect(ENDPOINT)
    place = Path(engine.reached_at.removeprefix("unix://"))
    assert engine.version["Version"] == "99"
    assert place.is_socket() and place.parent.stat().st_mode & 0o077 == 0
    await engine.close()
    assert not place.exists()
    assert len(ssh.started()) == 1


def test_an_ssh_that_ends_is_started_again(ssh: Ssh, monkeypatch: pytest.MonkeyPatch) -> None:
    """A laptop that slept, a network that was away: the run finds its way again."""
    monkeypatch.setattr(ssh_line, "AGAIN_SEC", 0.01)
    ssh.forwards()
    line = SshLine.open(ENDPOINT)
    try:
        first = line._process
        assert first is not None
        first.kill()
        while line._process is first or len(ssh.started()) < 2:
            first.wait()
    finally:
        line.close()
    assert line._process is not None and line._process.returncode is not None


@pytest.mark.anyio
async def test_what_ssh_complains_of_is_said_with_the_way_out(ssh: Ssh) -> None:
    ssh.is_(REFUSED)
    with pytest.raises(EngineCallFailed) as failed:
        await Engine.connect(ENDPOINT)
    assert failed.value.message == (
        "no Docker engine answers at ssh://me@lab:2222/run/far.sock (from DOCKER_HOST): "
        "me@lab: Permission denied (publickey).; `ssh -p 2222 me@lab docker version` must work here without a "
        "question: with a key that the agent holds, and a host key that is known"
    )


def test_an_ssh_that_never_gets_there_is_not_waited_for_for_ever(ssh: Ssh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh_line, "OPEN_SEC", 0.0)
    ssh.is_(SILENT)
    with pytest.raises(SshFailed, match="ssh is not through within 0 s"):
        SshLine.open(ENDPOINT)


def test_a_host_without_ssh_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SshFailed, match="no program ssh is installed here; install OpenSSH's client"):
        SshLine.open(ENDPOINT)
