"""The settings file as text: a commented one to begin with, and single values changed without touching the rest."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import tomli_w
import tomlkit
from tomlkit.exceptions import TOMLKitError

from console.settings import MOST_BYTES, Settings, SettingsInvalid
from engine.runs.atomic_file import write_atomically
from engine.user_places import settings_file

_WIDTH = 100


def commented() -> str:
    """Every setting with what it means, as a comment at its default."""
    lines = ["# Settings of trialdeck. What stands behind a `#` is the default: take the `#` away to change it."]
    tables = []
    for field, description in _fields(Settings):
        if isinstance(field.default, msgspec.Struct) or field.name == "keys":
            tables.append((field, description))
            continue
        lines += ["", *_comment(description), f"# {_value(field.name, field.default)}"]
    for field, description in tables:
        lines += ["", "", *_comment(description), f"[{field.name}]"]
        if isinstance(field.default, msgspec.Struct):
            for inner, words in _fields(type(field.default)):
                lines += ["", *_comment(words), f"# {_value(inner.name, inner.default)}"]
    return "\n".join(lines) + "\n"


def remember(name: str, value: Any, path: Path | None = None) -> None:
    """Set one value (`theme`, `run.hidden_columns`) in the file, which is made if need be; comments and all else stay
    as they are. Raises SettingsInvalid where the file can't be read as TOML, OSError where it can't be written."""
    path = path or settings_file()
    try:
        text = path.read_bytes()[:MOST_BYTES].decode("utf-8") if path.is_file() else ""
        document = tomlkit.parse(text)
    except (ValueError, TOMLKitError) as error:
        raise SettingsInvalid(f"{path}: no TOML: {error}") from None
    table, _, key = name.rpartition(".")
    place: Any = document
    if table:
        if table not in document:
            document[table] = tomlkit.table()
        place = document[table]
    place[key] = list(value) if isinstance(value, tuple) else value
    write_settings(tomlkit.dumps(document), path)


def write_settings(text: str, path: Path) -> None:
    """Whole or not at all; a link to the file elsewhere (dotfiles) stays a link."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, text.encode("utf-8"))


def _fields(kind: type[msgspec.Struct]) -> Iterator[tuple[msgspec.structs.FieldInfo, str]]:
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    descriptions = {field.name: _description(field.type) for field in info.fields}
    for field in msgspec.structs.fields(kind):
        yield field, descriptions[field.name]


def _description(kind: msgspec.inspect.Type) -> str:
    found = getattr(kind, "extra_json_schema", None) or {}
    return str(found.get("description", ""))


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def _value(name: str, value: Any) -> str:
    return tomli_w.dumps({name: list(value) if isinstance(value, tuple) else value}).strip()
