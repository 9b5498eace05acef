"""Where the daemon is: DOCKER_HOST, else the current Docker context, else the usual socket."""

from __future__ import annotations

import os
import socket
import ssl
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from engine.environments.docker.certificates import tls_settings
from engine.environments.docker.contexts import read_context

USUAL_SOCKET = "unix:///var/run/docker.sock"
SCHEMES = ("unix", "tcp", "http", "https", "ssh")
TLS_VARIABLES = ("DOCKER_TLS", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH")
CLI_VARIABLES = ("DOCKER_HOST", "DOCKER_CONTEXT", *TLS_VARIABLES, "DOCKER_CONFIG")
FORWARDERS = frozenset({"ssh", "sshd", "socat"})
"""Programs at whose sockets another host's daemon may answer."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """`host` is a Docker URL. `named_by` and `certificates_by` say what a person set to come here ("" for the usual
    socket). `tls` with `certificates` None trusts this host's own authorities."""

    host: str = USUAL_SOCKET
    named_by: str = ""
    tls: bool = False
    certificates: Path | None = None
    certificates_by: str = ""
    verify: bool = True

    @property
    def is_socket(self) -> bool:
        return self.host.startswith("unix://")

    @property
    def is_ssh(self) -> bool:
        return self.host.startswith("ssh://")

    @property
    def socket(self) -> str:
        """The path of a Unix socket; behind ssh that of the other host's."""
        if self.is_ssh:
            path = urlsplit(self.host).path
            return unquote(path) if path not in ("", "/") else USUAL_SOCKET.removeprefix("unix://")
        return self.host.removeprefix("unix://")

    @property
    def address(self) -> tuple[str, int]:
        """Name and port of a daemon behind TCP."""
        place = urlsplit(self.host)
        return str(place.hostname), int(place.port or 0)

    def tls_context(self) -> ssl.SSLContext | None:
        """None where the daemon speaks plain HTTP. Raises ValueError where its files can't be used."""
        return tls_settings(self.certificates, self.certificates_by, verify=self.verify) if self.tls else None


def is_here(endpoint: Endpoint, info: Mapping[str, Any]) -> bool:
    """Does the daemon that gave this answer to `info` see the files of this host? One in a virtual machine has another
    name, and so mostly has one behind a socket that somebody forwards."""
    return endpoint.is_socket and info.get("Name") == socket.gethostname() and not _is_passed_on(endpoint.socket)


def _is_passed_on(path: str) -> bool:
    """Does another program than a daemon of this host listen here? Who can't be asked passes nothing on."""
    if not hasattr(socket, "SO_PEERCRED"):
        return False
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(path)
            told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid = struct.unpack("3i", told)[0]
        if pid == 0:  # a process that this one can't see: we are in a container, and its files are not the daemon's
            return True
        return Path(f"/proc/{pid}/comm").read_text().strip() in FORWARDERS
    except OSError:
        return False


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
    """As the Docker CLI decides. Raises ValueError where that names no daemon that can be reached from here."""
    host = environ.get("DOCKER_HOST", "").strip()
    if host:
        return _of_host(host, environ)
    name = environ.get("DOCKER_CONTEXT", "")
    named_by = f"DOCKER_CONTEXT={name}"
    if not name:
        chosen = cli_config(environ).get("currentContext")
        name = chosen if isinstance(chosen, str) and chosen else "default"
        named_by = f"currentContext in {config_folder(environ) / 'config.json'}"
    if name == "default":
        return Endpoint()
    return _of_context(name, named_by, config_folder(environ))


def _of_host(host: str, environ: Mapping[str, str]) -> Endpoint:
    _check(host, "DOCKER_HOST")
    verify = bool(environ.get("DOCKER_TLS_VERIFY"))
    by_variable = verify or bool(environ.get("DOCKER_TLS"))
    if host.startswith(("unix://", "ssh://")) or not (by_variable or host.startswith("https://")):
        return Endpoint(host=host, named_by="DOCKER_HOST")
    named = environ.get("DOCKER_CERT_PATH")
    folder = Path(named) if named else config_folder(environ)
    return Endpoint(
        host=host,
        named_by="DOCKER_HOST",
        tls=True,
        certificates=folder if by_variable or named else None,
        certificates_by="DOCKER_CERT_PATH" if named else "the folder of certificates (DOCKER_CERT_PATH is not set)",
        verify=verify or not by_variable,
    )


def _check(host: str, named_by: str) -> None:
    scheme, _, rest = host.partition("://")
    if ":" in rest.partition("/")[0].rpartition("@")[0]:
        raise ValueError(f"{named_by} has a password in it, which nobody would ask for: use a key or certificates")
    try:
        place = urlsplit(host)
        there = bool(rest) if scheme == "unix" else bool(place.hostname and (place.port or scheme == "ssh"))
        if scheme not in ("unix", "ssh"):
            (place.hostname or "").encode("idna")
    except ValueError:  # the port is no number, the name none that a host can have
        there = False
    # What begins with a hyphen would be an option of ssh.
    if scheme not in SCHEMES or not there or (scheme == "ssh" and rest.startswith("-")):
        raise ValueError(
            f"{named_by} is {host!r}: expected unix:///path/of/docker.sock, tcp://host:port or ssh://user@host"
        )


def _of_context(name: str, named_by: str, config: Path) -> Endpoint:
    context = read_context(name, config)
    host = context.host or USUAL_SOCKET
    _check(host, f"the Docker context {name!r}")
    tls = not host.startswith(("unix://", "ssh://")) and (
        context.certificates is not None or context.skip_verify or host.startswith("https://")
    )
    return Endpoint(
        host=host,
        named_by=named_by,
        tls=tls,
        certificates=context.certificates if tls else None,
        certificates_by=f"the certificates' folder of the Docker context {name!r}",
        verify=not context.skip_verify,
    )


def cli_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What the Docker tools need to reach the same daemon with the same credentials, and nothing else of the shell:
    no COMPOSE_* and nothing that a definition could pick up by name."""
    kept = {name: environ[name] for name in CLI_VARIABLES if environ.get(name)}
    kept.setdefault("DOCKER_CONFIG", str(config_folder(environ)))
    return kept
