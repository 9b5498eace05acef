"""The file that holds a run's labels: appended to by several people at once, never rewritten."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from engine.json_document import json_document
from engine.readers.open_run import OpenedRun
from engine.triage.labels import Label
from engine.user_places import foreign_labels_dir

LABELS = "labels.jsonl"
MOST_A_LINE = 1 << 20
"""A longer line is no label."""
_READ = 1 << 20
_BEFORE = 512
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)

_decoder = msgspec.json.Decoder(Label)


def labels_path(run: OpenedRun) -> Path:
    """In the run's own folder where it is ours, else in the user's data folder: nothing is written into a folder of
    another tool."""
    if run.ours:
        return run.folder / LABELS
    digest = hashlib.sha256(f"{run.kind}\0{run.identity}".encode("utf-8", "backslashreplace")).hexdigest()[:32]
    return foreign_labels_dir() / f"{run.kind}-{digest}.jsonl"


def open_labels(run: OpenedRun) -> LabelStore:
    """A run of ours may have been labelled before it had a plan, or by a name that its folder had: both are it."""
    return LabelStore(labels_path(run), run.identity, frozenset({run.folder.name}) if run.ours else frozenset())


class LabelStore:
    """Labels of one run. Any number of processes may append and read at once; one store belongs to one thread.

    Whoever appends reads the label back with `new_labels` like everybody else's, so that all fold the same order.
    """

    def __init__(self, path: Path, run_identity: str, known_as: frozenset[str] = frozenset()) -> None:
        self.path = path
        self._known_as = known_as
        self.run_identity = run_identity
        self.problems: list[str] = []
        """Lines that are no labels of this run, each said once: cut by a crash, damaged, of another run."""
        self.anew = False
        """The last `new_labels` began at the top again, since somebody changed what had been read: what it returned is
        all that there is now."""
        self._offset = 0
        self._line = 0
        self._inode = 0
        self._rest = b""
        self._before = b""  # what stands right before the offset

    @property
    def cut(self) -> str:
        """What is to be said about a last line without an end; "" where there is none. It may still be written to."""
        return f"{self.path.name}, line {self._line + 1}: cut off in the middle, left as it is" if self._rest else ""

    def append(self, label: Label) -> None:
        """One whole line on the disk when this returns, or none of it and an OSError. ValueError: of another run."""
        self.append_all([label])

    def append_all(self, labels: list[Label]) -> None:
        """All of them side by side, or none."""
        for label in labels:
            if label.run != self.run_identity:
                raise ValueError(f"a label of run {label.run!r} among those of {self.run_identity!r}")
        if not labels:
            return
        data = b"".join(_line_of(label) for label in labels)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _opened(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            _share_as_its_folder(descriptor, self.path.parent)
            with _locked(descriptor):
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    data = b"\n" + data  # what a crash cut off stays a line of its own
                _write_whole(descriptor, data, size)
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def new_labels(self) -> list[Label]:
        """What anyone has appended since the last call, this store included, in the file's order. Raises OSError."""
        self.anew = False
        try:
            descriptor = _opened(self.path, os.O_RDONLY)
        except FileNotFoundError:
            self._begin_anew(0)
            return []
        found: list[Label] = []
        try:
            status = os.fstat(descriptor)
            if status.st_ino != self._inode or not self._goes_on(descriptor):
                self._begin_anew(status.st_ino)
            while chunk := os.pread(descriptor, _READ, self._offset):
                self._offset += len(chunk)
                self._before = (self._before + chunk)[-_BEFORE:]
                *lines, self._rest = (self._rest + chunk).split(b"\n")
                for line in lines:
                    self._line += 1
                    label = self._read(line)
                    if label is not None:
                        found.append(label)
                self._rest = self._rest[: MOST_A_LINE + 1]
        finally:
            os.close(descriptor)
        return found

    def _goes_on(self, descriptor: int) -> bool:
        """Whether what was read last still stands where it stood."""
        return os.pread(descriptor, len(self._before), self._offset - len(self._before)) == self._before

    def _begin_anew(self, inode: int) -> None:
        if self._inode:
            self.anew = True
            self.problems.clear()
        self._inode, self._offset, self._line, self._rest, self._before = inode, 0, 0, b"", b""

    def _read(self, line: bytes) -> Label | None:
        where = f"{self.path.name}, line {self._line}"
        if not line.strip():
            return None
        if len(line) > MOST_A_LINE:
            return self._pass_over(f"{where}: longer than any label, left as it is")
        try:
            label = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError):
            return self._pass_over(f"{where}: no label (cut off or damaged), left as it is")
        if label.run in self._known_as:
            label = msgspec.structs.replace(label, run=self.run_identity)
        if label.run != self.run_identity:
            return self._pass_over(f"{where}: a label of another run, passed over")
        if label.cause is None and label.kind in ("label", "settle"):
            return self._pass_over(f"{where}: a {label.kind} without a cause, passed over")
        if label.at.tzinfo is None:
            return self._pass_over(f"{where}: its time has no offset, passed over")
        return label

    def _pass_over(self, problem: str) -> Label | None:
        if problem not in self.problems:
            self.problems.append(problem)
        return None


def _line_of(label: Label) -> bytes:
    line = json_document(label)
    if len(line) > MOST_A_LINE:
        raise ValueError(f"a label of {len(line):,} bytes; its note or evidence must be shorter")
    return line + b"\n"


def _opened(path: Path, flags: int) -> int:
    """A plain file, never a link, a folder, or a pipe that would be waited for. Raises OSError that names it."""
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is no plain file; labels are kept in one, move this away", str(path))
    return descriptor


def _share_as_its_folder(descriptor: int, folder: Path) -> None:
    """A file that was made just now may be written by those who may write in its folder: whoever labels first must not
    lock the others out."""
    file = os.fstat(descriptor)
    if file.st_size or file.st_uid != os.geteuid():
        return
    may = folder.stat().st_mode
    more = (0o060 if may & stat.S_IWGRP else 0) | (0o006 if may & stat.S_IWOTH else 0)
    if more & ~file.st_mode:
        with suppress(OSError):
            os.fchmod(descriptor, stat.S_IMODE(file.st_mode) | more)


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Waits its turn; a disk without locks still appends whole lines."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    yield  # closing the descriptor gives the lock back


def _write_whole(descriptor: int, data: bytes, size: int) -> None:
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
    except OSError:
        if written:
            os.ftruncate(descriptor, size)
        raise
