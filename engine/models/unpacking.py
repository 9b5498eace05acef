"""Bodies that a server packed, unpacked as they come, a bounded piece at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

PIECE = 1 << 16
_WINDOW = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class UnpackingFailed(Exception):
    """What came is not packed as its header says, or in a way that nobody here asked for."""


class Unpacking:
    """`encoding` is the content-encoding that the server tells, "" for none. Raises UnpackingFailed for one that isn't
    known."""

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity") and name not in _WINDOW:
            raise UnpackingFailed(f"the server packed its answer ({name[:40]}), though it was asked not to")
        self._name = name
        self._unpack = zlib.decompressobj(_WINDOW[name]) if name in _WINDOW else None
        self._begun = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Raises UnpackingFailed."""
        if self._unpack is None:
            if piece:
                yield piece
            return
        if not self._begun and piece:
            self._begun = True
            if self._name == "deflate" and piece[0] & 0x0F != 8:
                self._unpack = zlib.decompressobj(-15)  # without the header that it should have
        while piece and not self._unpack.eof:
            try:
                found = self._unpack.decompress(piece, PIECE)
            except zlib.error as error:
                raise UnpackingFailed(f"the server's answer can't be unpacked: {error}") from None
            piece = self._unpack.unconsumed_tail
            if found:
                yield found

    def close(self) -> None:
        """Nothing more comes. Raises UnpackingFailed where it ended too early."""
        if self._unpack is not None and self._begun and not self._unpack.eof:
            raise UnpackingFailed("the server's packed answer ended too early")
