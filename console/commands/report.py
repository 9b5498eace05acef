"""`trialdeck report`: the decision record of a comparison, to be kept with the decision."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.asked_formats import write_asked
from console.compare_options import Arms, Baseline, CommonTasks, Families, Join, Labels, WhichAttempts, attempts_of
from console.errors import Unusable
from console.find_run import find_compared
from console.out import Out
from console.runs_dir import RUNS_DIR
from engine.json_document import json_document


def report(
    runs: Annotated[
        list[str], typer.Argument(help="Runs (folder, name, `last`) or CSV files, as for `compare`.", metavar="RUN…")
    ],
    arm: Arms = None,
    baseline: Baseline = "",
    attempts: WhichAttempts = "all",
    common_tasks: CommonTasks = False,
    join: Join = False,
    labels: Labels = True,
    families: Families = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown to stdout, also without this.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document: sections, lines and tables.")] = False,
    html: Annotated[str, typer.Option(metavar="FILE", help="Write an HTML page; `-`: stdout.")] = "",
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
) -> None:
    """Question, population, acceptance rule, budget, result, sensitivity, limits, and what would settle the rest."""
    import msgspec

    from console.compare_text import decided, gather
    from console.run_condition import load
    from engine.analysis.record_text import record_html, record_markdown
    from screens.comparing import Wish

    attempts_wanted = attempts_of(attempts)
    if sum((markdown, as_json, html == "-")) > 1:
        raise Unusable("only one of --markdown, --json and --html - can go to stdout")
    paths = find_compared(runs, runs_dir)
    asked = Wish(tuple(arm or ()), baseline, attempts_wanted, common_tasks, join, labels, families)
    found = gather(paths, lambda path: load(path)[0], labelled=labels)
    record = decided(found, asked)
    out = Out()
    if html and html != "-":
        path = write_asked("--html", html, record_html(record), found.foreign)
        if not (markdown or as_json):
            out.line(f"{path} written")
            return
    if as_json:
        plain = {"schema": "trialdeck.report/1", **msgspec.to_builtins(record)}
        out.json(json_document(plain, indent=2) + b"\n")
    else:
        out.lines((record_html if html == "-" else record_markdown)(record).splitlines())
