"""One JSON file that somebody else writes: followed while it changes, read again while it is half-written."""

from __future__ import annotations

import codecs
import json
import re
import time
from pathlib import Path

import msgspec

from engine.json_document import valid_text
from engine.readers.inside import MOST_BYTES, read_inside

_SETTLED_NS = 2_000_000_000
"""A file younger than this may still change without its stamp telling: it is read again."""
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class NotJson(ValueError):
    """Half-written, cut, too deep, or no JSON at all."""


def parse_json(data: bytes) -> object:
    """A byte-order mark, numbers that JSON doesn't know (NaN), bytes that are not UTF-8 and halves of surrogate pairs
    pass, the latter spelled out: nothing that is read here fails where it is written again. Raises NotJson for all that
    is left."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        found: object = json.loads(data.decode("utf-8", "replace"))
        return valid_text(found) if _ESCAPED_SURROGATE.search(data) else found
    except (ValueError, RecursionError) as error:
        raise NotJson("not whole JSON") from error


def read_json(root: Path, path: Path, most: int = MOST_BYTES) -> object | None:
    """The value of a whole file inside `root`; None where it is missing, unreadable, too large or not whole JSON."""
    data = read_inside(root, path, most + 1)
    if data is None or len(data) > most:
        return None
    try:
        return parse_json(data)
    except NotJson:
        return None


class JsonFile:
    """The last whole value of one file.

    `value` is None until the file was whole once; a file that is cut or being rewritten keeps the value it had, and is
    looked at again. `problem` says what is wrong with the file as it is now, "" where nothing is.
    """

    def __init__(self, root: Path, path: Path, most: int = MOST_BYTES) -> None:
        self.root = root
        self.path = path
        self.most = most
        self.value: object | None = None
        self.problem = ""
        self.missing = True
        self._content: int | None = None
        self._stamp: tuple[int, int, int] | None = None
        self._settled = False

    def look(self) -> bool:
        """Read the file again if it may have changed; whether `value` did."""
        try:
            found = self.path.stat()
        except (OSError, ValueError):
            self.missing, self.problem, self._stamp = True, "", None
            return False
        self.missing = False
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp == self._stamp and self._settled:
            return False
        settled = abs(time.time_ns() - found.st_mtime_ns) > _SETTLED_NS
        self._stamp, self._settled = stamp, settled
        return self._read()

    def _read(self) -> bool:
        data = read_inside(self.root, self.path, self.most + 1)
        if data is None:
            self.problem = "can't be read, or leads out of the folder"
            return False
        if len(data) > self.most:
            self.problem = f"is larger than {self.most >> 20} MiB"
            return False
        if hash(data) == self._content:
            self.problem = ""
            return False
        if not data.strip():
            self.problem = "is empty"
            return False
        try:
            self.value = parse_json(data)
        except NotJson:
            self.problem = "is not whole JSON"
            return False
        self._content = hash(data)
        self.problem = ""
        return True
