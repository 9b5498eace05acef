"""`trialdeck export`: a copy of a run, scrubbed of whose machine it was made on where asked."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from console.errors import say
from console.find_run import find_own_run
from console.out import Out
from console.runs_dir import RUNS_DIR
from engine.owner import owner_alive, read_owner

_NAMED = 5


class Binary(StrEnum):
    LEAVE_OUT = "leave-out"
    KEEP = "keep"


def export(
    run: Annotated[str, typer.Argument(help="The run: its folder, its name, or `last`.", metavar="RUN")],
    to: Annotated[Path, typer.Option(help="A new folder, or an archive.", metavar="FILE.tar.gz|DIR")],
    scrub: Annotated[
        bool, typer.Option("--scrub", help="Replace host and user names, paths, ids and allowed variables' values.")
    ] = False,
    binary: Annotated[
        Binary,
        typer.Option(
            help="What a scrubbed copy does with files that are not text and can't be scrubbed.",
            metavar="leave-out|keep",
        ),
    ] = Binary.LEAVE_OUT,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
) -> None:
    """Copy a run to keep or to hand on; the copy opens in the console and in Harbor's viewer like any other."""
    from console.export_run import export_run

    folder = find_own_run(run, runs_dir, "be exported")
    if owner_alive(read_owner(folder)):
        say(f"{folder.name} still runs: this is a copy of the present moment")
    done = export_run(folder, to, scrub=scrub, keep_binary=binary is Binary.KEEP, overwrite=overwrite)
    out = Out()
    out.line(f"exported {folder.name} to {to}: {done.files} files")
    for kind, count in sorted(done.replaced.items(), key=lambda pair: -pair[1]):
        out.line(f"  replaced {count:>6,}  {kind}")
    if done.binary:
        what = "kept unscrubbed" if binary is Binary.KEEP else "left out"
        out.line(f"  {len(done.binary)} files that are not text {what}: {_listed(done.binary)}")
    if done.left_out:
        out.line(f"  {len(done.left_out)} not copied: {_listed(done.left_out)}")
    if done.too_short:
        say(f"too short to be replaced safely, look for yourself: the values of {', '.join(done.too_short)}")
    if done.unset:
        say(
            f"not set here, so their values were not looked for: {', '.join(done.unset)}; set them as in the run, and "
            "export again"
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
