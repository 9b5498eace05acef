"""A TOML table -> a typed struct, with every complaint naming the dotted key that it is about.

msgspec's own `convert` does the leaves. Tables and lists are walked here, for two reasons: msgspec's paths
leave out the names of keys in free tables, and an unknown key has to be a warning, neither an error nor
silence.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import types
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import msgspec

from engine.tasks.invalid import TaskInvalid, shown_value, task_invalid
from engine.tasks.task import TaskWarning

T = TypeVar("T", bound=msgspec.Struct)


class TableReader:
    """Reads the tables of one file and gathers the warnings on the way."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.warnings: list[TaskWarning] = []

    def read(self, table: Mapping[str, Any], kind: type[T], key: str = "") -> T:
        """`key` is the dotted key of `table` in the file, empty for the root. Raises TaskInvalid."""
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        for name in table:
            if name not in fields:
                self._warn_unknown(joined(key, name), name, fields)
        values: dict[str, Any] = {}
        for name, field in fields.items():
            if name in table:
                values[field.name] = self._value(table[name], field.type, joined(key, name))
            elif field.required:
                raise self.invalid(joined(key, name), f"is missing, expected {expected(field.type)}")
        return kind(**values)

    def invalid(self, key: str, problem: str, way_out: str = "") -> TaskInvalid:
        return task_invalid(self.file, problem, key=key, way_out=way_out)

    def warn(self, key: str, message: str) -> None:
        self.warnings.append(TaskWarning(file=self.file.name, key=key, message=message))

    def _warn_unknown(self, key: str, name: str, known: Mapping[str, object]) -> None:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f'; did you mean "{near[0]}"?' if near else ""
        self.warn(key, f"unknown key, ignored{hint}")

    def _value(self, value: Any, kind: Any, key: str) -> Any:
        bare = _without_annotation(kind)
        members = [_without_annotation(member) for member in _members(bare)]
        for member in members:
            if isinstance(value, dict) and _is_struct(member):
                return self.read(value, member, key)
            if isinstance(value, dict) and get_origin(member) is dict:
                item = get_args(member)[1]
                return {name: self._value(part, item, joined(key, name)) for name, part in value.items()}
            if isinstance(value, list) and get_origin(member) is list:
                item = get_args(member)[0]
                return [self._value(part, item, f"{key}[{index}]") for index, part in enumerate(value)]
        if any(member is object for member in members):
            return value
        return self._leaf(value, kind, members, key)

    def _leaf(self, value: Any, kind: Any, members: list[Any], key: str) -> Any:
        if isinstance(value, float):
            if not math.isfinite(value):
                raise self.invalid(key, f"expected {expected(kind)}, found {shown_value(value)}")
            if int in members and float not in members and value.is_integer():
                value = int(value)
        try:
            return msgspec.convert(value, kind, strict=True)
        except msgspec.ValidationError:
            raise self.invalid(key, f"expected {expected(kind)}, found {shown_value(value)}") from None


def joined(key: str, name: str) -> str:
    """`name` inside the table with the dotted key `key`; a name that TOML would quote is quoted."""
    shown = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
    return f"{key}.{shown}" if key else shown


def expected(kind: Any) -> str:
    """What a field wants, in words: its `Meta(description=…)`, else its type."""
    if get_origin(kind) is Annotated:
        for note in get_args(kind)[1:]:
            if isinstance(note, msgspec.Meta) and note.description:
                return note.description
        return expected(get_args(kind)[0])
    return " or ".join(dict.fromkeys(_named(member) for member in _members(kind)))


def _named(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        return expected(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "one of " + ", ".join(f'"{member.value}"' for member in kind)
    if _is_struct(kind) or get_origin(kind) is dict:
        return "a table"
    if get_origin(kind) is list:
        return "a list"
    names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    return names.get(kind, "another type")


def _without_annotation(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _members(kind: Any) -> list[Any]:
    """The types a field may have; None stands for "not given" and no TOML value is None."""
    if get_origin(kind) in (Union, types.UnionType):
        return [member for member in get_args(kind) if member is not type(None)]
    return [kind]


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
