"""Fetches files out of a container as streams: through the archive API, or by tar inside where that one is blind."""

from __future__ import annotations

import base64
import io
import posixpath
import re
import tarfile
from collections.abc import Callable, Coroutine, Sequence
from concurrent import futures
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import anyio
import anyio.from_thread
import anyio.to_thread
import msgspec

from engine.environments.docker.archive_in import TransferFailed, under_any
from engine.environments.docker.containers import Container, inspect
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.exec import ExecRequest, open_exec, run_exec
from engine.environments.docker.host_view import HostView
from engine.environments.docker.unpacking import OverCap, Unpacking, unpack_one
from engine.environments.environment import Transfer
from engine.environments.excludes import Excludes

GO_DIR, GO_LINK = 1 << 31, 1 << 27
GO_OTHER = 1 << 26 | 1 << 25 | 1 << 24
LINK_HOPS = 8
_NO_SUCH_PATH = re.compile(
    r"too many links(?= in )|(?:too many levels of symbolic links|not a directory|file name too long)$"
)
LOOK_SEC = 30.0
LOOK_BYTES = 1024
EMPTY_SEC = 10.0
EMPTY_FOLDER_BYTES = 512 + 1024
"""An archive of nothing but a folder: its header and the end."""


class PathStat(msgspec.Struct, frozen=True, kw_only=True):
    """What a path in a container is, asked of the container and never guessed from its name.

    `kind`: file, folder, link, other, missing.
    """

    kind: str
    size: int = 0
    target: str = ""


def read_stat_header(value: str) -> PathStat:
    told = msgspec.json.decode(base64.b64decode(value))
    mode = int(told["mode"])
    kind = "folder" if mode & GO_DIR else "link" if mode & GO_LINK else "other" if mode & GO_OTHER else "file"
    return PathStat(kind=kind, size=int(told["size"]), target=told.get("linkTarget") or "")


async def holds_nothing(engine: Engine, container: Container, folder: str) -> bool:
    """Whether it is certain that a folder is empty, or not there. Ten times cheaper than a command in the container."""
    place = PurePosixPath(folder)
    if under_any(place, container.hidden) or any(PurePosixPath(p).is_relative_to(place) for p in container.hidden):
        return False
    with anyio.move_on_after(EMPTY_SEC):
        try:
            return await _archive_is_empty(engine, container, folder)
        except EngineCallFailed as error:
            return error.not_found and "no such container" not in error.message.lower()
    return False


async def _archive_is_empty(engine: Engine, container: Container, folder: str) -> bool:
    async with engine.stream("GET", f"containers/{container.id}/archive", params={"path": folder}) as response:
        if read_stat_header(response.headers["X-Docker-Container-Path-Stat"]).kind != "folder":
            return False
        size = 0
        async for piece in response.content.iter_any():
            size += len(piece)
            if size > EMPTY_FOLDER_BYTES:
                return False
        return size == EMPTY_FOLDER_BYTES


Read = Callable[[], Coroutine[Any, Any, bytes]]


class _Blocking(io.RawIOBase):
    """What a worker thread reads: each call waits for the event loop's next piece, so that nothing piles up."""

    def __init__(self, read: Read) -> None:
        super().__init__()
        self._read = read
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        anyio.from_thread.check_cancelled()  # where data is always there, the call below never waits and never notices
        if not self._rest:
            try:
                self._rest = anyio.from_thread.run(self._read)
            except futures.CancelledError:
                anyio.from_thread.check_cancelled()  # as the event loop's own cancellation, not as an error
                raise
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


class Download:
    """One download. `source` is an absolute path in the container."""

    def __init__(
        self,
        engine: Engine,
        container: Container,
        view: HostView | None,
        source: str,
        destination: Path,
        *,
        exclude: Sequence[str] = (),
        max_bytes: int | None = None,
    ) -> None:
        self._engine = engine
        self._container = container
        self._view = view
        self._source = PurePosixPath(posixpath.normpath(source))
        self._destination = destination
        self._exclude = tuple(exclude)
        self._max_bytes = max_bytes

    async def fetch(self) -> Transfer:
        places = self._container.hidden
        hidden = under_any(self._source, places)
        holds_hidden = any(PurePosixPath(place).is_relative_to(self._source) for place in places)
        if (hidden or holds_hidden) and self._container.running:
            return await self._through_exec()
        return await self._through_api(self._source, LINK_HOPS)

    async def _through_api(self, source: PurePosixPath, hops: int) -> Transfer:
        place = f"containers/{self._container.id}/archive"
        try:
            async with self._engine.stream("GET", place, params={"path": str(source)}) as response:
                found = read_stat_header(response.headers["X-Docker-Container-Path-Stat"])
                if found.kind == "file":
                    return await self._one_file(response.content.readany, found.size)
                if found.kind == "folder":
                    unpacking = self._unpacking()
                    complete = await self._feed(unpacking, response.content.readany)
        except EngineCallFailed as error:
            if error.not_found and "no such container" not in error.message.lower():
                await self._raise_if_going(error)
                return Transfer(status="missing")
            if why := _no_such_path(error.message):
                return Transfer(status="missing", skipped=(f"{source}: {why}",))
            raise
        if found.kind == "link":
            if not hops or not found.target:
                return Transfer(status="missing")
            return await self._through_api(PurePosixPath(found.target), hops - 1)
        if found.kind == "other":
            return self._refused()
        if not complete:
            await self._the_rest(unpacking, source)
        for relative in unpacking.missing_links:
            await self._alone(unpacking, relative, source)
        return await self._folder_done(unpacking, source)

    async def _raise_if_going(self, said: EngineCallFailed) -> None:
        """A container that somebody is removing has no files any more, which says nothing of those it had."""
        if (await inspect(self._engine, self._container.id)).state in ("removing", "dead"):
            raise TransferFailed(f"{self._container.name} is being removed: {said.message}") from said

    async def _through_exec(self) -> Transfer:
        found = await self._look_inside()
        if found.kind == "missing":
            return Transfer(status="missing")
        if found.kind == "other":
            return self._refused()
        if found.kind == "file":
            command = ["tar", "-chf", "-", "-C", str(self._source.parent), "--", self._source.name]
            async with open_exec(self._engine, self._container, self._view, _as_root(command)) as running:
                return await self._one_file(running.read, found.size)
        unpacking = self._unpacking()
        unpacking.leading = 0
        if not await self._tar_folder(unpacking, self._source):
            await self._the_rest(unpacking, self._source)
        return await self._folder_done(unpacking, self._source)

    async def _look_inside(self) -> PathStat:
        script = (
            'if [ -d "$1" ]; then echo folder 0; elif [ -f "$1" ]; then echo file $(wc -c < "$1"); '
            'elif [ -e "$1" ]; then echo other 0; else echo missing 0; fi'
        )
        output = bytearray()

        def keep(_: str, data: bytes) -> None:
            output.extend(data[: LOOK_BYTES - len(output)])

        end = await run_exec(
            self._engine,
            self._container,
            self._view,
            _as_root(["sh", "-c", script, "sh", str(self._source)]),
            sink=keep,
            timeout_sec=LOOK_SEC,
        )
        words = output.decode("utf-8", "replace").split()
        if end.exit_code != 0 or len(words) != 2 or not words[1].isdecimal():
            raise TransferFailed(end.refused or end.tail or f"{self._source} can't be looked at")
        return PathStat(kind=words[0], size=int(words[1]))

    def _refused(self) -> Transfer:
        return Transfer(status="refused", skipped=(f"{self._source}: a device, pipe or socket",))

    def _unpacking(self) -> Unpacking:
        return Unpacking(self._destination, Excludes(self._exclude, self._source), self._max_bytes)

    async def _feed(self, unpacking: Unpacking, read: Read) -> bool:
        """False where a member over the cap ended it early."""
        try:
            await anyio.to_thread.run_sync(unpacking.unpack, cast("IO[bytes]", _Blocking(read)))
        except OverCap:
            return False
        except tarfile.TarError as error:
            raise TransferFailed(f"the archive of {self._source} broke off: {error}") from error
        return True

    async def _one_file(self, read: Read, size: int) -> Transfer:
        if self._max_bytes is not None and size > self._max_bytes:
            return self._too_large(f"{size} bytes, ")
        stream = cast("IO[bytes]", _Blocking(read))
        try:
            stored, sha256 = await anyio.to_thread.run_sync(unpack_one, stream, self._destination, self._max_bytes)
        except OverCap:  # it grew, or the container lied about its size
            return self._too_large("")
        except tarfile.TarError as error:
            raise TransferFailed(f"the archive of {self._source} broke off: {error}") from error
        return Transfer(status="collected", files=1, bytes=stored, sha256=sha256)

    def _too_large(self, how: str) -> Transfer:
        note = f"{self._source.name}: {how}over the limit of {self._max_bytes} for one collection"
        return Transfer(status="too_large", skipped=(note,))

    async def _tar_folder(self, unpacking: Unpacking, source: PurePosixPath) -> bool:
        excludes = [f"--exclude=./{_escaped(name)}" for name in unpacking.too_large]
        command = ["tar", "-cf", "-", *excludes, "-C", str(source), "."]
        async with open_exec(self._engine, self._container, self._view, _as_root(command)) as running:
            complete = await self._feed(unpacking, running.read)
            while complete and await running.read():
                pass
            if complete and await running.exit_code() not in (0, 1):
                raise TransferFailed(running.complaints.text() or "tar in the container failed")
        return complete

    async def _the_rest(self, unpacking: Unpacking, source: PurePosixPath) -> None:
        """What follows a member over the cap: once more, by tar in the container, without the large ones."""
        unpacking.leading = 0
        unpacking.start_again()
        try:
            while self._container.running:
                if await self._tar_folder(unpacking, source):
                    return
        except (TransferFailed, EngineCallFailed):
            pass
        unpacking.skipped.append("what follows in the folder was not read")

    async def _alone(self, unpacking: Unpacking, relative: str, source: PurePosixPath) -> None:
        """A hard link whose first name was left out: fetched by itself, where it is a plain file."""
        left = None if self._max_bytes is None else max(0, self._max_bytes - unpacking.bytes)
        one = Download(
            self._engine,
            self._container,
            self._view,
            str(source / relative),
            unpacking.destination / relative,
            max_bytes=left,
        )
        got = await one.fetch()
        if got.status == "collected":
            unpacking.adopt(relative, got.bytes, got.sha256)
        else:
            unpacking.skipped.append(f"{relative}: {got.status.replace('_', ' ')}")

    async def _folder_done(self, unpacking: Unpacking, source: PurePosixPath) -> Transfer:
        unpacking.destination.mkdir(parents=True, exist_ok=True)
        await anyio.to_thread.run_sync(unpacking.finish, source)
        return Transfer(
            status="too_large" if unpacking.too_large else "collected" if unpacking.files else "empty",
            files=unpacking.files,
            bytes=unpacking.bytes,
            sha256=unpacking.listing_digest(),
            is_folder=True,
            skipped=tuple(unpacking.skipped),
        )


def _no_such_path(message: str) -> str:
    """Why nothing can be at a path, where the daemon calls that an error of its own; "" for any other error."""
    found = _NO_SUCH_PATH.search(message)
    return found.group(0) if found else ""


def _as_root(command: list[str]) -> ExecRequest:
    return ExecRequest(command=command, user="0")


def _escaped(name: str) -> str:
    return "".join("\\" + letter if letter in "*?[\\" else letter for letter in name)
