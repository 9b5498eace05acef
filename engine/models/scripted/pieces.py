"""Server-sent events, and text in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator


def data(body: object) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def named(name: str, body: object) -> bytes:
    return b"event: " + name.encode() + b"\n" + data(body)


def pieces(text: str, size: int) -> Iterator[str]:
    step = max(size, 1)
    for start in range(0, len(text), step):
        yield text[start : start + step]
