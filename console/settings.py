"""What a person sets once: one TOML file, typed. A description a field; they are the schema and the file's comments."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from engine.text import clean_line
from engine.user_places import settings_file

MOST_BYTES = 1 << 20

ThemeName = Literal["dark", "light", "high-contrast", "colour-blind", "terminal"]


class SettingsInvalid(Exception):
    """Something in the settings file is not as it must be; the message names file, key and what is expected."""


class Notifications(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When the console speaks up by itself, and how."""

    run_ends: Annotated[bool, Meta(description="Say so when a run that is open has ended.")] = True
    goes_bad: Annotated[
        bool, Meta(description="Say so when all of an arm fails the same way, or the engine of a run is gone.")
    ] = True
    bell: Annotated[bool, Meta(description="Ring the terminal's bell as well.")] = True
    desktop: Annotated[
        Literal["off", "osc9", "osc777"],
        Meta(
            description="Ask the terminal for a notification of the desktop: osc9 (iTerm2, WezTerm, Windows Terminal, "
            "kitty, ghostty) or osc777 (foot, urxvt, WezTerm). Goes through tmux where `allow-passthrough` is on."
        ),
    ] = "off"


class RunView(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The list of trials."""

    hidden_columns: Annotated[
        tuple[str, ...], Meta(description='Columns that are not shown, such as ["used", "memory"].')
    ] = ()


class LogView(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Logs."""

    wrap: Annotated[bool, Meta(description="Whether long lines are wrapped when a log is opened.")] = False


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    theme: Annotated[ThemeName, Meta(description="Colours. `terminal`: the terminal's own sixteen.")] = "dark"
    user: Annotated[
        str, Meta(description="Your name in labels; empty: the login name. $TRIALDECK_USER goes before it.")
    ] = ""
    runs_dir: Annotated[
        str, Meta(description="Where runs are looked for; relative to where the command is given.", min_length=1)
    ] = "runs"
    read_only: Annotated[
        bool, Meta(description="Never label, never command an engine, never write a file from the console.")
    ] = False
    times: Annotated[Literal["local", "utc"], Meta(description="Times of day: this machine's, or UTC.")] = "local"
    pager: Annotated[str, Meta(description="Opens a log; empty: $PAGER.")] = ""
    editor: Annotated[str, Meta(description="Opens a log; empty: $VISUAL, then $EDITOR.")] = ""
    notifications: Annotated[Notifications, Meta(description=Notifications.__doc__ or "")] = Notifications()
    run: Annotated[RunView, Meta(description=RunView.__doc__ or "")] = RunView()
    logs: Annotated[LogView, Meta(description=LogView.__doc__ or "")] = LogView()
    keys: Annotated[
        dict[str, Any],
        Meta(
            description='Keys of your own: the id of an action and a key, or several: "run.filter" = ["f", "/"]. '
            "`trialdeck settings --keys` lists all ids."
        ),
    ] = {}


def read_settings(path: Path | None = None) -> Settings:
    """The settings in force; all as they are by default where there is no file. Raises SettingsInvalid."""
    path = path or settings_file()
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as error:
        raise SettingsInvalid(f"{path}: can't be read: {error.strerror or error}") from None
    if len(data) > MOST_BYTES:
        raise SettingsInvalid(f"{path}: more than {MOST_BYTES >> 20} MB; is this the right file?")
    try:
        told = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise SettingsInvalid(f"{path}: no TOML: {clean_line(str(error))}") from None
    try:
        return msgspec.convert(told, Settings)
    except msgspec.ValidationError as error:
        raise SettingsInvalid(f"{path}: {_said(str(error))}") from None


def schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    return msgspec.json.schema(Settings)


def origins(path: Path | None = None) -> frozenset[str]:
    """Dotted names of what the file sets; empty where there is no file that can be read."""
    try:
        told = tomllib.loads((path or settings_file()).read_bytes().decode("utf-8"))
    except (OSError, ValueError):
        return frozenset()
    return frozenset(dotted(told))


def dotted(told: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Values by their dotted names: `"run.filter" = …` and `[run]` with `filter = …` say the same."""
    found: dict[str, Any] = {}
    for name, value in told.items():
        if isinstance(value, Mapping):
            found |= dotted(value, f"{before}{name}.")
        else:
            found[before + name] = value
    return found


_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>.*?)`(?: - at `(?P<at>.*)`)?$", re.DOTALL)
_WRONG = re.compile(r"(?P<what>.*?)(?: - at `(?P<at>.*)`)?$", re.DOTALL)


def _said(error: str) -> str:
    """msgspec's words as a sentence that begins with the key."""
    if found := _UNKNOWN.match(error):
        at = _key(found["at"])
        known = _fields_of(at)
        return f"unknown key `{at + '.' if at else ''}{clean_line(found['key'])}`; there are {', '.join(known)}"
    found = _WRONG.match(error)
    assert found is not None
    key, what = _key(found["at"]), found["what"]
    return f"`{key}`: {clean_line(what[:1].lower() + what[1:])}{_choices(key)}"


def _key(at: str | None) -> str:
    return clean_line((at or "").removeprefix("$").removeprefix("."))


def _fields_of(at: str) -> list[str]:
    return list(_kind_of(at).__struct_fields__)


def _kind_of(table: str) -> type[msgspec.Struct]:
    kinds: dict[str, type[msgspec.Struct]] = {"notifications": Notifications, "run": RunView, "logs": LogView}
    return kinds.get(table, Settings)


def _choices(at: str) -> str:
    table, _, name = at.rpartition(".")
    field = msgspec.inspect.type_info(_kind_of(table))
    assert isinstance(field, msgspec.inspect.StructType)
    for one in field.fields:
        inner = one.type.type if isinstance(one.type, msgspec.inspect.Metadata) else one.type
        if one.name == name and isinstance(inner, msgspec.inspect.LiteralType):
            return f"; it is one of {', '.join(map(str, inner.values))}"
    return ""
