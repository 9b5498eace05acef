"""`trialdeck show`: everything about a run, as text or as a versioned JSON document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.find_run import find_run
from console.out import Out
from console.run_condition import AT_AN_END, in_words, load
from console.runs_dir import RUNS_DIR


def show(
    run: Annotated[
        str, typer.Argument(help="The run, of any system: its folder or report, its name, or `last`.", metavar="PATH")
    ],
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document (docs/show-json.md).")] = False,
) -> None:
    """Show a run: arms with their denominators, trials, issues, cost, and the comparison of its arms."""
    folder = find_run(run, runs_dir)
    state, condition = load(folder)
    kept = any(trial.kept or trial.kept_gone for trial in state.trials.values())
    if kept:
        from console.kept_up import kept_lines, note_removed_by_hand

        note_removed_by_hand(state)
    out = Out()
    if as_json:
        from console.show_document import show_document
        from engine.json_document import json_document

        out.json(json_document(show_document(folder, state, condition), indent=2))
        return
    from console.run_text import comparison_text, header_lines, issue_lines, summary_lines, trial_table

    header = header_lines(state, folder)
    if not header:
        out.lines([f"folder   {folder}", f"state    {condition}: nothing has happened yet"])
        return
    said = in_words(condition, state.last_event_at)
    out.lines([*header, f"state    {said}", "", *trial_table(state, out.width if out.is_terminal else None), ""])
    issues = issue_lines(state)
    out.lines([*issues, ""] if issues else [])
    out.lines(summary_lines(state, folder, alive=condition.state not in AT_AN_END)[:-1])
    out.lines(kept_lines(state) if kept else [])
    comparison = comparison_text(state, out.width)
    out.lines(["", *comparison] if comparison else [])
