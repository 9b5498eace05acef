"""Server-sent events out of bytes that come in pieces of any size. Memory is bounded: an event that is too large is
left out and counted."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

MOST_EVENT = 8 << 20
_MOST_NAME = 100


class Event(msgspec.Struct, frozen=True):
    """`name` is "" where the event has none; `data` has its lines joined by a newline."""

    name: str
    data: bytes


class EventSplitter:
    def __init__(self, most: int = MOST_EVENT) -> None:
        self._most = most
        self._line = bytearray()
        self._data: list[bytes] = []
        self._name = ""
        self._size = 0
        self._line_size = 0
        self._after_return = False
        self.left_out = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that end in this piece. Lines may end in a newline, a return, or both."""
        if not piece:
            return
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
        self._after_return = piece.endswith(b"\r")
        first, *others = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._more(first)
        for rest in others:
            if (event := self._line_ended()) is not None:
                yield event
            self._more(rest)

    def rest(self) -> Iterator[Event]:
        """The last event, where the stream ended without a blank line after it."""
        for _ in range(2):
            if (event := self._line_ended()) is not None:
                yield event

    def _more(self, piece: bytes) -> None:
        self._line_size += len(piece)
        self._size += len(piece)
        if self._size <= self._most:
            self._line += piece

    def _line_ended(self) -> Event | None:
        """The line is taken in; a blank one ends the event."""
        line, blank = bytes(self._line), self._line_size == 0
        self._line.clear()
        self._line_size = 0
        if blank:
            return self._event_ended()
        if self._size > self._most:
            self._data.clear()
            return None
        field, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value[:_MOST_NAME].decode("utf-8", "replace")
        return None

    def _event_ended(self) -> Event | None:
        self.left_out += self._size > self._most
        event = Event(self._name, b"\n".join(self._data)) if self._data else None
        self._data.clear()
        self._name = ""
        self._size = 0
        return event
