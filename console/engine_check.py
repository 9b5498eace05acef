"""Does a Docker engine answer, and what does it give? Asked before a run folder is made, with no Docker library."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
from contextlib import closing
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import psutil

from engine.environments.docker.endpoint import Endpoint, find_endpoint, is_here
from engine.environments.docker.labels import RUN
from engine.events import HostInfo

ANSWER_SEC = 10.0
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
    try:
        endpoint = find_endpoint()
    except ValueError as error:
        raise NoEngine(str(error)) from None
    info = _info(endpoint)
    return HostInfo(
        name=str(info.get("Name", "")),
        cpus=float(info.get("NCPU") or 0),
        memory_mb=int(info.get("MemTotal") or 0) >> 20,
        docker=str(info.get("ServerVersion", "")),
        elsewhere=not is_here(endpoint, info),
    )


def _connection(endpoint: Endpoint) -> http.client.HTTPConnection:
    if endpoint.is_socket:
        return _SocketConnection(endpoint.host.removeprefix("unix://"))
    place = urlsplit(endpoint.host)
    context = endpoint.tls_context()
    if context is None:
        return http.client.HTTPConnection(str(place.hostname), place.port, timeout=ANSWER_SEC)
    return http.client.HTTPSConnection(str(place.hostname), place.port, timeout=ANSWER_SEC, context=context)


def containers_of(run: str, engine_name: str) -> set[str] | None:
    """The short ids of a run's containers that still are on the engine, stopped ones too. None where nobody can tell:
    no engine answers, or it is not the one of that name, on which the run was made."""
    chosen = quote(json.dumps({"label": [f"{RUN}={run}"]}))
    try:
        endpoint = find_endpoint()
        if str(_info(endpoint).get("Name", "")) != engine_name:
            return None
        told = _ask(endpoint, f"/containers/json?all=1&filters={chosen}", list)
    except (NoEngine, ValueError):
        return None
    return {str(one.get("Id", ""))[:SHORT_ID] for one in told if isinstance(one, dict)}


def _info(endpoint: Endpoint) -> dict[str, Any]:
    return _ask(endpoint, "/info", dict)


_Told = TypeVar("_Told", dict[str, Any], list[Any])


def _ask(endpoint: Endpoint, place: str, kind: type[_Told]) -> _Told:
    try:
        with closing(_connection(endpoint)) as connection:
            connection.request("GET", place)
            answer = connection.getresponse()
            found = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise NoEngine(
            f"no Docker engine answers at {endpoint.host} ({reason}); start it, set DOCKER_HOST, or let `./dev setup` "
            "install one; a recorded run can be seen without: `trialdeck watch sample_runs/recorded/demo`"
        ) from None
    if answer.status != 200 or not isinstance(found, kind):
        raise NoEngine(f"the Docker engine at {endpoint.host} is not usable: {found}")
    return found
