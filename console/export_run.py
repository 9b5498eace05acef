"""A copy of a run folder: whole or not there at all, and scrubbed where asked."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import tarfile
import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec
import tomli_w

from console.errors import Unusable
from console.identity import HOST, Identity, identity_of
from console.scrub import AROUND, Known, Scrubber
from console.scrubbed_people import ScrubbedPeople
from console.scrubbed_streams import ScrubbedStreams
from engine.layout import CARD, CONFIG, ENGINE, ENGINE_LOG, EVENTS, RESERVE, RESULT, is_run_folder
from engine.log_streams import SUFFIX, streams_path
from engine.runs.card import CardInvalid, RunCard, read_card, write_card
from engine.triage.label_store import LABELS

ARCHIVES = (".tar.gz", ".tgz")
HARBOR_FILES = (CONFIG, RESULT, "lock.json")
_SNIFF = 64 << 10
_CHUNK = 1 << 20
_LONGEST_LINE = 16 << 20
_TEMPORARY = re.compile(r"\..+\.\d+\.tmp")
_PROCESS = re.compile(rb"\b(process|pid) \d+\b")


class Exported(msgspec.Struct, kw_only=True):
    """`replaced` counts by kind; `binary` and `left_out` are paths in the folder."""

    files: int = 0
    replaced: dict[str, int] = {}
    binary: list[str] = []
    left_out: list[str] = []
    too_short: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()


def export_run(
    folder: Path,
    target: Path,
    *,
    scrub: bool = False,
    keep_binary: bool = True,
    overwrite: bool = False,
    identity: Identity | None = None,
) -> Exported:
    """Copy a run to a new folder, or to an archive where the name ends in .tar.gz or .tgz.

    The engine's own file is left out: a copy is nobody's live run. A run that goes on is copied as it stands. Raises
    Unusable and OSError; then nothing is left at `target` that was not there before.
    """
    archive = target.name.endswith(ARCHIVES)
    _refuse(folder, target, archive=archive, overwrite=overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    shutil.rmtree(staging, ignore_errors=True)
    copy = staging / "run"
    try:
        copy.mkdir(parents=True)
        copied = _Copy(folder, copy, keep_binary=keep_binary)
        if scrub:
            copied.scrub_with(identity)
        copied.all()
        if archive:
            name = copied.new_name(folder.resolve().name)
            _pack(copy, staging / "packed", name)
            (staging / "packed").replace(target)
        else:
            _put(copy, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return copied.exported


def _refuse(folder: Path, target: Path, *, archive: bool, overwrite: bool) -> None:
    if target.resolve().is_relative_to(folder.resolve()):
        raise Unusable(f"{target} lies in the run itself: export to another place")
    if not (target.exists() or target.is_symlink()):
        return
    if not overwrite:
        raise Unusable(f"{target} is there already; --overwrite replaces it")
    if archive and not target.is_file():
        raise Unusable(f"{target} is not a file, and is not replaced by one")
    if not archive and not (target.is_dir() and (is_run_folder(target) or not any(target.iterdir()))):
        raise Unusable(f"{target} is no run folder, so it is not replaced; choose another place")


def _put(copy: Path, target: Path) -> None:
    """Rename into place; an old folder is there until the moment that the new one is."""
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    if target.exists():
        target.rename(old)
    try:
        copy.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


class _Copy:
    def __init__(self, source: Path, copy: Path, *, keep_binary: bool) -> None:
        self.source = source
        self.copy = copy
        self.keep_binary = keep_binary
        self.exported = Exported()
        self._scrubber: Scrubber | None = None
        self._people = ScrubbedPeople(str)
        self._card: RunCard | None = None
        self._streams: dict[Path, ScrubbedStreams] = {}  # of the files beside logs that were scrubbed

    def scrub_with(self, identity: Identity | None) -> None:
        try:
            card: RunCard | None = read_card(self.source)
        except CardInvalid:
            card = None
        found = identity or identity_of(self.source, card)
        known = list(found.known)
        self._people = ScrubbedPeople(Scrubber(known, found.ids).text)
        if card is not None:
            self._card = _scrubbed_card(card, Scrubber(known, found.ids), self._people)
            known.append(Known(kind="digest of the card", text=card.digest, stand_in=self._card.digest))
        self._scrubber = Scrubber(known, found.ids)
        self.exported.too_short = found.too_short
        self.exported.unset = found.unset

    def new_name(self, name: str) -> str:
        return name if self._scrubber is None else self._scrubber.text(name)

    def all(self) -> None:
        for place, entry in _walk(self.source, Path()):
            if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
                self.exported.left_out.append(f"{place} (a link or device)")
                continue
            target = self.copy / Path(*map(self.new_name, place.parts))
            if entry.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            elif str(place) not in (ENGINE, RESERVE) and not _TEMPORARY.fullmatch(place.name):
                self._file(Path(entry.path), place, target)
        if self._scrubber is not None:
            self.exported.replaced = dict(sorted(self._scrubber.counts.items()))

    def _file(self, source: Path, place: Path, target: Path) -> None:
        if (streams := self._streams.get(place)) is not None and streams.failed:
            self.exported.left_out.append(f"{place} (the log has other lines now)")
            return
        if self._of_binary(place) and not self.keep_binary:
            return
        with source.open("rb") as data:
            if self._scrubber is not None and b"\0" in data.read(_SNIFF):
                self.exported.binary.append(str(place))
                if not self.keep_binary:
                    return
            data.seek(0)
            with target.open("xb") as out:
                self._content(data, place, out)
        status = source.stat()
        target.chmod(0o755 if status.st_mode & stat.S_IXUSR else 0o644)
        os.utime(target, ns=(status.st_mtime_ns, status.st_mtime_ns))
        self.exported.files += 1

    def _content(self, data: BinaryIO, place: Path, out: BinaryIO) -> None:
        scrubber = self._scrubber
        if (streams := self._streams.get(place)) is not None:
            out.write(streams.text())
        elif place.name.endswith(".jsonl") and len(place.parts) <= 2:  # our own: only whole lines
            for line in data:
                if line.endswith(b"\n"):
                    told = str(place) in (EVENTS, LABELS)
                    scrubbed = line if scrubber is None else scrubber.raw(line) if not told else self._told(line)
                    out.write(scrubbed)
        elif scrubber is None or str(place) in self.exported.binary or self._of_binary(place):
            shutil.copyfileobj(data, out, _CHUNK)
        elif str(place) == CARD:
            out.write(self._card_text(data.read(), scrubber))
        elif place.name in HARBOR_FILES and len(place.parts) <= 2:
            out.write(_facts(data.read(), scrubber))
        elif str(place) == ENGINE_LOG:
            for chunk in _pieces(data, scrubber):
                out.write(_PROCESS.sub(rb"\1 1", scrubber.raw(chunk)))
        else:
            self._text(data, place, out, scrubber)

    def _told(self, line: bytes) -> bytes:
        """An event, of whatever version, or a label; a line that is none is scrubbed as text."""
        assert self._scrubber is not None
        try:
            told = msgspec.json.decode(line)
        except msgspec.DecodeError:
            return self._scrubber.raw(line)
        if isinstance(told, dict):
            if told.get("type") == "engine_started":
                self._scrubber.counts["process id"] += 1
                told |= {"pid": 1, "host": HOST}
            if isinstance(told.get("host"), dict) and told["host"].get("name"):
                told["host"]["name"] = HOST
            told = self._people.unnamed(told)
        return msgspec.json.encode(self._scrubber.value(told)) + b"\n"

    def _text(self, data: BinaryIO, place: Path, out: BinaryIO, scrubber: Scrubber) -> None:
        beside = streams_path(place)
        told = (self.source / beside).is_file()
        size = os.fstat(data.fileno()).st_size  # before what is said of it is read: that is noted first
        streams = ScrubbedStreams(self.source / place) if told else None
        if streams is not None:
            self._streams[beside] = streams
        for chunk in _pieces(data, scrubber, size if told else None):
            scrubbed = scrubber.raw(chunk)
            if streams is not None:
                streams.piece(chunk, scrubbed)
            out.write(scrubbed)

    def _of_binary(self, place: Path) -> bool:
        """Tells the streams of a log that is not scrubbed."""
        return place.name.endswith(SUFFIX) and str(place.with_suffix("")) in self.exported.binary

    def _card_text(self, text: bytes, scrubber: Scrubber) -> bytes:
        if self._card is not None:
            write_card(self.copy.parent, self._card)
            return (self.copy.parent / CARD).read_bytes()
        try:
            plain = tomllib.loads(text.decode("utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError):
            return scrubber.raw(text)
        scrubbed = scrubber.value(plain, fact=True)
        assert isinstance(scrubbed, dict)
        return tomli_w.dumps(scrubbed).encode()


def _scrubbed_card(card: RunCard, scrubber: Scrubber, people: ScrubbedPeople) -> RunCard:
    told = msgspec.to_builtins(card, builtin_types=(datetime,))
    if amendments := told.get("amendments"):
        told["amendments"] = [people.unnamed(amendment) for amendment in amendments]
    plain = scrubber.value(told, fact=True)
    clean = msgspec.convert(plain, RunCard)
    host = msgspec.structs.replace(clean.conduct.host, name=HOST if clean.conduct.host.name else "")
    return msgspec.structs.replace(clean, conduct=msgspec.structs.replace(clean.conduct, host=host))


def _facts(text: bytes, scrubber: Scrubber) -> bytes:
    """A file for Harbor's viewer: paths of this host, beside messages that came out of containers."""
    try:
        return msgspec.json.format(msgspec.json.encode(scrubber.value(msgspec.json.decode(text), fact=True))) + b"\n"
    except msgspec.DecodeError:
        return scrubber.raw(text)


def _pieces(data: BinaryIO, scrubber: Scrubber, most: int | None = None) -> Iterator[bytes]:
    """Pieces of bounded size, cut between lines where there are any, and never through what is to be replaced. `most`:
    no further than this."""
    rest = b""
    left = most
    while chunk := data.read(_CHUNK if left is None else min(left, _CHUNK)):
        left = None if left is None else left - len(chunk)
        rest += chunk
        end = rest.rfind(b"\n") + 1
        if not end and len(rest) > _LONGEST_LINE:
            end = scrubber.place_to_cut(rest, len(rest) - 2 * AROUND)
        if end:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def _walk(folder: Path, below: Path) -> Iterator[tuple[Path, os.DirEntry[str]]]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            place = below / entry.name
            yield place, entry
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(Path(entry.path), place)


def _pack(copy: Path, archive: Path, name: str) -> None:
    """A gzipped archive without names of users, and without its own time."""
    with (
        archive.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        tar.add(copy, arcname=name, filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() or member.mode & stat.S_IXUSR else 0o644
    return member
