"""Raw bytes of one line of a log as safe text of known width, the way a terminal would have left it.

Carriage returns, backspaces, tabs, cursor moves within the line and erasures are carried out; colours and all
the rest are dropped. What remains passes through `engine.text`, the one sanitiser.
"""

from __future__ import annotations

import codecs
import re

from rich.cells import cell_len

from engine.text import clean_line

TAB = 8
_FARTHEST = 4_096
"""No cursor move goes beyond this column."""

_TOKEN = re.compile(
    r"\x1b\[(?P<arguments>[0-?]*)[ -/]*(?P<final>[@-~]?)"
    r"|(?:\x1b[PX\]^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x9b[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<control>[\r\b\t])"
    r"|(?P<text>[^\x1b\r\b\t\x90\x98\x9b\x9d-\x9f]+)"
)
_NEEDS_TERMINAL = re.compile(r"[\x1b\r\b\x90\x98\x9b\x9d-\x9f]")
# Their width depends on the terminal's font; without them every cell is where we think it is.
_JOINERS = {0xFE0E: None, 0xFE0F: None, 0x200D: None}


def shown(data: bytes, *, ended: bool = True) -> str:
    """`ended` is false for bytes that may stop inside a character: a cut line, or one still being written."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        text = decoder.decode(data, final=ended)
    if text.isascii() and text.isprintable():
        return text
    if _NEEDS_TERMINAL.search(text):
        text = _as_terminal(text)
    elif "\t" in text:
        text = text.expandtabs(TAB)
    return clean_line(text.translate(_JOINERS), len(text) + 1)


def _as_terminal(text: str) -> str:
    cells: list[str] = []
    column = 0
    for token in _TOKEN.finditer(text):
        if (plain := token["text"]) is not None:
            column = _write(cells, column, plain)
        elif (control := token["control"]) is not None:
            if control == "\r":
                column = 0
            elif control == "\b":
                column = max(0, column - 1)
            else:
                column = min(_FARTHEST, (column // TAB + 1) * TAB)
        elif token["final"]:
            column = _move(cells, column, token["final"], token["arguments"])
    return "".join(cells).rstrip(" ")


def _write(cells: list[str], column: int, text: str) -> int:
    if len(cells) < column:
        cells.extend(" " * (column - len(cells)))
    if text.isascii():
        cells[column : column + len(text)] = text
        return column + len(text)
    for character in text:
        width = cell_len(character)
        if width == 0:
            if column:
                owner = column - 1 if cells[column - 1] else max(0, column - 2)
                cells[owner] += character
            continue
        cells[column : column + width] = [character, *[""] * (width - 1)]
        column += width
    return column


def _move(cells: list[str], column: int, final: str, arguments: str) -> int:
    first = arguments.split(";")[0]
    number = min(int(first), _FARTHEST) if first.isdigit() else 0
    if final == "K":
        if number == 0:
            del cells[column:]
        elif number == 1:
            cells[:column] = " " * min(column, len(cells))
        else:
            cells.clear()
        return column
    if final == "C":
        return min(_FARTHEST, column + max(1, number))
    if final == "D":
        return max(0, column - max(1, number))
    if final == "G":
        return max(0, number - 1)
    return column
