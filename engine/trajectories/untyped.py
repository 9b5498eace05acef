"""Values of JSON that agents wrote: anything may be missing or of another type, and nothing here raises."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from engine.json_numbers import MOST, finite

Record = dict[str, Any]

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def record(value: object) -> Record:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """A string as it is, without halves of surrogate pairs, which no file and no terminal takes; else ""."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else _SURROGATE.sub("\ufffd", value)


def whole(value: object) -> int | None:
    """A count that can be true: an integer from 0."""
    found = number(value)
    return int(value) if isinstance(value, int | float) and found is not None and found <= MOST else None


def number(value: object) -> float | None:
    """An amount that can be true: finite, not below 0."""
    found = finite(value)
    return found if found is not None and found >= 0 else None


def code(value: object) -> int | None:
    """An exit code."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31 else None


def moment(value: object) -> datetime | None:
    """ISO 8601 (UTC where it names no zone), or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        seconds = number(value)
        if not seconds:
            return None
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def decoded(line: bytes) -> Record | None:
    """One JSON object; None where the line is none."""
    if line[:1] != b"{":
        line = line.lstrip()
        if not line.startswith(b"{"):
            return None
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        try:  # NaN, bytes that are not UTF-8, halves of surrogate pairs
            found = json.loads(line.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            return None
    return found if isinstance(found, dict) else None


def parsed(value: object) -> object:
    """What a string holds as JSON; the value itself where it holds none."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value


def block_text(value: object) -> str:
    """The text of a message's content: a string, or blocks of which those that are no text are named."""
    if isinstance(value, str):
        return text(value)
    parts = []
    for block in items(value):
        if isinstance(block, str):
            parts.append(text(block))
            continue
        found = record(block)
        said = text(found.get("text"))
        if said:
            parts.append(said)
        elif (kind := text(found.get("type"))) and kind not in ("text", "input_text", "output_text"):
            parts.append(f"[{kind}]")
    return "\n".join(parts)
