"""Where the daemon is: DOCKER_HOST, else the current Docker context, else the usual socket."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

USUAL_SOCKET = "unix:///var/run/docker.sock"
SCHEMES = ("unix", "tcp", "http", "https")
CLI_VARIABLES = ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_CONFIG")


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """`host` is a Docker URL; the certificate folders are set only where TLS is asked for."""

    host: str = USUAL_SOCKET
    context: str = ""
    certificates: Path | None = None
    verify: bool = True

    @property
    def is_socket(self) -> bool:
        return self.host.startswith("unix://")

    def tls_context(self) -> ssl.SSLContext | None:
        """None where the daemon speaks plain HTTP."""
        if self.certificates is None:
            return None
        authority = self.certificates / "ca.pem"
        context = ssl.create_default_context(cafile=str(authority) if authority.is_file() else None)
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if (self.certificates / "cert.pem").is_file():
            context.load_cert_chain(self.certificates / "cert.pem", self.certificates / "key.pem")
        return context


def is_here(endpoint: Endpoint, info: Mapping[str, Any]) -> bool:
    """Does the daemon that gave this answer to `info` see the files of this host? One in a virtual machine or behind a
    forwarded socket has another name."""
    return endpoint.is_socket and info.get("Name") == socket.gethostname()


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    return Path(environ.get("DOCKER_CONFIG") or Path(environ.get("HOME") or Path.home()) / ".docker")


def cli_config(environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """The Docker CLI's own settings; empty where there are none or they can't be read."""
    try:
        settings = msgspec.json.decode((config_folder(environ) / "config.json").read_bytes())
    except (OSError, msgspec.DecodeError):
        return {}
    return settings if isinstance(settings, dict) else {}


def find_endpoint(environ: Mapping[str, str] = os.environ) -> Endpoint:
    """As the Docker CLI decides; the Docker SDK is imported only where a context is in use.

    Raises ValueError where that names no daemon that can be reached from here.
    """
    host = environ.get("DOCKER_HOST", "").strip()
    if host:
        _check(host, "DOCKER_HOST")
        wanted = bool(environ.get("DOCKER_TLS_VERIFY")) and not host.startswith(("unix://", "ssh://"))
        folder = Path(environ.get("DOCKER_CERT_PATH") or config_folder(environ))
        return Endpoint(host=host, certificates=folder if wanted else None)
    name = environ.get("DOCKER_CONTEXT") or str(cli_config(environ).get("currentContext") or "default")
    if name == "default":
        return Endpoint()
    return _of_context(name)


def _check(host: str, named_by: str) -> None:
    scheme, _, rest = host.partition("://")
    if scheme == "ssh":
        raise ValueError(
            f"{named_by} is {host}: a daemon behind ssh is not reached directly; forward its socket, and name that: "
            f"`ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock {rest}`, DOCKER_HOST=unix:///tmp/docker.sock"
        )
    try:
        there = bool(rest) if scheme == "unix" else bool(urlsplit(host).hostname and urlsplit(host).port)
    except ValueError:  # the port is no number
        there = False
    if scheme not in SCHEMES or not there:
        raise ValueError(f"{named_by} is {host!r}: expected unix:///path/of/docker.sock or tcp://host:port")


def _of_context(name: str) -> Endpoint:
    from docker.context import ContextAPI

    context = ContextAPI.get_context(name)
    if context is None:
        raise ValueError(f"the Docker context {name!r} doesn't exist (see `docker context ls`)")
    settings = context.endpoints.get("docker", {})
    folder = Path(str(context.tls_path)) / "docker"
    host = str(settings.get("Host") or USUAL_SOCKET)
    _check(host, f"the Docker context {name!r}")
    return Endpoint(
        host=host,
        context=name,
        certificates=folder if folder.is_dir() else None,
        verify=not settings.get("SkipTLSVerify", False),
    )


def cli_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What the Docker tools need to reach the same daemon with the same credentials, and nothing else of the shell:
    no COMPOSE_* and nothing that a definition could pick up by name."""
    kept = {name: environ[name] for name in CLI_VARIABLES if environ.get(name)}
    kept.setdefault("DOCKER_CONFIG", str(config_folder(environ)))
    return kept
