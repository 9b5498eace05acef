"""A Unix socket of our own that leads to a daemon behind ssh: the system's own ssh forwards it, with its settings, its
keys and its agent, and one connection of ssh carries everything."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from engine.environments.docker.endpoint import Endpoint
from engine.environments.docker.socket_place import NAME, new_place, remove_place
from engine.environments.docker.unreachable import named

OPEN_SEC = 30.0
CONNECT_SEC = 10
LOOK_SEC = 0.02
AGAIN_SEC, AGAIN_MOST_SEC = 1.0, 15.0
END_SEC = 3.0
LINES_KEPT = 20
_SETTINGS = (
    "BatchMode=yes",  # nobody is there to answer a question
    "ExitOnForwardFailure=yes",
    "StreamLocalBindUnlink=yes",
    "StreamLocalBindMask=0177",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    f"ConnectTimeout={CONNECT_SEC}",
    # A shared connection would not end with us, and would take our forwarding to wherever it was made for.
    "ControlMaster=no",
    "ControlPath=none",
    "ControlPersist=no",
    "ClearAllForwardings=no",
    "RequestTTY=no",
    "LogLevel=ERROR",
)


class SshFailed(Exception):
    """ssh did not get there; the message has its own words and the way out."""


def ssh_command(endpoint: Endpoint, local: Path) -> list[str]:
    """To ssh://[user@]host[:port][/path/of/the/remote.sock], as the Docker CLI takes it.

    The far side runs `cat`, which ends with us whatever ends us: then the connection does, too.
    """
    place = urlsplit(endpoint.host)
    words = ["ssh", "-T", *(word for setting in _SETTINGS for word in ("-o", setting))]
    words += ["-L", f"{local}:{endpoint.socket}"]
    if place.port is not None:
        words += ["-p", str(place.port)]
    if place.username:
        words += ["-l", unquote(place.username)]
    return [*words, "--", str(place.hostname), "cat"]


class SshLine:
    """Everything here blocks and belongs into a thread, but `url` and `said`. `said` is what ssh complains of, "" while
    the line is up."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._folder = new_place()
        self._ended = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._words: deque[str] = deque(maxlen=LINES_KEPT)
        self._keeper: threading.Thread | None = None
        self._said = ""

    @property
    def said(self) -> str:
        return self._said

    @property
    def url(self) -> str:
        return f"unix://{self._folder / NAME}"

    @classmethod
    def open(cls, endpoint: Endpoint) -> SshLine:
        """Waits until the socket is there; from then on ssh is started again whenever it ends. Raises SshFailed,
        OSError."""
        line = cls(endpoint)
        try:
            line._start()
        except BaseException:
            line.close()
            raise
        line._keeper = threading.Thread(target=line._keep, name="ssh to the Docker engine", daemon=True)
        line._keeper.start()
        return line

    def close(self) -> None:
        self._ended.set()
        if self._process is not None:
            self._end(self._process)
        if self._keeper is not None:
            self._keeper.join(END_SEC)
            assert self._process is not None
            self._end(self._process)  # another one, where it was just being started again
        remove_place(self._folder)

    def _start(self) -> None:
        local = self._folder / NAME
        if shutil.which("ssh") is None:
            raise SshFailed(f"{named(self._endpoint)}: no program ssh is installed here; install OpenSSH's client")
        local.unlink(missing_ok=True)
        self._words.clear()
        process = self._process = subprocess.Popen(
            ssh_command(self._endpoint, local),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,  # a Ctrl+C in the terminal is not meant for it
        )
        reader = threading.Thread(target=self._read, args=(process,), daemon=True)
        reader.start()
        until = time.monotonic() + OPEN_SEC
        while not _is_listened_at(local):
            if process.poll() is not None:
                reader.join(END_SEC)
                raise SshFailed(f"{named(self._endpoint)}: {_last(self._words)}; {self._way_out()}")
            if time.monotonic() > until or self._ended.is_set():
                self._end(process)
                raise SshFailed(f"{named(self._endpoint)}: ssh is not through within {OPEN_SEC:g} s; {self._way_out()}")
            self._ended.wait(LOOK_SEC)
        self._said = ""

    def _keep(self) -> None:
        """Until the line is closed: a connection that broke is made anew."""
        pause = AGAIN_SEC
        while not self._ended.is_set():
            assert self._process is not None
            self._process.wait()
            if self._ended.is_set():
                return
            self._said = f"{named(self._endpoint)}: {_last(self._words)}"
            self._ended.wait(pause)
            pause = min(pause * 2, AGAIN_MOST_SEC)
            try:
                if not self._ended.is_set():
                    self._start()
                    pause = AGAIN_SEC
            except (SshFailed, OSError) as error:
                self._said = str(error)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        with process.stderr as said, suppress(OSError, ValueError):
            while line := said.readline(4096):
                if text := line.decode("utf-8", "replace").strip():
                    self._words.append(text)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(END_SEC)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _way_out(self) -> str:
        place = urlsplit(self._endpoint.host)
        user = f"{place.username}@" if place.username else ""
        port = f" -p {place.port}" if place.port else ""
        return (
            f"`ssh{port} {user}{place.hostname} docker version` must work here without a question: with a key that "
            "the agent holds, and a host key that is known"
        )


def _is_listened_at(local: Path) -> bool:
    if not local.is_socket():
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        return connection.connect_ex(str(local)) == 0


def _last(words: deque[str]) -> str:
    return words[-1] if words else "ssh ended without a word"
