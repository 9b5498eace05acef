"""Why no daemon answers, in words for a person, with the way out."""

from __future__ import annotations

import errno
import os
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

from engine.environments.docker.certificates import AUTHORITY, CERTIFICATE, KEY
from engine.environments.docker.endpoint import Endpoint

_EXPIRED, _NOT_YET = 10, 9
_OTHER_HOST = (62, 64)
SETUP = "start it, set DOCKER_HOST, or let `./dev setup` install one"


def why(error: BaseException, endpoint: Endpoint) -> tuple[str, str]:
    """What happened, and what can be done about it. `error` may be any library's wrapping of the system's own."""
    text = str(error)
    for one in _chain(error):
        if isinstance(one, ssl.SSLWantReadError | ssl.SSLWantWriteError):
            continue  # what TLS says while it waits
        if isinstance(one, ssl.SSLError):
            return _of_tls(one, endpoint)
        if isinstance(one, TimeoutError):
            hint = "look whether it hangs, and what lies between"
            return "it does not answer in time", _see(endpoint, hint)
        if isinstance(one, OSError) and (said := _of_system(one, endpoint)):
            return said
        if type(one).__module__.startswith("aiohttp") and str(one):
            text = str(one)
    if endpoint.is_ssh:
        return _behind_ssh(endpoint)
    text = text or type(error).__name__
    if "HTTP request to an HTTPS server" in text:
        return "it speaks TLS", "set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to the folder of the certificates"
    if text.lstrip().startswith("<"):  # a web page
        return "what answers there is no Docker engine", _see(endpoint, "look at the port")
    return text, _see(endpoint, SETUP)


def in_one_line(error: BaseException, endpoint: Endpoint) -> str:
    what, way_out = why(error, endpoint)
    return f"no Docker engine answers at {named(endpoint)}: {what}; {way_out}"


def named(endpoint: Endpoint) -> str:
    """The address, and what led there."""
    return f"{endpoint.host} ({f'from {endpoint.named_by}' if endpoint.named_by else 'the usual place'})"


def _see(endpoint: Endpoint, way_out: str) -> str:
    return f"{way_out}; or change {endpoint.named_by}" if endpoint.named_by and way_out != SETUP else way_out


def _chain(error: BaseException) -> Iterator[BaseException]:
    """From the innermost reason outwards: libraries say less than the system that they ask."""
    found: list[BaseException] = []
    now: BaseException | None = error
    while now is not None and now not in found:
        found.append(now)
        # aiohttp keeps what happened beside the chain.
        for inner in (getattr(now, "os_error", None), getattr(now, "certificate_error", None)):
            if isinstance(inner, BaseException) and inner not in found:
                found.append(inner)
        now = now.__cause__ or now.__context__
    yield from reversed(found)


def _of_system(error: OSError, endpoint: Endpoint) -> tuple[str, str] | None:
    place = endpoint.socket if endpoint.is_socket else ""
    if isinstance(error, socket.gaierror):
        return f"{endpoint.address[0]}: no host of that name is known", _see(endpoint, "correct the name")
    number = error.errno
    if number is None or number < 0:
        return None
    if number in (errno.ECONNRESET, errno.EPIPE) and endpoint.is_ssh:
        return _behind_ssh(endpoint)
    if number in (errno.EACCES, errno.EPERM) and place:
        return (
            "this account may not open that socket",
            "let it into the group that the socket belongs to (`sudo usermod -aG docker $USER`, then log in again), or "
            f"point DOCKER_HOST at a daemon of its own (rootless: unix:///run/user/{os.getuid()}/docker.sock)",
        )
    if number == errno.ENOENT and place:
        return "there is no such socket", _found_elsewhere() or SETUP
    if number in (errno.ECONNREFUSED, errno.ENOTSOCK, errno.ENOTDIR):
        return "connection refused, nobody listens there", (_found_elsewhere() if place else "") or SETUP
    if number in (errno.ECONNRESET, errno.EPIPE) and not place and not endpoint.tls:
        return (
            "it breaks the connection off",
            "where it speaks TLS, set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to the folder of the certificates",
        )
    return error.strerror or os.strerror(number), _see(endpoint, SETUP)


def _behind_ssh(endpoint: Endpoint) -> tuple[str, str]:
    return (
        f"ssh gets there, and nobody answers at its socket {endpoint.socket}, or that account may not open it",
        "start it there, let the account into the group docker, or name another socket: ssh://host/path/of/docker.sock",
    )


def _found_elsewhere() -> str:
    """A rootless daemon's socket, where there is one."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    path = Path(runtime) / "docker.sock"
    return f"a rootless daemon's socket is at {path}: set DOCKER_HOST=unix://{path}" if _is_socket(path) else ""


def _is_socket(path: Path) -> bool:
    try:
        return path.is_socket()
    except OSError:
        return False


def _of_tls(error: ssl.SSLError, endpoint: Endpoint) -> tuple[str, str]:
    folder = endpoint.certificates
    files = f"{folder}" if folder is not None else "DOCKER_CERT_PATH"
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _OTHER_HOST:
            return (
                f"its certificate is for another host than {endpoint.address[0]}",
                _see(endpoint, "name it by a name that its certificate has, or let one be made with this name"),
            )
        if error.verify_code in (_EXPIRED, _NOT_YET):
            state = "has expired" if error.verify_code == _EXPIRED else "is not valid yet"
            return f"its certificate {state}", "renew the engine's certificate, or set this host's clock"
        source = f"{folder / AUTHORITY}" if folder is not None else "this host's authorities"
        return (
            f"its certificate is not signed by {source}: {error.verify_message}",
            f"put the authority that signed it into {files} as {AUTHORITY}"
            if folder is not None
            else f"set DOCKER_CERT_PATH to a folder with its {AUTHORITY}",
        )
    reason = error.reason or ""
    if "CERTIFICATE_REQUIRED" in reason or "HANDSHAKE_FAILURE" in reason:
        return "it wants a certificate of ours", f"put {CERTIFICATE} and {KEY} into {files}"
    if "CERTIFICATE_EXPIRED" in reason:
        return f"our certificate has expired: {files}/{CERTIFICATE}", f"renew {CERTIFICATE} in {files}"
    if "UNKNOWN_CA" in reason or "BAD_CERTIFICATE" in reason or "CERTIFICATE_UNKNOWN" in reason:
        return (
            f"it does not accept our certificate {files}/{CERTIFICATE}",
            f"put one that its own authority signed into {files}",
        )
    if reason in ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        by = "DOCKER_TLS_VERIFY and DOCKER_TLS" if endpoint.named_by == "DOCKER_HOST" else "TLS in that context"
        return "it speaks no TLS", f"unset {by}, or name its port for TLS (mostly 2376)"
    return str(error), _see(endpoint, f"look at the certificates in {files}")
