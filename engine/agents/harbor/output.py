"""What a command said, for an agent's code that wants it in one piece: bounded, each stream for itself."""

from __future__ import annotations

MOST_BYTES = 8 << 20
"""Of one stream of one command; an agent's own program may talk for hours."""


class Output:
    """Keeps the first and the last half of what came."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._half = most // 2
        self._streams: dict[str, tuple[bytearray, bytearray, list[int]]] = {}

    def take(self, stream: str, data: bytes) -> None:
        head, tail, left_out = self._streams.setdefault(stream, (bytearray(), bytearray(), [0]))
        room = self._half - len(head)
        head += data[:room]
        tail += data[room:] if room > 0 else data
        if len(tail) > 2 * self._half:  # not for every piece: moving the rest down costs as much as it is long
            left_out[0] += len(tail) - self._half
            del tail[: len(tail) - self._half]

    def text(self, stream: str) -> str:
        if stream not in self._streams:
            return ""
        head, tail, left_out = self._streams[stream]
        cut = left_out[0] + max(0, len(tail) - self._half)
        end = bytes(tail[-self._half :])
        note = f"\n[{cut} bytes left out]\n".encode() if cut else b""
        return (bytes(head) + note + end).decode("utf-8", "replace")
