"""`trialdeck compare`: arms of one run or several, of any source, or of a CSV file, paired by task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from console.asked_formats import AskedFormats, asked_formats, write_asked
from console.compare_options import Arms, Baseline, CommonTasks, Families, Join, Labels, WhichAttempts, attempts_of
from console.errors import Unusable
from console.find_run import check_tables, find_compared
from console.follow import Shown, choose_output
from console.out import Out
from console.runs_dir import RUNS_DIR

if TYPE_CHECKING:
    from screens.comparing import Wish


def compare(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Runs (folder, name, `last`), or CSV files with task,arm,attempt,reward,cost or "
            "task_id,a_pass,b_pass,a_cost,b_cost.",
            metavar="RUN…",
        ),
    ] = None,
    arm: Arms = None,
    baseline: Baseline = "",
    attempts: WhichAttempts = "all",
    common_tasks: CommonTasks = False,
    join: Join = False,
    labels: Labels = True,
    families: Families = "",
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document; fractions and dollars.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="CSV, a row a task; # begins lines that tell of it.")] = False,
    html: Annotated[str, typer.Option(metavar="FILE", help="Write an HTML page; `-`: stdout.")] = "",
    svg: Annotated[str, typer.Option(metavar="FILE", help="Write a picture of the intervals; `-`: stdout.")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="Text instead of the console.")] = False,
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Work out the known answers anew; exit code 1 if one is off.")
    ] = False,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
) -> None:
    """Compare arms, paired by task. In a terminal the comparison opens live; into a pipe it is text."""
    if self_test:
        raise typer.Exit(_self_test(runs or [], as_json))
    if not runs:
        raise Unusable("nothing to compare: give runs or CSV files, or --self-test")
    attempts_wanted = attempts_of(attempts)
    formats = asked_formats(as_json=as_json, markdown=markdown, as_csv=as_csv, html=html, svg=svg)
    from screens.comparing import Wish

    paths = find_compared(runs, runs_dir)
    asked = Wish(
        arms=tuple(arm or ()),
        baseline=baseline,
        attempts=attempts_wanted,
        common_tasks=common_tasks,
        join=join,
        labelled=labels,
        families=families,
    )
    if formats.as_text and choose_output(plain=plain, as_json=False) is Shown.CONSOLE:
        check_tables(paths)
        from console.open_app import show_comparison

        raise typer.Exit(show_comparison(paths, asked))
    _write(paths, asked, formats)


def _self_test(runs: list[str], as_json: bool) -> int:
    if runs:
        raise Unusable("--self-test needs no run: it checks the known answers of the numbers themselves")

    import msgspec

    from engine.analysis.self_test import known_answers, self_test_lines

    answers = known_answers()
    ok = all(answer.ok for answer in answers)
    if as_json:
        rows = [msgspec.to_builtins(answer) | {"ok": answer.ok} for answer in answers]
        Out().json(msgspec.json.format(msgspec.json.encode({"version": 1, "ok": ok, "answers": rows}), indent=2))
    else:
        Out().lines(self_test_lines(answers))
    return 0 if ok else 1


def _write(paths: list[Path], asked: Wish, formats: AskedFormats) -> None:
    from console.compare_text import WRITERS, document, gather, reports, text_lines
    from console.run_condition import load

    found = gather(paths, lambda path: load(path)[0], labelled=asked.labelled)
    results = reports(found, asked)
    every = [report for _, report in results]
    out = Out()
    if formats.printed == "json":
        out.json(document(results))
    elif formats.as_text:
        out.lines(text_lines(results, out.width))
    elif formats.printed:
        out.lines(WRITERS[formats.printed](every).splitlines())
    for name, file in formats.files.items():
        if file and file != "-":
            path = write_asked(f"--{name}", file, WRITERS[name](every), found.foreign)
            if not formats.printed:
                out.line(f"{path} written")
