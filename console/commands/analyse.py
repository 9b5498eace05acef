"""`trialdeck analyse`: arms over one benchmark or several, ranked, with what their trials took and cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from console.asked_formats import AskedFormats, asked_formats, write_asked
from console.find_run import check_tables, find_compared
from console.follow import Shown, choose_output
from console.out import Out
from console.runs_dir import RUNS_DIR

if TYPE_CHECKING:
    from engine.analysis.analysis import Analysis


def analyse(
    runs: Annotated[
        list[str], typer.Argument(help="Runs, folders of runs, CSV files, as for `compare`.", metavar="RUN…")
    ],
    arm: Annotated[
        list[str] | None,
        typer.Option("--arm", help="An arm, NAME or RUN:NAME; again for more. The first: baseline.", metavar="NAME"),
    ] = None,
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark", help="Also part of the index; the index is incomplete without a run of it.", metavar="NAME"
        ),
    ] = None,
    weight: Annotated[
        list[str] | None, typer.Option("--weight", metavar="BENCHMARK=NUMBER", help="In the index; else all equal.")
    ] = None,
    attempts: Annotated[
        int | None,
        typer.Option(min=1, help="Stated attempts of a task for the index; else those of the plans.", metavar="N"),
    ] = None,
    families: Annotated[
        str,
        typer.Option(
            help="Families of tasks: `category`, `prefix:SEPARATOR`, or a CSV file with task,family.", metavar="HOW"
        ),
    ] = "category",
    reviews: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="What came after, a CSV file: task, arm, attempt, review_minutes, reworked (yes or no), reopened (how "
            "often), abstained (yes or no).",
        ),
    ] = "",
    sessions: Annotated[
        bool, typer.Option("--sessions", help="Read every trial's session: steps, refusals, other models.")
    ] = False,
    labels: Annotated[bool, typer.Option("--labels/--no-labels", help="Read causes that people have set.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document; fractions, seconds and dollars.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV, a row an arm and benchmark.")] = False,
    html: Annotated[str, typer.Option(metavar="FILE", help="Write an HTML page; `-`: stdout.")] = "",
    svg: Annotated[str, typer.Option(metavar="FILE", help="Write the plots as a picture; `-`: stdout.")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="Text instead of the console.")] = False,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
) -> None:
    """Ranks, an index over benchmarks, difficulty, time, cost, steps, effort. Runs over one task set are attempts. In a
    terminal they open live; into a pipe they are text."""
    formats = asked_formats(as_json=as_json, markdown=markdown, as_csv=as_csv, html=html, svg=svg)
    from console.analyse_runs import Wanted, analysis_of, weights_of

    paths = find_compared(runs, runs_dir)
    if formats.as_text and choose_output(plain=plain, as_json=False) is Shown.CONSOLE:
        check_tables(paths)
        from console.open_app import show_analysis
        from screens.analysing import AnalysisWish

        wish = AnalysisWish(
            arms=tuple(arm or ()),
            also=tuple(benchmark or ()),
            weights=weights_of(weight or ()),
            attempts=attempts,
            families=families,
            reviews=reviews,
            sessions=sessions,
            labelled=labels,
        )
        raise typer.Exit(show_analysis(paths, wish))
    wanted = Wanted(
        arms=tuple(arm or ()),
        also=tuple(benchmark or ()),
        weights=tuple(weight or ()),
        attempts=attempts,
        families=families,
        reviews=reviews,
        sessions=sessions,
        labelled=labels,
    )
    found, inputs = analysis_of(paths, wanted)
    _write(found, inputs.foreign, formats)


def _write(found: Analysis, foreign: Sequence[Path], formats: AskedFormats) -> None:
    from engine.analysis.analysis_files import WRITERS
    from engine.analysis.analysis_text import analysis_lines

    out = Out()
    if formats.as_text:
        out.lines(analysis_lines(found, out.width))
    elif formats.printed == "json":
        out.json(WRITERS["json"](found).encode())
    elif formats.printed:
        out.lines(WRITERS["md" if formats.printed == "markdown" else formats.printed](found).splitlines())
    for name, file in formats.files.items():
        if file and file != "-":
            path = write_asked(f"--{name}", file, WRITERS[name](found), foreign)
            if not formats.printed:
                out.line(f"{path} written")
