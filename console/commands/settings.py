"""`trialdeck settings`: where the settings lie, what is in force and where it comes from."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from console.errors import Unusable
from console.out import Out


def settings(
    init: Annotated[bool, typer.Option("--init", help="Write a file with every setting as a comment.")] = False,
    as_schema: Annotated[bool, typer.Option("--schema", help="The file's JSON Schema.")] = False,
    keys: Annotated[bool, typer.Option("--keys", help="Every action's id, its keys and what it does.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The settings in force, as JSON.")] = False,
) -> None:
    """Show the settings in force, or write a file to begin with."""
    from console.settings import read_settings, schema
    from engine.user_places import settings_file

    out, path = Out(), settings_file()
    if init:
        from console.settings_text import commented, write_settings

        if path.exists():
            raise Unusable(f"{path} is there already; move it away, or change it")
        write_settings(commented(), path)
        out.line(f"written: {path}")
        return
    if as_schema:
        out.json(msgspec.json.format(msgspec.json.encode(schema())))
        return
    found = read_settings(path)
    if keys:
        _list_keys(out, found.keys)
    elif as_json:
        out.json(msgspec.json.encode({"file": str(path), "settings": found}))
    else:
        _list_values(out, found)


def _list_values(out: Out, found: msgspec.Struct) -> None:
    from console.settings import dotted, origins
    from engine.triage.who import VARIABLE, who_am_i
    from engine.user_places import settings_file

    path = settings_file()
    out.line(f"{path}{'' if path.is_file() else ' (not there; `trialdeck settings --init` writes it)'}")
    told = origins(path)
    values = dotted(msgspec.to_builtins(found))
    wide = max(map(len, values))
    for name, value in values.items():
        out.line(f"  {name.ljust(wide)}  {_shown(value).ljust(24)}  {'file' if name in told else 'default'}")
    out.line(f"  labels are signed: {who_am_i()} (${VARIABLE} goes before `user`)")


def _list_keys(out: Out, own: dict[str, Any]) -> None:
    from console.keymap import load_places, own_keymap
    from engine.user_places import settings_file
    from screens.actions import keys_text

    changed = own_keymap(own, settings_file())
    for place in load_places().values():
        out.line(f"{place.title}")
        for action in place.actions:
            name = place.id_of(action)
            mark = "*" if name in changed else " "
            out.line(f" {mark} {name:<32}  {keys_text(place, action, changed):<14}  {action.help}")


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()
