"""`trialdeck watch`: attach to a run, live or over; and `trialdeck` alone: the list of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.find_run import find_run
from console.follow import Shown, choose_output, follow


def watch(
    run: Annotated[
        str, typer.Argument(help="The run: its folder, its name, or `last`; none: all.", metavar="[RUN]")
    ] = "",
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.")] = Path("runs"),
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the console.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines.")] = False,
) -> None:
    """Watch a run. Leaving leaves the run going; several terminals may watch one run."""
    output = choose_output(plain=plain, as_json=as_json)
    if not run and output is Shown.CONSOLE:
        raise typer.Exit(show_list(runs_dir))
    raise typer.Exit(follow(find_run(run or "last", runs_dir), output, engine=None))


def show_list(runs_dir: Path) -> int:
    """All runs, in the console where there is a terminal."""
    if choose_output(plain=False, as_json=False) is Shown.CONSOLE:
        from console.open_app import show_home

        return show_home(runs_dir)
    from console.commands.runs import runs

    runs(runs_dir=runs_dir)
    return 0
