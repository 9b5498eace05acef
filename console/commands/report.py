"""`trialdeck report`: the decision record of a comparison, to be kept with the decision."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.errors import Unusable
from console.find_run import find_compared
from console.out import Out
from console.runs_dir import RUNS_DIR


def report(
    runs: Annotated[
        list[str], typer.Argument(help="Runs (folder, name, `last`) or CSV files, as for `compare`.", metavar="RUN…")
    ],
    arm: Annotated[
        list[str] | None,
        typer.Option("--arm", help="An arm to compare, NAME or RUN:NAME; again for more.", metavar="NAME"),
    ] = None,
    baseline: Annotated[
        str, typer.Option(help="The arm that the others are compared with; else the first.", metavar="NAME")
    ] = "",
    attempts: Annotated[
        str, typer.Option(help="`all` attempts of a task, or the `first` alone.", metavar="WHICH")
    ] = "all",
    common_tasks: Annotated[
        bool, typer.Option("--common-tasks", help="Compare on the tasks that both sides have, and list the others.")
    ] = False,
    join: Annotated[
        bool, typer.Option("--join", help="Runs of the same arm over the same task set are its attempts.")
    ] = False,
    labels: Annotated[bool, typer.Option("--labels/--no-labels", help="Read causes that people have set.")] = True,
    families: Annotated[
        str,
        typer.Option(
            help="Resample families of tasks too: `category`, `prefix:SEPARATOR`, a CSV file with task,family.",
            metavar="HOW",
        ),
    ] = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown to stdout, also without this.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document: sections, lines and tables.")] = False,
    html: Annotated[str, typer.Option(metavar="FILE", help="Write an HTML page; `-`: stdout.")] = "",
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.")] = RUNS_DIR,
) -> None:
    """Question, population, acceptance rule, budget, result, sensitivity, limits, and what would settle the rest."""
    import msgspec

    from console.compare_text import decided, gather
    from console.run_condition import load
    from engine.analysis.record_text import record_html, record_markdown
    from screens.compare_export import refuse_foreign, replace
    from screens.comparing import Wish

    if attempts not in ("all", "first"):
        raise Unusable(f"--attempts {attempts!r}: expected `all` or `first`")
    if sum((markdown, as_json, html == "-")) > 1:
        raise Unusable("only one of --markdown, --json and --html - can go to stdout")
    paths = find_compared(runs, runs_dir)
    asked = Wish(
        tuple(arm or ()), baseline, "first" if attempts == "first" else "all", common_tasks, join, labels, families
    )
    found = gather(paths, lambda path: load(path)[0], labelled=labels)
    record = decided(found, asked)
    out = Out()
    if html and html != "-":
        path = Path(html).expanduser()
        try:
            refuse_foreign(path.parent, found.foreign)
        except ValueError as error:
            raise Unusable(f"--html {html}: {error}") from None
        replace(path, record_html(record).encode("utf-8", "replace"))
        if not (markdown or as_json):
            out.line(f"{path} written")
            return
    if as_json:
        plain = {"schema": "trialdeck.report/1", **msgspec.to_builtins(record)}
        out.json(msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n")
    else:
        out.lines((record_html if html == "-" else record_markdown)(record).splitlines())
