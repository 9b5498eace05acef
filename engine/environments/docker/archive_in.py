"""Puts files into a container as a tar stream: through the archive API, or by an exec where that one can't reach."""

from __future__ import annotations

import io
import stat
import tarfile
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

import anyio.to_thread

from engine.environments.docker.containers import Container
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.exec import ExecRequest, run_exec
from engine.environments.docker.failures import fail, from_daemon
from engine.environments.docker.host_view import HostView
from engine.issues import Code, Evidence, Phase, TrialFailed

SPOOL_BYTES = 4 * 1024 * 1024
CHUNK = 256 * 1024
UPLOAD_SEC = 600.0


class TransferFailed(Exception):
    """A transfer that the container or the daemon did not take; the message says why."""


def transfer_failed(error: Exception, doing: str, phase: Phase, service: str) -> TrialFailed:
    """What a failed transfer means. Words from inside the container are shown, never taken for the host's."""
    code = Code.ARTIFACT_TRANSFER_FAILED
    if isinstance(error, TransferFailed):
        evidence = Evidence("in the container", str(error))
        return fail(code, f"{doing}: {error}", evidence, phase=phase, service=service)
    call = error if isinstance(error, EngineCallFailed) else EngineCallFailed(0, str(error) or repr(error))
    return from_daemon(call, doing, phase=phase, service=service, fallback=code)


def pack_bytes(data: bytes, target: PurePosixPath, mode: int) -> IO[bytes]:
    """An archive with one file, its name relative to /."""
    spool: IO[bytes] = io.BytesIO()
    with tarfile.open(fileobj=spool, mode="w", format=tarfile.GNU_FORMAT) as archive:
        member = tarfile.TarInfo(_inside(target))
        member.size, member.mode = len(data), mode
        archive.addfile(member, io.BytesIO(data))
    spool.seek(0)
    return spool


def pack_path(source: Path, target: PurePosixPath) -> IO[bytes]:
    """An archive of a file, or of a folder's content, at `target`. The owner is root; modes are kept, set-uid not."""
    spool: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115 - the caller closes it
    with tarfile.open(
        fileobj=spool, mode="w", format=tarfile.GNU_FORMAT, encoding="utf-8", errors="surrogateescape"
    ) as archive:
        for path, place in _walk(source, target):
            member = _member(path, place)
            if member is None:
                continue
            if member.isreg():
                with path.open("rb") as content:
                    archive.addfile(member, content)
            else:
                archive.addfile(member)
    spool.seek(0)
    return spool


def _walk(source: Path, target: PurePosixPath) -> Iterator[tuple[Path, PurePosixPath]]:
    """A folder itself is left out unless it is empty: one that is there keeps its own owner and mode."""
    if not source.is_dir():
        yield source, target
        return
    if not any(source.iterdir()):
        yield source, target
    waiting = [(source, target)]  # no recursion: an agent may nest its folders as deep as it likes
    while waiting:
        folder, place = waiting.pop()
        below: list[tuple[Path, PurePosixPath]] = []
        for path in sorted(folder.iterdir()):
            yield path, place / path.name
            if path.is_dir() and not path.is_symlink():
                below.append((path, place / path.name))
        waiting += reversed(below)


def _member(path: Path, place: PurePosixPath) -> tarfile.TarInfo | None:
    status = path.lstat()
    member = tarfile.TarInfo(_inside(place))
    member.mode = stat.S_IMODE(status.st_mode) & 0o1777
    member.mtime = status.st_mtime
    if stat.S_ISDIR(status.st_mode):
        member.type = tarfile.DIRTYPE
        return member if member.name else None
    if stat.S_ISLNK(status.st_mode):
        member.type = tarfile.SYMTYPE
        member.linkname = str(path.readlink())
        return member
    if not stat.S_ISREG(status.st_mode):
        return None
    member.size = status.st_size
    return member


def _inside(place: PurePosixPath) -> str:
    return "/".join(part for part in place.parts if not part.startswith("/"))


async def put(
    engine: Engine, container: Container, view: HostView | None, archive: IO[bytes], target: PurePosixPath
) -> None:
    """Unpack an archive, its names relative to /, in a container. Closes the archive."""
    try:
        if container.read_only or under_any(target, container.hidden):
            await _put_through_exec(engine, container, view, archive)
        else:
            await _put_through_api(engine, container, archive)
    finally:
        archive.close()


def under_any(target: PurePosixPath, places: tuple[str, ...]) -> bool:
    return any(target.is_relative_to(place) for place in places)


async def _chunks(archive: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := archive.read(CHUNK):
        yield chunk


async def _put_through_api(engine: Engine, container: Container, archive: IO[bytes]) -> None:
    headers = {"Content-Type": "application/x-tar"}
    with anyio.fail_after(UPLOAD_SEC):
        async with engine.stream(
            "PUT", f"containers/{container.id}/archive", data=_chunks(archive), params={"path": "/"}, headers=headers
        ) as response:
            await response.read()


async def _put_through_exec(engine: Engine, container: Container, view: HostView | None, archive: IO[bytes]) -> None:
    """For places that live only in the container's namespace (tmpfs) and for read-only roots."""
    data = await anyio.to_thread.run_sync(archive.read)
    request = ExecRequest(command=["tar", "-xpf", "-", "-C", "/"], user="0", stdin=data)
    end = await run_exec(engine, container, view, request, timeout_sec=UPLOAD_SEC)
    if end.started and end.exit_code == 0:
        return
    archive.seek(0)
    if not end.started:
        await _put_without_tar(engine, container, view, archive)
        return
    raise TransferFailed(end.refused or end.tail or "tar in the container failed")


async def _put_without_tar(engine: Engine, container: Container, view: HostView | None, archive: IO[bytes]) -> None:
    """For images that have a shell but no tar."""
    script = 'mkdir -p "$(dirname "$1")" && cat > "$1" && chmod "$2" "$1"'
    with tarfile.open(fileobj=archive, mode="r:") as members:
        for member in members:
            place, mode = f"/{member.name}", f"{member.mode:o}"
            content = members.extractfile(member) if member.isreg() else None
            if member.isdir():
                request = ExecRequest(command=["mkdir", "-p", "-m", mode, place], user="0")
            elif content is not None:
                request = ExecRequest(command=["sh", "-c", script, "sh", place, mode], user="0", stdin=content.read())
            else:
                request = ExecRequest(command=["ln", "-sfn", member.linkname, place], user="0")
            end = await run_exec(engine, container, view, request, timeout_sec=UPLOAD_SEC)
            if end.exit_code != 0:
                raise TransferFailed(f"{place} can't be written: {end.refused or end.tail}")
