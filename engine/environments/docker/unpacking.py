"""Unpacks a tar stream that nobody vouches for into a folder of the host, and never outside it."""

from __future__ import annotations

import errno
import hashlib
import os
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

CHUNK = 256 * 1024
HOLE = bytes(CHUNK)
SKIPPED_MOST = 200
DRAIN_BYTES = 64 * 1024 * 1024
HEADER_BYTES = 1024 * 1024


_EXTENDED = frozenset(
    {
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
    }
)


class OverCap(Exception):
    """A member too large to be worth reading past: the stream is left, `member` (relative) is what it was."""

    def __init__(self, member: str) -> None:
        super().__init__(member)
        self.member = member


class _Member(tarfile.TarInfo):
    """Names and attributes that don't fit a header are read into memory whole: a container's own tar may claim any
    size for them."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Member:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _EXTENDED and found.size > HEADER_BYTES:
            raise tarfile.ReadError(f"a header of {found.size} bytes")
        return found


class Unpacking:
    """One folder being filled. Blocking: it runs in a worker thread.

    Regular files, folders, hard links, and symbolic links that stay inside arrive; everything else is noted in
    `skipped`. Set-uid and set-gid are dropped, the owner may always read and delete. Holes become holes again.
    """

    def __init__(self, destination: Path, excludes: Callable[[str], bool], max_bytes: int | None = None) -> None:
        self.destination = destination
        self.leading = 1
        self.files = 0
        self.bytes = 0
        self.skipped: list[str] = []
        self.too_large: list[str] = []
        self.missing_links: list[str] = []
        self._excludes = excludes
        self._max_bytes = max_bytes
        self._hashes: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._folders: dict[Path, tuple[int, float]] = {}

    def unpack(self, stream: IO[bytes]) -> None:
        """Reads one tar stream. `leading` components of each name are the collected folder's own."""
        with tarfile.open(
            fileobj=stream, mode="r|", bufsize=CHUNK, encoding="utf-8", errors="surrogateescape", tarinfo=_Member
        ) as archive:
            for member in archive:
                self._take(archive, member)
                archive.members = []  # type: ignore[attr-defined]  # a stream of a million files must not stay in memory

    def _take(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        relative = self._relative(member.name)
        if relative is None:
            self._skip(member.name, "its name leads outside")
            return
        if relative and self._excludes(relative):
            return
        path = self.destination / relative if relative else self.destination
        try:
            if member.isdir():
                self._folder(path, member)
            elif member.islnk():
                self._hard_link(relative, path, member)
            elif member.issym():
                self._links[relative] = member.linkname
            elif member.isreg():
                self._file(archive, relative, path, member)
            else:
                self._skip(relative, "a device, pipe or socket")
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            self._skip(relative, error.strerror or str(error))
        except RecursionError:
            self._skip(relative, "too deep")

    def _relative(self, name: str) -> str | None:
        """The member's path below the collected folder; "" for that one itself, None for a name that leads outside."""
        if name.startswith("/"):
            return None
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if ".." in parts or "\0" in name:
            return None
        return "/".join(parts[self.leading :])

    def _parents(self, path: Path) -> None:
        """Real folders only: nothing here follows a link, since links are made last of all."""
        if path != self.destination:
            path.parent.mkdir(parents=True, exist_ok=True)

    def _folder(self, path: Path, member: tarfile.TarInfo) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._folders[path] = (member.mode & 0o777 | 0o700, member.mtime)

    def _file(self, archive: tarfile.TarFile, relative: str, path: Path, member: tarfile.TarInfo) -> None:
        if self._max_bytes is not None and self.bytes + member.size > self._max_bytes:
            self.too_large.append(relative)
            self._skip(relative, f"{member.size} bytes: over the limit of {self._max_bytes} for one collection")
            if member.size > DRAIN_BYTES:
                raise OverCap(relative)
            return
        content = archive.extractfile(member)
        assert content is not None
        self._parents(path)
        self._store(content, relative, path, member)

    def _store(self, content: IO[bytes], relative: str, path: Path, member: tarfile.TarInfo) -> None:
        with suppress(FileNotFoundError):
            path.unlink()
        digest = hashlib.sha256()
        try:
            with path.open("xb") as out:
                size = copy(content, out, digest.update)
        except BaseException:  # half a file is none, and where the disk is full it takes the room of others
            path.unlink(missing_ok=True)
            raise
        self._finish(path, member)
        self.files += relative not in self._hashes
        self.bytes += size
        self._hashes[relative] = digest.hexdigest()

    def _finish(self, path: Path, member: tarfile.TarInfo) -> None:
        path.chmod(member.mode & 0o777 | 0o600)
        with suppress(OSError, OverflowError, ValueError):
            os.utime(path, (member.mtime, member.mtime))

    def _hard_link(self, relative: str, path: Path, member: tarfile.TarInfo) -> None:
        """Another name of a file that came before; where that one was left out, the caller fetches this name alone."""
        first = self._relative(member.linkname)
        if first is None or first not in self._hashes:
            self.missing_links.append(relative)
            return
        self._parents(path)
        with suppress(FileNotFoundError):
            path.unlink()
        os.link(self.destination / first, path)
        self.files += 1
        self._hashes[relative] = self._hashes[first]

    def _skip(self, name: str, why: str) -> None:
        if len(self.skipped) < SKIPPED_MOST:
            self.skipped.append(f"{name}: {why}")
        elif len(self.skipped) == SKIPPED_MOST:
            self.skipped.append("… and more")

    def finish(self, source: PurePosixPath) -> None:
        """Makes the symbolic links that stay inside, then sets the folders' modes and times."""
        made: list[tuple[str, Path]] = []
        for relative, target in self._links.items():
            path = self.destination / relative
            inside = _pointing_inside(relative, target, source)
            if inside is None:
                self._skip(relative, f"a link that leads outside ({target})")
                continue
            try:
                self._parents(path)
                path.symlink_to(inside)
            except OSError as error:
                self._skip(relative, error.strerror or str(error))
                continue
            made.append((relative, path))
        root = os.path.realpath(self.destination)
        for relative, path in made:
            real = os.path.realpath(path)
            if real != root and not real.startswith(root + os.sep):
                path.unlink()
                self._skip(relative, "a link that leads outside")
            else:
                self._hashes[relative] = "link:" + str(path.readlink())
        for path, (mode, changed) in sorted(self._folders.items(), key=lambda item: -len(item[0].parts)):
            with suppress(OSError, OverflowError, ValueError):
                path.chmod(mode)
                os.utime(path, (changed, changed))

    def listing_digest(self) -> str:
        """SHA-256 over the sorted lines `sha256  path`."""
        digest = hashlib.sha256()
        for relative in sorted(self._hashes):
            digest.update(f"{self._hashes[relative]}  {relative}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def start_again(self) -> None:
        """The same folder comes once more, without what was too large: what is stored is stored over."""
        self.files = self.bytes = 0
        self._hashes.clear()
        self._links.clear()
        self.missing_links.clear()

    def adopt(self, relative: str, size: int, sha256: str) -> None:
        """Counts a file that was fetched alone."""
        self.files += 1
        self.bytes += size
        self._hashes[relative] = sha256


def _pointing_inside(relative: str, target: str, source: PurePosixPath) -> str | None:
    """The link's text for the host, None if it names a place outside the collected folder."""
    if "\0" in target or not target:
        return None
    parent = PurePosixPath(relative).parent
    if target.startswith("/"):
        try:
            below = PurePosixPath(os.path.normpath(target)).relative_to(source)
        except ValueError:
            return None
        return os.path.relpath(below, parent)
    joined = os.path.normpath(parent / target)
    if joined == ".." or joined.startswith(("../", "/")):
        return None
    return target


def unpack_one(stream: IO[bytes], destination: Path, max_bytes: int | None = None) -> tuple[int, str]:
    """Stores the only file of an archive at `destination`, whole or not at all; its size and SHA-256. Raises OverCap
    for one over `max_bytes`."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    part = destination.with_name(f".{destination.name[:200]}.part")
    digest = hashlib.sha256()
    with tarfile.open(fileobj=stream, mode="r|", bufsize=CHUNK, errors="surrogateescape", tarinfo=_Member) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is None:
                continue
            if max_bytes is not None and member.size > max_bytes:
                raise OverCap(destination.name)
            try:
                with part.open("wb") as out:
                    size = copy(content, out, digest.update)
                part.chmod(member.mode & 0o777 | 0o600)
                with suppress(OSError, OverflowError, ValueError):
                    os.utime(part, (member.mtime, member.mtime))
                part.replace(destination)
            finally:
                part.unlink(missing_ok=True)
            return size, digest.hexdigest()
    raise tarfile.ReadError("the archive holds no file")


def copy(content: IO[bytes], out: BinaryIO, update: Callable[[bytes], None]) -> int:
    """Copy to the end; runs of zeros become holes."""
    size = 0
    pending_hole = False
    while chunk := content.read(CHUNK):
        update(chunk)
        size += len(chunk)
        pending_hole = chunk == HOLE
        if pending_hole:
            out.seek(CHUNK, os.SEEK_CUR)
        else:
            out.write(chunk)
    if pending_hole:
        out.truncate(size)
    return size
