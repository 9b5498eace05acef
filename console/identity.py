"""What a run folder and this machine say about who made the run: the list that a scrubber works from."""

from __future__ import annotations

import getpass
import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from console.scrub import SHORTEST_VALUE, Known, name, path
from engine import events as ev
from engine.layout import CONFIG, EVENTS
from engine.owner import boot_id, read_owner
from engine.readers.followed_file import FollowedFile
from engine.runs.card import RunCard

HOME = "/home/user"
HOST, USER = "host", "user"
_TELLING = tuple(
    b'{"type":"%s"' % kind for kind in (b"run_planned", b"engine_started", b"trial_started", b"service_changed")
)


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Allowed host variables whose values can't be replaced: `too_short` for it to be safe, `unset` on this machine."""

    known: tuple[Known, ...]
    ids: tuple[str, ...]
    too_short: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()


def identity_of(folder: Path, card: RunCard | None, environ: Mapping[str, str] = os.environ) -> Identity:
    """Of the run in `folder` and of the machine that this is."""
    hosts, ids = _from_events(folder)
    owner = read_owner(folder)
    hosts += [owner.host] if owner is not None else []
    ids += [owner.boot.replace("-", "")] if owner is not None else []
    hosts += [card.conduct.host.name] if card is not None else []
    known = [
        *_paths(folder, card, environ),
        *(name("host name", host, HOST) for host in dict.fromkeys((*hosts, *_host_names())) if host),
        *(name("user name", user, USER) for user in dict.fromkeys(_user_names(environ)) if user),
        *_boots(owner.boot if owner is not None else ""),
    ]
    names = card.allowed_host_env if card is not None else ()
    values, too_short = _values(names, environ)
    unset = tuple(variable for variable in names if variable not in environ)
    return Identity(known=(*values, *known), ids=tuple(ids), too_short=tuple(too_short), unset=unset)


def _from_events(folder: Path) -> tuple[list[str], list[str]]:
    """Host names, and the ids of containers and projects, random and so of that one machine only."""
    hosts: list[str] = []
    ids: list[str] = []
    lines = FollowedFile(folder / EVENTS)
    while batch := lines.new_lines():
        for event in ev.decode_lines(line for line in batch if line.startswith(_TELLING)):
            match event:
                case ev.RunPlanned(host=host):
                    hosts.append(host.name)
                case ev.EngineStarted(host=host_name):
                    hosts.append(host_name)
                case ev.TrialStarted(project=project):
                    ids += re.findall(r"-([0-9a-f]{8})(?![0-9a-z])", project)
                case ev.ServiceChanged(container=container):
                    ids.append(container)
                case _:
                    pass
    lines.close()
    return hosts, ids


def _paths(folder: Path, card: RunCard | None, environ: Mapping[str, str]) -> Iterator[Known]:
    """The longest wins where one lies in another."""
    runs = {str(folder.absolute().parent), str(folder.resolve().parent), _jobs_dir(folder)}
    yield from (path("runs folder", one, f"{HOME}/runs") for one in runs if one.startswith("/"))
    if card is not None:
        parents = sorted({str(Path(task.folder).parent) for task in card.tasks if task.folder.startswith("/")})
        for number, parent in enumerate(parents, 1):
            yield path("task folder", parent, f"{HOME}/tasks" + (f"-{number}" if number > 1 else ""))
        if card.conduct.working_folder:
            yield path("working folder", card.conduct.working_folder, f"{HOME}/project")
    with suppress(OSError):
        yield path("working folder", str(Path.cwd()), f"{HOME}/project")
    yield path("trialdeck's own folder", str(Path(__file__).resolve().parents[1]), f"{HOME}/trialdeck")
    yield path("Python's folder", sys.prefix, f"{HOME}/venv")
    homes = {environ.get("HOME", ""), str(Path.home()), str(Path.home().resolve())}
    yield from (path("home folder", one, HOME) for one in homes if one.startswith("/") and one != "/")
    for variable in ("TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        if (value := environ.get(variable, "")).startswith("/"):
            yield path(f"folder of {variable}", value, f"{HOME}/{variable.lower()}")
    yield path("temporary folder", tempfile.gettempdir(), "/tmp")


def _jobs_dir(folder: Path) -> str:
    """Where the run lay when it was made, as its Harbor files have it."""
    try:
        config: Any = msgspec.json.decode((folder / CONFIG).read_bytes())
        return str(config["jobs_dir"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return ""


def _host_names() -> Iterator[str]:
    from engine.environments.docker.labels import host as label

    for full in (socket.gethostname(), os.uname().nodename):
        yield full
        yield full.partition(".")[0]
    yield label()


def _user_names(environ: Mapping[str, str]) -> Iterator[str]:
    with suppress(KeyError, OSError):
        yield getpass.getuser()
    yield from (environ.get(variable, "") for variable in ("USER", "LOGNAME", "SUDO_USER"))
    yield Path.home().name


def _boots(of_run: str) -> Iterator[Known]:
    """Whole, and shortened as labels on Docker objects have it."""
    for boot in {of_run, boot_id()} - {""}:
        yield Known(kind="boot id", text=boot, stand_in="00000000-0000-0000-0000-000000000000")
        if len(boot) > 8:
            yield Known(kind="boot id", text=boot[:8], stand_in="00000000", word=True)
    with suppress(OSError):
        machine = Path("/etc/machine-id").read_text().strip()
        yield Known(kind="machine id", text=machine, stand_in="0" * 32)


def _values(names: tuple[str, ...], environ: Mapping[str, str]) -> tuple[list[Known], list[str]]:
    """The values of the variables that tasks were given; of a value of several lines each by itself as well."""
    found: list[Known] = []
    too_short: list[str] = []
    for variable in names:
        value = environ.get(variable, "")
        pieces = [piece for piece in (value, *value.splitlines()) if len(piece.strip()) >= SHORTEST_VALUE]
        if value and not pieces:
            too_short.append(variable)
        found += [Known(kind=f"value of {variable}", text=piece, stand_in=f"<{variable}>") for piece in pieces]
    return found, too_short
