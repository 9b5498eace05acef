"""Raw bytes of one line of a log as safe text of known width, the way a terminal would have left it.

Carriage returns, backspaces, tabs, cursor moves within the line, erasures and colours are carried out; all the rest
is dropped. What remains passes through `engine.text`, the one sanitiser.
"""

from __future__ import annotations

import codecs
import re
from enum import StrEnum
from typing import NamedTuple

from rich.cells import cell_len

from engine.text import clean_line
from screens.log_ink import PLAIN, Ink, after

TAB = 8
_FARTHEST = 4_096
"""No cursor move goes beyond this column."""


class Look(StrEnum):
    COLOURS = "colours"
    PLAIN = "plain"  # the same text without its colours
    RAW = "raw"  # what the file says: control characters spelt out


class Inked(NamedTuple):
    """A line's safe text; `spans` are the parts (from, to) that are not in plain ink."""

    text: str
    spans: tuple[tuple[int, int, Ink], ...] = ()


_TOKEN = re.compile(
    r"\x1b\[(?P<arguments>[0-?]*)[ -/]*(?P<final>[@-~]?)"
    r"|(?:\x1b[PX\]^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x9b[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<control>[\r\b\t])"
    r"|(?P<text>[^\x1b\r\b\t\x90\x98\x9b\x9d-\x9f]+)"
)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NEEDS_TERMINAL = re.compile(r"[\x1b\r\b\x90\x98\x9b\x9d-\x9f]")
# Their width depends on the terminal's font; without them every cell is where we think it is.
_JOINERS = {0xFE0E: None, 0xFE0F: None, 0x200D: None}


def shown(data: bytes, *, ended: bool = True) -> str:
    """`ended` is false for bytes that may stop inside a character: a cut line, or one still being written."""
    return inked(data, ended=ended).text


def inked(data: bytes, *, ended: bool = True, look: Look = Look.COLOURS, ink: Ink = PLAIN) -> Inked:
    """`ink` is what the lines before have left switched on."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        text = decoder.decode(data, final=ended)
    if look is Look.RAW:
        return Inked(_safe(_CONTROLS.sub(_spelt, text)))
    if look is Look.PLAIN:
        ink = PLAIN
    if not _NEEDS_TERMINAL.search(text):
        text = _safe(text.expandtabs(TAB) if "\t" in text else text)
        return Inked(text, ((0, len(text), ink),) if text and ink != PLAIN else ())
    cells, inks = _as_terminal(text, ink)
    if look is Look.PLAIN or all(ink == PLAIN for ink in inks):
        return Inked(_safe("".join(cells).rstrip(" ")))
    return _joined(cells, inks)


def _safe(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return clean_line(text.translate(_JOINERS), len(text) + 1)


def _spelt(control: re.Match[str]) -> str:
    code = ord(control[0])
    return f"^{chr(code ^ 64)}" if code < 128 else f"\\x{code:02x}"


def _joined(cells: list[str], inks: list[Ink]) -> Inked:
    """Cleaned piece by piece, so that the spans fit whatever cleaning makes of the text."""
    while cells and cells[-1] == " " and inks[-1].back is None and not inks[-1].reverse:
        cells.pop()
        inks.pop()
    pieces, spans = [], []
    start = length = 0
    while start < len(cells):
        ink, end = inks[start], start + 1
        while end < len(cells) and (inks[end] is ink or inks[end] == ink):
            end += 1
        piece = _safe("".join(cells[start:end]))
        if ink != PLAIN and piece:
            spans.append((length, length + len(piece), ink))
        pieces.append(piece)
        length += len(piece)
        start = end
    return Inked("".join(pieces), tuple(spans))


def _as_terminal(text: str, ink: Ink) -> tuple[list[str], list[Ink]]:
    cells: list[str] = []
    inks: list[Ink] = []
    column = 0
    for token in _TOKEN.finditer(text):
        if (plain := token["text"]) is not None:
            before = len(cells)
            start, column = column, _write(cells, column, plain)
            inks += [PLAIN] * (min(start, len(cells)) - before)
            inks[start:column] = [ink] * (min(column, len(cells)) - start)
        elif (control := token["control"]) is not None:
            if control == "\r":
                column = 0
            elif control == "\b":
                column = max(0, column - 1)
            else:
                column = min(_FARTHEST, (column // TAB + 1) * TAB)
        elif token["final"] == "m":
            if not token["arguments"].strip("0123456789;:"):
                ink = after(ink, token["arguments"])
        elif token["final"]:
            column = _move(cells, inks, column, token["final"], token["arguments"])
    return cells, inks


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


def _move(cells: list[str], inks: list[Ink], column: int, final: str, arguments: str) -> int:
    first = arguments.split(";")[0]
    number = min(int(first), _FARTHEST) if first.isascii() and first.isdigit() else 0
    if final == "K" or (final == "J" and number == 0):
        if number == 0:
            del cells[column:], inks[column:]
        elif number == 1:
            erased = min(column, len(cells))
            cells[:erased], inks[:erased] = " " * erased, [PLAIN] * erased
        else:
            cells.clear()
            inks.clear()
        return column
    if final == "P":  # delete characters
        del cells[column : column + max(1, number)], inks[column : column + max(1, number)]
        return column
    if final == "X":  # erase characters
        end = min(len(cells), column + max(1, number))
        if end > column:
            cells[column:end], inks[column:end] = " " * (end - column), [PLAIN] * (end - column)
        return column
    if final == "@" and column < len(cells):  # insert blanks
        cells[column:column], inks[column:column] = " " * max(1, number), [PLAIN] * max(1, number)
        return column
    if final == "C":
        return min(_FARTHEST, column + max(1, number))
    if final == "D":
        return max(0, column - max(1, number))
    if final in "G`":
        return max(0, min(_FARTHEST, number - 1))
    return column
