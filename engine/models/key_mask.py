"""Keys masked in bytes that pass by, wherever the pieces are cut."""

from __future__ import annotations

import re

from engine.models.resolve import NO_KEY
from engine.models.settings import ModelSettings

_SHORTEST = 6
_OF_A_SECRET = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)


class KeyMask:
    """The mask is as long as the key, so that lengths told before stay right. No more is held back than what could be
    the beginning of a key."""

    def __init__(self, settings: ModelSettings) -> None:
        """Of the extra headers only those count that are named like a secret: others may hold words of any answer."""
        texts = {value.reveal() for name, value in settings.headers.items() if _OF_A_SECRET.search(name)}
        texts = {text.strip().split(" ")[-1] for text in texts | {settings.key.reveal()}} - {NO_KEY}
        values = {text.encode() for text in texts}
        self._keys = sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        data = self._held + piece
        for key in self._keys:
            data = data.replace(key, b"*" * len(key))
        held = max((_beginning_at_end(data, key) for key in self._keys), default=0)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def rest(self) -> bytes:
        rest, self._held = self._held, b""
        return rest


def _beginning_at_end(data: bytes, key: bytes) -> int:
    """How many bytes at the end of the data could begin the key."""
    for size in range(min(len(key) - 1, len(data)), 0, -1):
        if data.endswith(key[:size]):
            return size
    return 0
