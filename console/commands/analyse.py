"""`trialdeck analyse`: arms over one benchmark or several, ranked, with what their trials took and cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.errors import Unusable
from console.find_run import find_compared
from console.out import Out
from console.runs_dir import RUNS_DIR


def analyse(
    runs: Annotated[
        list[str], typer.Argument(help="Runs, folders of runs, CSV files, as for `compare`.", metavar="RUN…")
    ],
    arm: Annotated[
        list[str] | None, typer.Option("--arm", help="An arm, NAME or RUN:NAME; again for more. The first: baseline.")
    ] = None,
    benchmark: Annotated[
        list[str] | None,
        typer.Option("--benchmark", help="Also part of the index; the index is incomplete without a run of it."),
    ] = None,
    weight: Annotated[
        list[str] | None, typer.Option("--weight", metavar="BENCHMARK=NUMBER", help="In the index; else all equal.")
    ] = None,
    attempts: Annotated[
        int | None, typer.Option(min=1, help="Stated attempts of a task for the index; else those of the plans.")
    ] = None,
    families: Annotated[
        str, typer.Option(help="Families of tasks: `category`, `prefix:SEPARATOR`, or a CSV file with task,family.")
    ] = "category",
    sessions: Annotated[
        bool, typer.Option("--sessions", help="Read every trial's session: steps, refusals, other models.")
    ] = False,
    labels: Annotated[bool, typer.Option("--labels/--no-labels", help="Read causes that people have set.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document; fractions, seconds and dollars.")] = False,
    svg: Annotated[str, typer.Option(metavar="FILE", help="Write the plots as a picture; `-`: stdout.")] = "",
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.")] = RUNS_DIR,
) -> None:
    """Ranks, an index over benchmarks, difficulty, time, cost, steps, effort. Runs over one task set are attempts."""
    if as_json and svg == "-":
        raise Unusable("only one of --json and --svg can go to stdout")
    from console.analyse_runs import Wanted, analysis_of

    paths = find_compared(runs, runs_dir)
    wanted = Wanted(
        arms=tuple(arm or ()),
        also=tuple(benchmark or ()),
        weights=tuple(weight or ()),
        attempts=attempts,
        families=families,
        sessions=sessions,
        labelled=labels,
    )
    found, inputs = analysis_of(paths, wanted)
    out = Out()
    if svg:
        from engine.analysis.analysis_svg import analysis_svg

        picture = analysis_svg(found)
        if svg == "-":
            out.lines(picture.splitlines())
            return
        from screens.compare_export import refuse_foreign, replace

        path = Path(svg).expanduser()
        try:
            refuse_foreign(path.parent, inputs.foreign)
        except ValueError as error:
            raise Unusable(f"--svg {svg}: {error}") from None
        replace(path, picture.encode("utf-8", "replace"))
    if as_json:
        import msgspec

        out.json(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    elif svg:
        out.line(f"{path} written")
    else:
        from engine.analysis.analysis_text import analysis_lines

        out.lines(analysis_lines(found, out.width))
