"""Lines for a log or a pipe: whole, flushed, and without a single control code."""

from __future__ import annotations

import io
import re
import shutil
import sys
from typing import TextIO

from engine.text import clean_line

WIDTH = 100
"""Columns where there is no terminal."""

_NOT_FOR_TERMINALS = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


class Out:
    """Writes to `stream` (stdout); what its encoding lacks becomes a question mark. BrokenPipeError: nobody reads."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="replace")

    def line(self, text: str = "") -> None:
        self._stream.write(clean_line(text).rstrip() + "\n")
        self._stream.flush()

    def lines(self, texts: list[str]) -> None:
        self._stream.write("".join(clean_line(text).rstrip() + "\n" for text in texts))
        self._stream.flush()

    def json(self, document: bytes) -> None:
        """A JSON text; characters that a terminal would obey are escaped, which is the same to a reader of JSON."""
        text = _NOT_FOR_TERMINALS.sub(_escaped, document.decode("utf-8"))
        if (encoding := getattr(self._stream, "encoding", None)) and encoding.lower().replace("-", "") != "utf8":
            text = "".join(char if char.isascii() else _escape(char) for char in text)
        self._stream.write(text.rstrip("\n") + "\n")
        self._stream.flush()

    @property
    def is_terminal(self) -> bool:
        return self._stream.isatty()

    @property
    def width(self) -> int:
        """Columns to fit text into."""
        return shutil.get_terminal_size((WIDTH, 24)).columns if self._stream.isatty() else WIDTH


def _escaped(found: re.Match[str]) -> str:
    return _escape(found[0])


def _escape(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[index : index + 2].hex()}" for index in range(0, len(units), 2))
