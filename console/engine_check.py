"""Does a Docker engine answer, and what does it give? Asked before a run folder is made, with no Docker library."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any, TypeVar
from urllib.parse import quote

import psutil

from engine.environments.docker.endpoint import Endpoint, find_endpoint, is_here
from engine.environments.docker.labels import RUN
from engine.environments.docker.ssh_line import SshFailed, SshLine
from engine.environments.docker.unreachable import in_one_line
from engine.events import HostInfo
from engine.text import clean_line

ANSWER_SEC = 10.0
MOST_BYTES = 16 << 20
WITHOUT = "a recorded run can be seen without: `trialdeck watch sample_runs/recorded/demo`"
COMPOSE_SEC = 15.0
SHORT_ID = 12


class NoEngine(Exception):
    """No Docker engine answers; the message says where it was looked for and what can be done."""


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=ANSWER_SEC)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(ANSWER_SEC)
        self.sock.connect(self._path)


def ask_compose_version() -> subprocess.Popen[str] | None:
    """Starts `docker compose version`; read it with `compose_version` when the answer is needed."""
    try:
        return subprocess.Popen(
            ["docker", "compose", "version", "--short"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        return None


def compose_version(asked: subprocess.Popen[str] | None) -> str:
    """ "" where there is no Compose."""
    if asked is None:
        return ""
    try:
        out, _ = asked.communicate(timeout=COMPOSE_SEC)
    except subprocess.TimeoutExpired:
        asked.kill()
        return ""
    return out.strip() if asked.returncode == 0 else ""


def local_host() -> HostInfo:
    """This machine, for a plan that no engine has a say in."""
    return HostInfo(
        name=socket.gethostname(), cpus=float(psutil.cpu_count() or 1), memory_mb=psutil.virtual_memory().total >> 20
    )


def engine_host() -> HostInfo:
    """What the daemon's host has. Raises NoEngine."""
    with _reached() as (endpoint, near):
        info = _ask(endpoint, near, "/info", dict)
        elsewhere = not is_here(endpoint, info)
    return HostInfo(
        name=str(info.get("Name", "")),
        cpus=float(info.get("NCPU") or 0),
        memory_mb=int(info.get("MemTotal") or 0) >> 20,
        docker=str(info.get("ServerVersion", "")),
        elsewhere=elsewhere,
    )


def containers_of(run: str, engine_name: str) -> set[str] | None:
    """The short ids of a run's containers that still are on the engine, stopped ones too. None where nobody can tell:
    no engine answers, or it is not the one of that name, on which the run was made."""
    chosen = quote(json.dumps({"label": [f"{RUN}={run}"]}))
    try:
        with _reached() as (endpoint, near):
            if str(_ask(endpoint, near, "/info", dict).get("Name", "")) != engine_name:
                return None
            told = _ask(endpoint, near, f"/containers/json?all=1&filters={chosen}", list)
    except NoEngine:
        return None
    return {str(one.get("Id", ""))[:SHORT_ID] for one in told if isinstance(one, dict)}


@contextmanager
def _reached() -> Iterator[tuple[Endpoint, Endpoint]]:
    """The daemon's endpoint, and the one to connect to: inside the block ssh leads there. Raises NoEngine."""
    with ExitStack() as line:
        try:
            endpoint = near = find_endpoint()
            if endpoint.is_ssh:
                ssh = SshLine.open(endpoint)
                line.callback(ssh.close)
                near = Endpoint(host=ssh.url)
        except (ValueError, OSError) as error:
            raise NoEngine(f"{error}; {WITHOUT}") from None
        except SshFailed as error:
            raise NoEngine(f"no Docker engine answers at {error}; {WITHOUT}") from None
        yield endpoint, near


def _connection(endpoint: Endpoint) -> http.client.HTTPConnection:
    if endpoint.is_socket:
        return _SocketConnection(endpoint.socket)
    host, port = endpoint.address
    context = endpoint.tls_context()
    if context is None:
        return http.client.HTTPConnection(host, port, timeout=ANSWER_SEC)
    return http.client.HTTPSConnection(host, port, timeout=ANSWER_SEC, context=context)


_Told = TypeVar("_Told", dict[str, Any], list[Any])


def _ask(endpoint: Endpoint, near: Endpoint, place: str, kind: type[_Told]) -> _Told:
    """Asks at `near`, and names `endpoint` in what it raises."""
    try:
        with closing(_connection(near)) as connection:
            connection.request("GET", place)
            answer = connection.getresponse()
            told = answer.read(MOST_BYTES)
    except (OSError, http.client.HTTPException) as error:  # a certificate that fails is a ValueError as well
        raise NoEngine(f"{in_one_line(error, endpoint)}; {WITHOUT}") from None
    except ValueError as error:  # certificates that can't be used
        raise NoEngine(f"{error}; {WITHOUT}") from None
    try:
        found = json.loads(told)
    except ValueError:
        found = None
    if answer.status != 200 or not isinstance(found, kind):
        said = str(found.get("message") or "") if isinstance(found, dict) else ""
        problem = NoEngine(clean_line(said) or f"what answers there is no Docker engine (status {answer.status})")
        raise NoEngine(f"{in_one_line(problem, endpoint)}; {WITHOUT}")
    return found
