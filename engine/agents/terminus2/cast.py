"""A recording of the terminal as asciinema keeps it (version 2), written while it runs."""

from __future__ import annotations

import codecs
import contextlib
import json
import time
from pathlib import Path
from types import TracebackType
from typing import IO

from engine.agents.terminus2.terminal import COLUMNS, ROWS

MOST_BYTES = 64 << 20


class Cast:
    """Never raises: a recording that can't be written on is left as it is. `full` once it has MOST_BYTES."""

    def __init__(self, path: Path) -> None:
        self.full = False
        self._file: IO[str] | None = None
        self._written = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._began = time.monotonic()
        try:
            self._file = path.open("w", encoding="utf-8", newline="\n")
        except OSError:
            return
        self._write({"version": 2, "width": COLUMNS, "height": ROWS, "timestamp": int(time.time())})

    def output(self, stream: str, data: bytes) -> None:
        if stream == "stdout" and (text := self._decoder.decode(data)):
            self._event("o", text)

    def mark(self, label: str) -> None:
        self._event("m", label)

    def close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def _event(self, kind: str, text: str) -> None:
        if self._written < MOST_BYTES:
            self._write([round(time.monotonic() - self._began, 3), kind, text])
        elif not self.full:
            self.full = True
            self._write([round(time.monotonic() - self._began, 3), "m", f"the recording ends at {MOST_BYTES >> 20} MB"])

    def _write(self, value: object) -> None:
        if self._file is None:
            return
        line = json.dumps(value, ensure_ascii=True) + "\n"
        try:
            self._file.write(line)
            self._file.flush()
            self._written += len(line)
        except OSError:
            self.close()

    def __enter__(self) -> Cast:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
