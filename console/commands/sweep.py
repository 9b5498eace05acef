"""`trialdeck sweep`: remove what dead runs left on the Docker engine, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from console.errors import Unusable, say
from console.find_run import find_run
from console.out import Out
from console.runs_dir import RUNS_DIR

if TYPE_CHECKING:
    from engine.environments.docker.removal import Thing
    from engine.environments.docker.sweep import Leftover


def sweep(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    include_kept: Annotated[
        bool, typer.Option("--include-kept", help="Environments that were kept on purpose (--keep), too.")
    ] = False,
    run: Annotated[str, typer.Option(help="Only what this run left.", metavar="RUN")] = "",
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
) -> None:
    """Remove containers, networks, volumes and images that bear trialdeck's labels and whose owner is dead."""
    import anyio

    found, left = anyio.run(_sweep, _run_id(run, runs_dir) if run else "", include_kept, dry_run)
    out = Out()
    if not found:
        whose = f"run {run} is alive or left nothing here" if run else "no dead run left anything here"
        out.line(f"nothing to sweep: {whose}")
        return
    for leftover in found:
        out.line(leftover_line(leftover, left, dry_run=dry_run))
    if not dry_run:
        _tell_runs(found, left)
    removed = len(found) - len(left)
    out.line(f"{len(found)} to remove; nothing was touched (--dry-run)" if dry_run else f"removed {removed}")
    if left:
        say(f"{len(left)} could not be removed; give the command again, or remove them with `docker`")
        raise typer.Exit(2)


def leftover_line(leftover: Leftover, left: dict[Thing, str], *, dry_run: bool) -> str:
    """`removed  container trialdeck-hello-1a2b  (run 2026-…, trial hello__oracle__1)`."""
    why = left.get(leftover.thing)
    word = "found" if dry_run else "left" if why is not None else "removed"
    parts = [f"run {leftover.run}" if leftover.run else "", f"trial {leftover.trial}" if leftover.trial else ""]
    parts += ["kept on purpose"] if leftover.kept else []
    whose = ", ".join(part for part in parts if part)
    return f"{word:<8} {leftover.thing}" + (f"  ({whose})" if whose else "") + (f": {why}" if why else "")


def _tell_runs(found: list[Leftover], left: dict[Thing, str]) -> None:
    """That what they had kept up went, so that nobody looks for a shell in it."""
    from engine.events import EnvironmentGone
    from engine.runs.tell_gone import tell_gone

    up = {one.project for one in found if one.thing.kind == "container" and one.thing in left}
    gone: dict[tuple[str, str], list[EnvironmentGone]] = {}
    for one in found:
        if one.folder and one.container and one.trial and one.project not in up:
            event = EnvironmentGone(trial=one.trial, container=one.container, reason="swept")
            gone.setdefault((one.run, one.folder), []).append(event)
    for (run, folder), events in gone.items():
        problem = tell_gone(Path(folder), run, events)
        if problem:
            say(f"run {run} was not told that what it kept went: {problem}")


def _run_id(text: str, runs_dir: Path) -> str:
    """The id that labels carry. A run whose folder is gone can still be named by its id."""
    from engine.runs.card import CardInvalid, read_card

    try:
        folder = find_run(text, runs_dir)
    except Unusable:
        return text
    try:
        return read_card(folder).run
    except CardInvalid:
        return folder.name


async def _sweep(run: str, include_kept: bool, dry_run: bool) -> tuple[list[Leftover], dict[Thing, str]]:
    from engine.environments.docker.endpoint import find_endpoint
    from engine.environments.docker.engine_api import Engine
    from engine.environments.docker.sweep import find_leftovers, remove_leftovers

    try:
        engine = await Engine.connect(find_endpoint())
    except ValueError as error:
        raise Unusable(str(error)) from None
    try:
        found = [one for one in await find_leftovers(engine, kept=include_kept) if not run or one.run == run]
        return found, {} if dry_run or not found else await remove_leftovers(engine, found)
    finally:
        await engine.close()
