"""Secrets in a stream of output: each is replaced before anything of it reaches a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Self

SHOWN_AS = b"***"
SHORTEST = 6
"""Shorter ones are left: a key has more characters, and a flag such as `1` stands everywhere."""


_NAMES_A_SECRET = re.compile(r"key|secret|token|passw|credential|auth(?!ors?(_|$))", re.IGNORECASE)


class HiddenValues:
    """The secrets that what runs in containers got to know. More may come at any time."""

    def __init__(self) -> None:
        self._values: list[bytes] = []

    def __bool__(self) -> bool:
        return bool(self._values)

    def add(self, value: str) -> None:
        found = value.encode("utf-8", "surrogateescape")
        if len(found) >= SHORTEST and found not in self._values:
            self._values.append(found)

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> HiddenValues:
        """Of the host's variables that tasks were given: those that are called like a secret."""
        found = cls()
        for name, value in variables.items():
            if _NAMES_A_SECRET.search(name) and not _counts_tokens(name, value):
                found.add(value)
        return found

    def replaced(self, data: bytes, *, whole: bool) -> tuple[bytes, bytes]:
        """`data` with every secret replaced, and the end of it that may be the beginning of one (`whole`: nothing
        follows, so there is none)."""
        shown, at = b"", 0
        while True:
            waits = len(data) if whole else len(data) - self._begun(data[at:])
            place, size = self._next(data, at)
            if waits <= place:
                return shown + data[at:waits], data[waits:]
            shown += data[at:place] + SHOWN_AS
            at = place + size

    def _next(self, data: bytes, at: int) -> tuple[int, int]:
        """Where the next secret stands and how long it is; the end where there is none."""
        places = [(place, -len(value)) for value in self._values if (place := data.find(value, at)) >= 0]
        place, size = min(places, default=(len(data), 0))
        return place, -size

    def _begun(self, data: bytes) -> int:
        """How many bytes at the end of `data` may be the beginning of a secret."""
        longest = 0
        for value in self._values:
            for size in range(min(len(value) - 1, len(data)), longest, -1):
                if data.endswith(value[:size]):
                    longest = size
                    break
        return longest


def _counts_tokens(name: str, value: str) -> bool:
    """`MAX_TOKENS=128000` keeps nothing secret, and its number may stand anywhere in a log."""
    return "TOKENS" in name.upper() and value.strip().isdecimal()


class HidingStream:
    """Passes one stream of one command on. What may be the beginning of a secret waits until more is known."""

    def __init__(self, hidden: HiddenValues) -> None:
        self._hidden = hidden
        self._waiting = b""

    def pass_on(self, data: bytes) -> bytes:
        if not self._hidden:
            return data
        shown, self._waiting = self._hidden.replaced(self._waiting + data, whole=False)
        return shown

    def end(self) -> bytes:
        """What still waited, when the command has ended."""
        rest, self._waiting = self._waiting, b""
        return self._hidden.replaced(rest, whole=True)[0]


class HidingSink:
    """The output of one command on its way to a file: each stream by itself. At the end of the block, however it ends,
    what still waited is written."""

    def __init__(self, write: Callable[[str, bytes], None], hidden: HiddenValues) -> None:
        self._write = write
        self._hidden = hidden
        self._streams: dict[str, HidingStream] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.end()

    def __call__(self, stream: str, data: bytes) -> None:
        if shown := self._streams.setdefault(stream, HidingStream(self._hidden)).pass_on(data):
            self._write(stream, shown)

    def end(self) -> None:
        """What still waited, when the command has ended."""
        for name, stream in self._streams.items():
            if rest := stream.end():
                self._write(name, rest)
