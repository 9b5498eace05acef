"""JSON texts of things whose names may come from a file system, where not every name is text."""

from __future__ import annotations

import os
from typing import Literal

import msgspec


def json_document(value: object, *, indent: int | None = None, order: Literal["deterministic"] | None = None) -> bytes:
    """`value` as JSON: on one line, or with `indent` spaces a level. Lone surrogates (names that are not UTF-8), for
    which JSON has no room, are written as `\\udcff`, so that they can be told from each other."""
    try:
        data = msgspec.json.encode(value, enc_hook=os.fspath, order=order)
    except UnicodeEncodeError:
        data = msgspec.json.encode(valid_text(msgspec.to_builtins(value, enc_hook=os.fspath)), order=order)
    return data if indent is None else msgspec.json.format(data, indent=indent)


def valid_text(value: object) -> object:
    """Plain lists, dicts and strings, with every lone surrogate spelled out. Raises RecursionError."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {valid_text(key): valid_text(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [valid_text(item) for item in value]
    return value
