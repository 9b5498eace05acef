"""Asking whether a Docker engine answers here, and with which client."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from console.machine.command import Outcome, run

ASK_LIMIT = 20.0
COMPOSE_MAJOR = 2
USUAL_CLIENTS = ("/usr/bin/docker", "/usr/local/bin/docker")

# What the client prints when the socket is there and this account may not open it.
DENIED = re.compile(r"permission denied while trying to connect", re.IGNORECASE)
# Not a tab between them: the client lays tabs out as columns.
SERVER_FORMAT = "{{.Server.Version}}|{{.Client.Version}}"


@dataclass(frozen=True)
class Client:
    """One docker command, and what it said about the engine, Compose and buildx.

    A version is None where there is none (Compose 1 counts as none); `said` is why the engine didn't answer.
    """

    path: str
    server: str | None
    compose: str | None
    buildx: str | None
    said: str = ""

    @property
    def fits(self) -> bool:
        return self.server is not None and self.compose is not None and self.buildx is not None

    @property
    def denied(self) -> bool:
        return self.server is None and DENIED.search(self.said) is not None

    @property
    def parts(self) -> int:
        return sum(part is not None for part in (self.server, self.compose, self.buildx))


def candidates(path: str) -> list[str]:
    """Every docker command on PATH in PATH's order, then the usual places; links to one file count once."""
    folders = [Path(folder) / "docker" for folder in path.split(os.pathsep) if folder]
    found: dict[Path, str] = {}
    for command in [*folders, *map(Path, USUAL_CLIENTS)]:
        if os.access(command, os.X_OK) and command.is_file():
            found.setdefault(command.resolve(), str(command))
    return list(found.values())


def version_in(text: str) -> str | None:
    """The first version number in what a program printed (`v2.26.1`, `github.com/… 0.13.1+ds1 …`)."""
    found = re.search(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)?)", text)
    return found[1] if found else None


def read_client(path: str, server: Outcome, compose: Outcome, buildx: Outcome) -> Client:
    """Make sense of what one client printed for its three questions."""
    versions = server.output.strip().splitlines()[-1:] or [""]
    answered = server.ok and "|" in versions[0] and not versions[0].startswith(("|", "<no value>"))
    compose_version = version_in(compose.output) if compose.ok else None
    if compose_version and int(compose_version.partition(".")[0]) < COMPOSE_MAJOR:
        compose_version = None
    return Client(
        path=path,
        server=versions[0].partition("|")[0] if answered else None,
        compose=compose_version,
        buildx=version_in(buildx.output) if buildx.ok else None,
        said="" if answered else _reason(server.output),
    )


def _reason(output: str) -> str:
    """The client's word on why there's no answer, without the lines about itself."""
    lines = [line.strip() for line in output.strip().splitlines() if line.strip() and line != "|"]
    return lines[-1] if lines else "no answer"


def ask(path: str) -> Client:
    """Ask one client its three questions at once; each is bounded."""
    questions = (
        [path, "version", "--format", SERVER_FORMAT],
        [path, "compose", "version", "--short"],
        [path, "buildx", "version"],
    )
    with ThreadPoolExecutor(len(questions)) as pool:
        server, compose, buildx = pool.map(lambda argv: run(argv, timeout=ASK_LIMIT), questions)
    return read_client(path, server, compose, buildx)


def best(clients: Iterable[Client]) -> Client | None:
    """The client with the most working parts; among equals the one that PATH finds first."""
    return max(clients, key=lambda client: client.parts, default=None)


def find_client() -> Client | None:
    """The docker command to use on this machine, or None where there is none at all.

    More than one is asked only where the first lacks something: an old client left in front of the
    distribution's own is common, and may be refused by a newer engine.
    """
    asked = []
    for path in candidates(os.environ.get("PATH", "")):
        client = ask(path)
        if client.fits:
            return client
        asked.append(client)
    return best(asked)


def put_first(client: Client, environ: MutableMapping[str, str], folder: Path) -> None:
    """Make `docker` mean this client in `environ`, through a link in `folder` where PATH finds another."""
    path = environ.get("PATH", "")
    if (first := shutil.which("docker", path=path)) and Path(first).resolve() == Path(client.path).resolve():
        return
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "docker"
    link.unlink(missing_ok=True)
    link.symlink_to(client.path)
    environ["PATH"] = f"{folder}{os.pathsep}{path}"


def chosen_engine(environ: Mapping[str, str], config: str = "") -> str | None:
    """Which engine the user chose other than this machine's own, in words; None where none was chosen.

    `config` is the text of the client's config.json. Such an engine is never replaced by one of ours.
    """
    if host := environ.get("DOCKER_HOST"):
        return f"DOCKER_HOST={host}"
    if (context := environ.get("DOCKER_CONTEXT")) and context != "default":
        return f"DOCKER_CONTEXT={context}"
    try:
        settings = json.loads(config or "{}")
    except ValueError:
        return None
    current = settings.get("currentContext") if isinstance(settings, dict) else None
    return f"the Docker context {current}" if current and current != "default" else None


def client_config(environ: Mapping[str, str]) -> str:
    folder = Path(environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    try:
        return (folder / "config.json").read_text(encoding="utf-8")
    except OSError:
        return ""
