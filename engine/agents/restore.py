"""`restore`: puts the artifacts of another trial back into a fresh environment, so that they are verified once more.

No agent runs. Where the verifier has an environment of its own, it gets what it got then; one that shares `main` sees
the artifacts, and of everything else what the image has.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TypeVar

import msgspec

from engine.agents.agent import AgentConfigInvalid, AgentEnd, AgentSession, AgentTraits
from engine.environments.excludes import tells_of
from engine.events import ArmInfo
from engine.issues import Code, Issue, Phase, Severity, TrialFailed
from engine.layout import CHANGES, MANIFEST
from engine.tasks.task import MAIN
from engine.tasks.verifier_image import verifier_image
from engine.text import clean_line

MOST_BYTES = 64 << 20
"""Of a manifest or a list of changes."""
PATHS_AT_ONCE = 100
REMOVE_SEC = 60.0

TRAITS = AgentTraits(
    name="restore",
    version="1",
    summary="puts the artifacts of another trial back, so that they are verified again; no model is called",
    parameters={"trial": "the folder of the trial whose artifacts they are"},
)


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a manifest, as far as it is needed here."""

    source: str
    destination: str = ""
    type: str = "file"
    service: str = MAIN
    path: str = ""
    exclude: tuple[str, ...] = ()

    @property
    def place(self) -> PurePosixPath:
        return PurePosixPath(self.path or self.source)


class _Changes(msgspec.Struct):
    deleted: tuple[str, ...] = ()


def kept_artifacts(folder: Path) -> list[Kept]:
    """What a trial (or one of its steps) left in its folder. Raises AgentConfigInvalid where that can't be known."""
    manifest = folder / "artifacts" / MANIFEST
    rows = [row for row in _read(manifest, list[Kept]) if row.destination and row.place.is_absolute()]
    inside = folder.resolve()
    for row in rows:
        place = clean_line(row.destination)
        try:
            path = (folder / row.destination).resolve()
            there = path.exists()
        except (OSError, RuntimeError, ValueError):  # links in a circle; no name of any file
            raise AgentConfigInvalid(f"{manifest}: {place} can't be read") from None
        if not path.is_relative_to(inside):
            raise AgentConfigInvalid(f"{manifest}: {place} leads out of the trial's folder")
        if not there:
            raise AgentConfigInvalid(f"{manifest}: {place} is not there any more")
    return rows


class RestoreAgent:
    name = "restore"
    version = "1"
    log_name = "restore.txt"

    def __init__(self, arm: ArmInfo) -> None:
        value = arm.parameters.get("trial", "")
        self.folder = Path(value).expanduser()
        if not value:
            raise AgentConfigInvalid(f'arm {arm.name}: agent "restore" needs the parameter trial (a trial\'s folder)')
        if not self.folder.is_dir():
            raise AgentConfigInvalid(f"arm {arm.name}: trial={value}: no such folder")

    async def set_up(self, session: AgentSession) -> None:
        return None

    async def run(self, session: AgentSession) -> AgentEnd:
        folder = self.folder / "steps" / session.step if session.step else self.folder
        try:
            rows = kept_artifacts(folder)
            deleted = self._deleted(session)
        except AgentConfigInvalid as error:
            raise _failed(str(error)) from None
        if not rows:
            raise _failed(f"{folder} holds no artifact: there is nothing that could be verified again")
        step = next((step for step in session.task.steps if step.name == session.step), None)
        if verifier_image(session.task, step) is None:
            message = "the verifier shares main: of what was left there it sees the artifacts alone"
            session.issue(Issue(Severity.WARNING, Phase.AGENT, Code.TASK_WARNING, message))
        await _delete_again(session, rows, deleted)
        for row in rows:
            session.activity(f"restore {row.place}")
            if row.service not in session.environment.services:
                raise _failed(f"there is no service {row.service} to put {row.place} into")
            await session.environment.upload(folder / row.destination, str(row.place), service=row.service)
        return AgentEnd(note=f"put {len(rows)} artifacts back")

    def _deleted(self, session: AgentSession) -> tuple[str, ...]:
        """The list is that of the whole trial, so of a task with steps it speaks for the last one."""
        last = session.task.steps[-1].name if session.task.steps else ""
        changes = self.folder / CHANGES
        return _read(changes, _Changes).deleted if session.step == last and changes.exists() else ()


async def _delete_again(session: AgentSession, rows: Iterable[Kept], deleted: Iterable[str]) -> None:
    """What the agent had deleted in a folder that is put back must not come back from the image."""
    folders = [row for row in rows if row.type == "directory" and row.service == MAIN]
    gone = [path for path in deleted if any(tells_of(row.place, row.exclude, path) for row in folders)]
    for at in range(0, len(gone), PATHS_AT_ONCE):
        command = ["rm", "-rf", "--", *gone[at : at + PATHS_AT_ONCE]]
        ended = await session.environment.execute(command, user="0", timeout_sec=REMOVE_SEC)
        if ended.exit_code != 0 or ended.timed_out:
            raise _failed(f"what the agent had deleted can't be removed: {clean_line(ended.tail, 300) or 'rm failed'}")


def _failed(message: str) -> TrialFailed:
    return TrialFailed(Issue(Severity.FATAL, Phase.AGENT, Code.AGENT_SETUP_FAILED, message))


_Document = TypeVar("_Document")


def _read(path: Path, kind: type[_Document]) -> _Document:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise AgentConfigInvalid(f"{path} is larger than {MOST_BYTES >> 20} MiB")
        return msgspec.json.decode(data, type=kind)
    except OSError as error:
        raise AgentConfigInvalid(f"{path}: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise AgentConfigInvalid(f"{path}: {error}") from None
