"""Docker contexts as the CLI stores them: a file about each, and its certificates, named after a digest of its name."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec


class DockerContext(msgspec.Struct, frozen=True, kw_only=True):
    """`host` is "" where it says none. `certificates` is the folder with ca.pem, cert.pem and key.pem, None where there
    is none."""

    host: str = ""
    certificates: Path | None = None
    skip_verify: bool = False


def read_context(name: str, config: Path) -> DockerContext:
    """A context of the CLI whose settings lie in `config`. Raises ValueError where it isn't there or can't be read."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
    file = config / "contexts" / "meta" / digest / "meta.json"
    try:
        told = msgspec.json.decode(file.read_bytes())
    except FileNotFoundError:
        raise ValueError(
            f"the Docker context {name!r} doesn't exist in {config / 'contexts'} (see `docker context ls`); "
            "`docker context use default` leaves it, or unset DOCKER_CONTEXT"
        ) from None
    except (OSError, msgspec.DecodeError) as error:
        raise ValueError(f"the Docker context {name!r} can't be read: {file}: {error}") from None
    endpoint = _inside(told, "Endpoints", "docker")
    if endpoint is None:
        raise ValueError(f"the Docker context {name!r} names no Docker engine: {file} has no Endpoints.docker")
    folder = config / "contexts" / "tls" / digest / "docker"
    return DockerContext(
        host=str(endpoint.get("Host") or ""),
        certificates=folder if folder.is_dir() else None,
        skip_verify=endpoint.get("SkipTLSVerify") is True,
    )


def _inside(told: Any, *keys: str) -> dict[str, Any] | None:
    for key in keys:
        told = told.get(key) if isinstance(told, dict) else None
    return told if isinstance(told, dict) else None
