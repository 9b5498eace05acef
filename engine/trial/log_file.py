"""A log that grows while a command runs."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

_TAIL = 4096


class LogFile:
    """Raw bytes of a command's output, both streams in the order they came; remembers its end for messages.

    A full disk must not lose the trial: a failed write is remembered in `failed` and the rest is dropped.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = "/".join(path.parts[-2:])
        self.tail = b""
        self.lines = 0
        self.failed: OSError | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)

    def write(self, stream: str, data: bytes) -> None:
        self.tail = (self.tail + data)[-_TAIL:]
        self.lines += data.count(b"\n")
        if self.failed is None:
            try:
                self._file.write(data)
            except OSError as error:
                self.failed = error

    def __enter__(self) -> LogFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._file.close()
