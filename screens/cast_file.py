"""A recording of asciinema (versions 1, 2 and 3), indexed piece by piece; it may be large and may still grow."""

from __future__ import annotations

import json
import os
import re
from array import array
from bisect import bisect_right
from pathlib import Path
from typing import Any

from engine.json_numbers import finite
from engine.regular_file import regular_file
from engine.text import clean_line
from engine.trajectories.object_walk import ObjectWalk
from engine.trajectories.untyped import decoded, number, record, text, whole

MOST_EVENTS = 5_000_000
MOST_LINE = 8 << 20
"""Bytes of one event; longer ones are passed over."""
MOST_FIRST_VERSION = 64 << 20
"""Bytes of a recording of version 1, which is one JSON object and is held in memory."""
MOST_MARKERS = 10_000
_CHUNK = 1 << 20
_LEAST_HEADER = 32
_EVENT = re.compile(rb'\s*\[\s*([-+0-9.eE]+)\s*,\s*"([a-z])"\s*,')
_KEPT = frozenset(b"or")

OUTPUT, RESIZE = "o", "r"


class CastFile:
    """`index_more` reads on, in a thread; everything else may be asked meanwhile. Times are seconds from the start.

    `problem` says in words why there is nothing to show, if so.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.version = 0
        self.columns, self.rows = 80, 24
        self.title = ""
        self.idle_limit: float | None = None
        self.markers: list[tuple[float, str]] = []
        self.left_out = 0
        self.indexed = 0
        self.size = 0
        self._duration = 0.0
        self._times = array("d")
        self._offsets = array("q")
        self._frames: list[str] = []
        self._clock = 0.0

    # --- what is known ---

    @property
    def duration(self) -> float:
        """As far as it is indexed."""
        return max(self._duration, self._clock)

    @property
    def complete(self) -> bool:
        return self.version == 1 or bool(self.problem) or (self.size > 0 and self.indexed >= self.size)

    def __len__(self) -> int:
        return len(self._times)

    def time(self, event: int) -> float:
        return self._times[event]

    def first_after(self, seconds: float) -> int:
        """How many events lie at or before a moment."""
        return bisect_right(self._times, seconds)

    def event(self, number_: int) -> tuple[str, str]:
        """Its kind and its text; text that can't be read any more is empty."""
        if self.version == 1:
            return OUTPUT, self._frames[number_]
        try:
            with regular_file(self.path) as file:
                file.seek(self._offsets[number_])
                line = file.readline(MOST_LINE)
            found = json.loads(line.decode("utf-8", "replace"), strict=False)
        except (OSError, ValueError, RecursionError):
            return OUTPUT, ""
        if not isinstance(found, list) or len(found) < 3:
            return OUTPUT, ""
        return text(found[1]) or OUTPUT, text(found[2])

    # --- the index ---

    def index_more(self, most: int = 16 * _CHUNK) -> bool:
        """Reads about `most` bytes on; whether anything was new. Raises nothing."""
        try:
            with regular_file(self.path) as file:
                self.size = os.fstat(file.fileno()).st_size
                if not self.version and not self.problem and not self._begin(file):
                    return False
                if self.version == 1 or self.problem:
                    return False
                return self._index(file, most)
        except OSError as error:
            if not self.version:
                self.problem = f"can't be read: {error.strerror or error}"
            return False

    def _begin(self, file: Any) -> bool:
        head = file.readline(MOST_LINE)
        found = decoded(head) or {}
        if not head.endswith(b"\n") and (found.get("version") in (2, 3) or self.size < _LEAST_HEADER):
            return False  # still being written
        if found.get("version") in (2, 3):
            self._header(found)
            self.indexed = len(head)
            return True
        file.seek(0)
        data = file.read(MOST_FIRST_VERSION + 1)
        self._first_version(data[:MOST_FIRST_VERSION].decode("utf-8", "replace"))
        if not self.version:
            self.problem = "no recording of asciinema of version 1, 2 or 3"
        elif len(data) > MOST_FIRST_VERSION:
            self.left_out += 1
        return True

    def _first_version(self, content: str) -> None:
        header: dict[str, Any] = {}
        for key, value in ObjectWalk(content, ("stdout",)):
            if key != "stdout":
                header[key] = value
            elif isinstance(value, list) and len(value) >= 2 and len(self._times) < MOST_EVENTS:
                self._clock += _moment(value[0])
                self._times.append(self._clock)
                self._frames.append(text(value[1]))
        if header.get("version") == 1:
            self._header(header)
            self.indexed = self.size
            self.problem = ""

    def _header(self, found: dict[str, Any]) -> None:
        self.version = int(found["version"])
        term = record(found.get("term"))
        self.columns = whole(term.get("cols")) or whole(found.get("width")) or 80
        self.rows = whole(term.get("rows")) or whole(found.get("height")) or 24
        self.title = clean_line(text(found.get("title")) or text(found.get("command")), 200)
        self.idle_limit = number(found.get("idle_time_limit")) or None
        if self.version == 1:
            self._duration = number(found.get("duration")) or 0.0

    def _index(self, file: Any, most: int) -> bool:
        before = self.indexed
        file.seek(self.indexed)
        while self.indexed - before < most:
            line = file.readline(MOST_LINE)
            if not line.endswith(b"\n"):
                if len(line) < MOST_LINE:
                    break  # still being written
                self.left_out += 1
                while line and not line.endswith(b"\n"):
                    self.indexed += len(line)
                    line = file.readline(MOST_LINE)
                self.indexed += len(line)
                continue
            self._line(line)
            self.indexed += len(line)
        return self.indexed > before

    def _line(self, line: bytes) -> None:
        found = _EVENT.match(line)
        if found is None:
            if line.strip() and not line.startswith(b"#"):
                self.left_out += 1
            return
        try:
            told = _moment(float(found[1]))
        except ValueError:
            self.left_out += 1
            return
        self._clock = self._clock + told if self.version == 3 else max(self._clock, told)
        kind = found[2][0]
        if kind in _KEPT:
            if len(self._times) >= MOST_EVENTS:
                self.left_out += 1
                return
            self._offsets.append(self.indexed)
            self._times.append(self._clock)
        elif kind == ord("m") and len(self.markers) < MOST_MARKERS:
            self.markers.append((self._clock, _label(line)))


def is_cast(path: Path) -> bool:
    """By its beginning. Raises nothing."""
    try:
        with regular_file(path) as file:
            head = file.read(4_096)
    except OSError:
        return False
    return bool(re.match(rb'\s*\{.*?"version"\s*:\s*[123]\b', head, re.DOTALL))


def _moment(value: object) -> float:
    found = finite(value)
    return found if found is not None and 0 < found < 1e9 else 0.0


def _label(line: bytes) -> str:
    try:
        found = json.loads(line.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return ""
    return clean_line(text(found[2]), 60) if isinstance(found, list) and len(found) > 2 else ""
