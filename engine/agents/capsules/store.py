"""The capsules of this user: a folder each in the cache, with what it must be like written beside its files.

A capsule is built aside and renamed, so that a folder with a capsule's name is whole. What was changed afterwards is
found and refused.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from engine.agents.capsules.capsule import OPT, Capsule, CapsuleUnusable, Contents, place_of
from engine.agents.capsules.digest import tree_of
from engine.user_places import capsules_dir

MANIFEST = "capsule.json"
FORMAT = 1
MOST_MANIFEST = 1 << 20
_TAG = re.compile(r"[a-z0-9][a-z0-9._+-]{0,79}", re.ASCII)
_ASIDE = ".aside-"
_NOT_TO_BE_WRITTEN = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR, errno.EEXIST}
)


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The file `capsule.json` in a capsule."""

    format: int
    tag: str
    digest: str
    shape: str
    files: int
    bytes: int
    machine: str
    place: str
    versions: dict[str, str]
    programs: dict[str, str]
    env: dict[str, str]

    def as_capsule(self, folder: Path) -> Capsule:
        place = place_of(self.tag)
        return Capsule(
            tag=self.tag,
            digest=self.digest,
            folder=folder,
            versions=self.versions,
            programs={name: f"{place}/{path}" for name, path in self.programs.items()},
            env={name: value.replace("{place}", place) for name, value in self.env.items()},
            machine=self.machine,
            files=self.files,
            bytes=self.bytes,
        )


def find(tag: str, *, whole: bool = False) -> Capsule | None:
    """The capsule with this tag, None where there is none. Its files are compared by name, mode and size with what they
    must be, with `whole` also by their contents (a second for each GB).

    Raises CapsuleUnusable where it isn't what it was when it was built, and says how to get out.
    """
    folder = folder_of(tag)
    manifest = _manifest(folder, tag)
    if manifest is None:
        return None
    try:
        tree = tree_of(folder, leave_out=MANIFEST, contents=whole)
    except OSError as error:
        raise _changed(tag, folder, f"{error.filename or folder}: {error.strerror or error}") from None
    if tree.shape != manifest.shape:
        raise _changed(
            tag,
            folder,
            f"it has {tree.files:,} files with {tree.bytes:,} bytes, and had {manifest.files:,} with "
            f"{manifest.bytes:,} when it was built"
            if (tree.files, tree.bytes) != (manifest.files, manifest.bytes)
            else "names, modes or sizes of its files are not those that it was built with",
        )
    if whole and _digest(tree.content, manifest) != manifest.digest:
        raise _changed(tag, folder, "the contents of its files are not those that it was built with")
    if manifest.machine != platform.machine():
        raise _changed(tag, folder, f"it was built for {manifest.machine}, this machine is {platform.machine()}")
    return manifest.as_capsule(folder)


def tags() -> list[str]:
    """Of all capsules there are, sound or not."""
    try:
        names = sorted(path.name for path in capsules_dir().iterdir() if path.is_dir())
    except FileNotFoundError:
        return []
    return [name for name in names if _TAG.fullmatch(name)]


def folder_of(tag: str) -> Path:
    """Raises CapsuleUnusable for what can't be a tag."""
    if not _TAG.fullmatch(tag):
        raise CapsuleUnusable(f'"{tag}" is no tag of a capsule: small letters, digits and . _ + -, like node24-v1')
    return capsules_dir() / tag


def remove(tag: str) -> bool:
    """Whether there was one. Trials that work with it at this moment lose it."""
    folder = folder_of(tag)
    if not folder.is_dir():
        return False
    with locked(tag):
        _drop(folder)
    return True


@contextmanager
def locked(tag: str, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
    """One builds or removes a capsule; others wait, and say so. Ends with the process, however that ends."""
    place = capsules_dir()
    folder_of(tag)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with (place / f".lock-{tag}").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waits()
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
    except OSError as error:
        if error.errno in _NOT_TO_BE_WRITTEN:
            raise CapsuleUnusable(
                f"capsules are kept in {place}: {error.strerror}; make room there, or give another XDG_CACHE_HOME"
            ) from None
        raise


@contextmanager
def draft(tag: str) -> Iterator[Path]:
    """An empty folder to build in, under the lock. It is gone afterwards, with what cut builds left."""
    for left in capsules_dir().glob(f"{_ASIDE}{tag}-*"):
        _delete(left)
    folder = Path(tempfile.mkdtemp(prefix=f"{_ASIDE}{tag}-", dir=capsules_dir()))
    try:
        yield folder
    finally:
        _delete(folder)


def keep(tag: str, built: Path, contents: Contents) -> Capsule:
    """Let a folder that was built be the capsule, in one step."""
    _even(built)
    tree = tree_of(built, leave_out=MANIFEST, contents=True)
    manifest = Manifest(
        format=FORMAT,
        tag=tag,
        digest="",
        shape=tree.shape,
        files=tree.files,
        bytes=tree.bytes,
        machine=platform.machine(),
        place=str(OPT / tag),
        versions=contents.versions,
        programs=contents.programs,
        env=contents.env,
    )
    manifest = msgspec.structs.replace(manifest, digest=_digest(tree.content, manifest))
    (built / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    (built / MANIFEST).chmod(0o644)
    folder = folder_of(tag)
    if folder.exists():
        _drop(folder)
    built.rename(folder)
    return manifest.as_capsule(folder)


def _manifest(folder: Path, tag: str) -> Manifest | None:
    if not folder.is_dir():
        return None
    try:
        with (folder / MANIFEST).open("rb") as file:
            found = msgspec.json.decode(file.read(MOST_MANIFEST), type=Manifest)
    except (OSError, msgspec.DecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise _changed(tag, folder, f"its {MANIFEST} can't be read: {why}") from None
    if found.format != FORMAT:
        raise _changed(tag, folder, f"its format is {found.format}, this trialdeck knows {FORMAT}")
    if found.tag != tag or found.place != place_of(tag):
        raise _changed(tag, folder, f"it was built as {found.tag} for {found.place}")
    return found


def _digest(content: str, manifest: Manifest) -> str:
    """Covers what is said of the files as well: it decides what is started."""
    said = msgspec.json.encode(msgspec.structs.replace(manifest, digest="", shape=""), order="deterministic")
    return hashlib.sha256(content.encode() + b"\n" + said).hexdigest()


def _even(folder: Path) -> None:
    """The same modes whatever the umask: readable by all, writable by nobody else, set-uid by nobody."""
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(root, name)
            if not path.is_symlink():
                runs = path.is_dir() or path.stat().st_mode & 0o100
                path.chmod(0o755 if runs else 0o644)
    folder.chmod(0o755)


def _changed(tag: str, folder: Path, why: str) -> CapsuleUnusable:
    return CapsuleUnusable(
        f"capsule {tag} in {folder} can't be used: {why}; `trialdeck capsule remove {tag}`, then "
        f"`trialdeck capsule build {tag}`"
    )


def _drop(folder: Path) -> None:
    """Out of the way first: nobody finds half of it."""
    aside = folder.with_name(f"{_ASIDE}{folder.name}-dropped-{os.getpid()}")
    folder.rename(aside)
    _delete(aside)


def _delete(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
