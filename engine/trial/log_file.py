"""A log that grows while a command runs."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from engine.issues import Code, Issue, Phase, Severity
from engine.log_streams import StreamsFile

_TAIL = 4096
_CHUNK = 1 << 20


class LogFile:
    """Raw bytes of a command's output, both streams in the order they came; remembers its end for messages. Which bytes
    came from stderr stands in a file beside it: see `engine.log_streams`.

    A full disk must not lose the trial: a failed write is remembered in `failed` and the rest is dropped. `lines`
    counts the lines of the whole file, also those that an earlier writer left. `name` is its path below `base`.
    """

    def __init__(self, path: Path, base: Path) -> None:
        self.path = path
        self.name = str(path.relative_to(base))
        self.tail = b""
        self.lines = _lines_in(path)
        self.failed: OSError | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        self._size = os.fstat(self._file.fileno()).st_size
        self._streams = StreamsFile(path)

    def write(self, stream: str, data: bytes) -> None:
        self.tail = (self.tail + data)[-_TAIL:]
        self.lines += data.count(b"\n")
        if self.failed is None and data:
            self._streams.note(stream, self._size)
            try:
                rest = memoryview(data)
                while rest:
                    written = self._file.write(rest)
                    self._size += written
                    rest = rest[written:]
            except OSError as error:
                self.failed = error

    def complaint(self, phase: Phase) -> Issue | None:
        """What to tell a person if the file lacks something that was said."""
        if self.failed is not None:
            what, error = "is not complete", self.failed
        elif self._streams.failed is not None:
            what, error = "does not say of all its lines which came on stderr", self._streams.failed
        else:
            return None
        return Issue(Severity.WARNING, phase, Code.DISK_FULL, f"{self.name} {what}: {error.strerror or error}")

    def close(self) -> None:
        self._file.close()
        self._streams.close()

    def __enter__(self) -> LogFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def _lines_in(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK), b""))
    except FileNotFoundError:
        return 0
