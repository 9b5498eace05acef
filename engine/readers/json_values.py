"""Values out of JSON that may hold anything: each is what its name says, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.json_numbers import LARGEST, finite


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def rows(value: object) -> list[dict[str, Any]]:
    """The objects of a list, whatever else is in it."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def within(value: object, *keys: str) -> object:
    """What lies at the end of these keys; None where one is missing."""
    for key in keys:
        value = mapping(value).get(key)
    return value


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def number(value: object) -> float | None:
    """A finite number; a boolean is none."""
    return finite(value)


def count(value: object) -> int | None:
    """A whole number from 0 on that can be true."""
    found = finite(value)
    return int(found) if found is not None and 0 <= found <= LARGEST and found.is_integer() else None


def plain(value: object) -> str:
    """A parameter's value as text; "" for what says nothing (null, an empty list or object)."""
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list):
        return ", ".join(plain(item) for item in value)
    return ", ".join(f"{key}={plain(item)}" for key, item in mapping(value).items())


def flat(value: object, prefix: str = "", depth: int = 4) -> Iterator[tuple[str, str]]:
    """Every leaf that says something, named by its path: `kwargs.effort`."""
    for key, item in mapping(value).items():
        name = f"{prefix}{key}"
        if isinstance(item, dict) and depth > 1:
            yield from flat(item, f"{name}.", depth - 1)
        elif said := plain(item):
            yield name, said
