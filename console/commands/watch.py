"""`trialdeck watch`: attach to a run of any system, live or over; and lists of runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from console.errors import Unusable
from console.find_run import LAST, check_tables, find_places, find_run
from console.follow import Shown, choose_output, follow
from console.runs_dir import RUNS_DIR


def watch(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="One run (its folder, report or CSV file, its name, or `last`) opens; a folder of runs, or several, "
            "are listed; none: all of --runs-dir.",
            metavar="PATH…",
        ),
    ] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the console.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Look only: no label, no command, no file.")] = False,
    replay: Annotated[
        float | None,
        typer.Option(
            min=0.01, max=100_000, help="Play a run again from its beginning, so many times faster.", metavar="SPEED"
        ),
    ] = None,
) -> None:
    """Watch runs of any system. Leaving leaves a run going; several terminals may watch one run. Folders of other
    systems are only read."""
    output = choose_output(plain=plain, as_json=as_json)
    if not paths:
        if output is Shown.CONSOLE:
            raise typer.Exit(show_list([runs_dir], read_only=read_only))
        places, alone = [find_run(LAST, runs_dir)], True
    else:
        places, alone = find_places(paths, runs_dir)
    if replay is not None and (output is not Shown.CONSOLE or not alone):
        raise Unusable("--replay plays one run, in the console" + ("; here is no terminal for it" if alone else ""))
    if alone:
        check_tables(places)
        raise typer.Exit(follow(places[0], output, engine=None, read_only=read_only, replay_speed=replay))
    raise typer.Exit(show_list(places, output, read_only=read_only))


def show_list(places: Sequence[Path] | Path, output: Shown | None = None, *, read_only: bool = False) -> int:
    """Their runs, in the console where there is a terminal."""
    found = [places] if isinstance(places, Path) else list(places)
    output = output if output is not None else choose_output(plain=False, as_json=False)
    if output is Shown.CONSOLE:
        from console.open_app import show_home

        return show_home(found, read_only=read_only)
    from console.commands.runs import list_runs

    list_runs(found, as_json=output is Shown.JSON)
    return 0
