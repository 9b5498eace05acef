"""A struct as plain values, in which a field that was written down with its default and one that was left out are the
same. `msgspec` leaves a field out only where it holds the very object that is the default."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import FieldInfo


def plain(value: Any, *, defaults: bool) -> Any:
    """For JSON. `defaults`: whether fields that have their default are in it."""
    if isinstance(value, msgspec.Struct):
        found = ((field, getattr(value, field.name)) for field in _fields(type(value)))
        return {
            field.encode_name: plain(item, defaults=defaults)
            for field, item in found
            if defaults or item != _default(field)
        }
    if isinstance(value, dict):
        return {str(key): plain(item, defaults=defaults) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, defaults=defaults) for item in value]
    return msgspec.to_builtins(value)


@lru_cache
def _fields(kind: type[msgspec.Struct]) -> tuple[FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _default(field: FieldInfo) -> Any:
    """`NODEFAULT`, which equals nothing, where there is none."""
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default
