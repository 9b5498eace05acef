"""A line that comes in pieces, held as long as it isn't too long."""

from __future__ import annotations

MOST_LINE = 32 << 20
"""Bytes of a line; longer ones are passed over."""


class HeldLine:
    def __init__(self) -> None:
        self.too_long = False
        self._parts: list[bytes] = []
        self._held = 0

    def add(self, part: bytes) -> None:
        if self.too_long or not part:
            return
        self._parts.append(part)
        self._held += len(part)
        if self._held > MOST_LINE:
            self._parts.clear()
            self.too_long = True

    @property
    def so_far(self) -> bytes:
        """Nothing of one that is too long."""
        return b"".join(self._parts)

    def begin_anew(self) -> None:
        self._parts.clear()
        self._held = 0
        self.too_long = False
