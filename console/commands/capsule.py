"""`trialdeck capsule`: what is carried into images that lack it: listed, built ahead, checked, removed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from console.errors import Unusable, say
from console.help_words import WordedCommand
from console.out import Out

SCHEMA = "trialdeck.capsules/1"

capsule = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Runtime capsules: what is carried into images that lack it. A run builds those it needs by itself.",
)

Tag = Annotated[str, typer.Argument(help="A capsule, like node24-v1.", metavar="TAG")]
MaybeTag = Annotated[str, typer.Argument(help="One capsule; else all that are built.", metavar="TAG")]
AsJson = Annotated[bool, typer.Option("--json", help="A JSON document.")]


@capsule.command("list", cls=WordedCommand)
def list_capsules(as_json: AsJson = False) -> None:
    """List the capsules that are built here, and those that can be."""
    from engine.agents.capsules.recipes import RECIPES
    from engine.agents.capsules.store import tags

    rows = [_row(tag, whole=False) for tag in tags()]
    built = {row["tag"] for row in rows}
    others = [
        {"tag": recipe.example, "state": "not built", "summary": recipe.summary, "network": recipe.network}
        for recipe in RECIPES
        if recipe.example not in built
    ]
    out = Out()
    if as_json:
        _write_json(out, [*rows, *others])
        return
    wide = max(len(row["tag"]) for row in [*rows, *others])
    for row in rows:
        out.line(f"{row['tag']:<{wide}}  {_state(row)}")
    for row in others:
        downloads = "" if row["network"] else "; needs no network"
        out.line(f"{row['tag']:<{wide}}  not built: {row['summary']}{downloads}")


@capsule.command(cls=WordedCommand)
def build(tag: Tag, as_json: AsJson = False) -> None:
    """Build a capsule ahead of a run; one that is there stays."""
    from engine.agents.capsules.build import build as build_capsule

    build_capsule(tag, say)
    row = _row(tag, whole=False)
    out = Out()
    if as_json:
        _write_json(out, [row])
    else:
        out.line(f"{tag}  {_state(row)}")


@capsule.command(cls=WordedCommand)
def check(tag: MaybeTag = "", as_json: AsJson = False) -> None:
    """Read every file again; exit code 2 where one has changed since it was built."""
    from engine.agents.capsules.store import tags

    wanted = [tag] if tag else tags()
    rows = [_row(one, whole=True) for one in wanted]
    out = Out()
    if as_json:
        _write_json(out, rows)
    else:
        wide = max((len(row["tag"]) for row in rows), default=0)
        out.lines([f"{row['tag']:<{wide}}  {_state(row)}" for row in rows] or ["no capsule is built"])
    if any(row["state"] != "sound" for row in rows):
        raise typer.Exit(2)


@capsule.command(cls=WordedCommand)
def remove(tag: Tag) -> None:
    """Remove a capsule, also from a trial that works with it now."""
    from engine.agents.capsules.store import remove as remove_capsule

    if not remove_capsule(tag):
        raise Unusable(f"there is no capsule {tag}; `trialdeck capsule list` shows those that are built")
    Out().line(f"{tag}  removed")


def _row(tag: str, *, whole: bool) -> dict[str, Any]:
    from engine.agents.capsules.capsule import CapsuleUnusable
    from engine.agents.capsules.store import find, folder_of

    try:
        found = find(tag, whole=whole)
    except CapsuleUnusable as error:
        return {"tag": tag, "state": "unusable", "folder": str(folder_of(tag)), "why": str(error)}
    if found is None:
        raise Unusable(f"there is no capsule {tag}; `trialdeck capsule build {tag}` builds it, if that can be")
    return {
        "tag": tag,
        "state": "sound",
        "folder": str(found.folder),
        "place_in_main": found.place,
        "digest": found.digest,
        "machine": found.machine,
        "files": found.files,
        "bytes": found.bytes,
        "versions": found.versions,
        "programs": found.programs,
    }


def _state(row: dict[str, Any]) -> str:
    """`✓ sound  node 24.19.0  137 MB  915c6cf0b81b`."""
    if row["state"] != "sound":
        return f"✗ unusable: {row['why']}"
    versions = ", ".join(f"{name} {version}" for name, version in row["versions"].items() if name != "integrity")
    return f"✓ sound  {versions}  {row['bytes'] / 1e6:,.0f} MB  {row['digest'][:12]}"


def _write_json(out: Out, rows: list[dict[str, Any]]) -> None:
    import msgspec

    out.json(msgspec.json.format(msgspec.json.encode({"schema": SCHEMA, "capsules": rows})))
