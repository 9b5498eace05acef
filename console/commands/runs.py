"""`trialdeck runs`: runs of every system, the one that was written to last first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from console.errors import say
from console.find_run import find_places
from console.out import Out
from console.run_condition import FINISHED, STALE, Condition, condition, in_words
from console.runs_dir import RUNS_DIR
from engine.readers.run_folder import TRIALDECK
from screens import format as fmt
from screens.run_summaries import summarise_all
from screens.run_summary import ArmSummary, RunSummary
from screens.summary_cache import SummaryCache

SCHEMA = "trialdeck.runs/1"
PATIENCE_SEC = 1.0
"""For so long runs of other systems are read to their last trial; the rest of a long list is told from one file each,
which has no issues in it."""


def runs(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Runs, and folders with runs in or under them.", metavar="PATH…")
    ] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line (docs/show-json.md).")] = False,
    limit: Annotated[int, typer.Option(min=0, help="At most so many, newest first; 0: all.", metavar="N")] = 0,
) -> None:
    """List runs of any system: state, progress, pass rates of finished trials, issues, when. Printed as they are
    read."""
    places = find_places(paths, runs_dir)[0] if paths else [runs_dir]
    list_runs(places, as_json=as_json, limit=limit)


def list_runs(places: Sequence[Path], *, as_json: bool = False, limit: int = 0) -> None:
    from engine.events import now

    out, found, uncounted = Out(), 0, 0
    cache = SummaryCache()
    for found, summary in enumerate(summarise_all(places, {}, cache=cache, patience_sec=PATIENCE_SEC), 1):
        at = condition(summary.folder, summary.liveness, summary.exit_code, ours=summary.kind == TRIALDECK.kind)
        if as_json:
            from engine.json_document import json_document

            out.json(json_document(_document(summary, at)))
        else:
            out.lines(_lines(summary, at, (now() - moment).total_seconds() if (moment := _when(summary)) else None))
        uncounted += summary.issues is None
        if found == limit:
            break
    cache.save()
    if uncounted:
        say(f"the issues of {uncounted} runs were not counted, to be quick; `trialdeck watch` or `show` counts them")
    if not found and not as_json:
        where = places[0]
        what = "holds no runs yet" if where.is_dir() else "is not there yet"
        out.line(f"{where} {what}; `trialdeck run` makes one")


def _when(summary: RunSummary) -> Any:
    return summary.last_event_at or summary.started_at


def _lines(summary: RunSummary, at: Condition, age: float | None) -> list[str]:
    """Two lines a run: what it is called and how far it is, then its arms."""
    progress = f"{summary.done} of {summary.planned}"
    words = in_words(at, summary.last_event_at) if at.state == STALE else str(at)
    facts = [
        summary.kind if summary.kind != TRIALDECK.kind else "",
        words if at.state == FINISHED else f"{words}, {progress}",
        f"{progress} done" if at.state == FINISHED else "",
        fmt.count(summary.issues, "issue") if summary.issues else "",
        fmt.span(summary.seconds) if summary.seconds is not None else "",
        fmt.ago(age) if age is not None and at.state != STALE else "",
    ]
    title = summary.folder.name + (f"  {summary.name}" if summary.name not in summary.folder.name else "")
    arms = [f"{summary.task_set}:" if summary.task_set else "", "; ".join(map(_arm, summary.arms))]
    return [
        f"{title}  {' · '.join(part for part in facts if part)}",
        f"    {' '.join(part for part in arms if part)}".rstrip(),
    ]


def _arm(arm: ArmSummary) -> str:
    done = f", {arm.finished} of {arm.assigned} done" if arm.finished < arm.assigned else ""
    return f"{arm.name} {arm.passed}/{arm.finished} passed {fmt.rate(arm.passed, arm.finished)}{done}"


def _document(summary: RunSummary, at: Condition) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "folder": str(summary.folder.resolve()),
        "kind": summary.kind,
        "name": summary.name,
        "task_set": summary.task_set,
        "state": at.state,
        "cause": at.cause,
        "exit_code": summary.exit_code,
        "done": summary.done,
        "planned": summary.planned,
        "arms": [
            {"name": arm.name, "passed": arm.passed, "finished": arm.finished, "assigned": arm.assigned}
            for arm in summary.arms
        ],
        "issues": summary.issues,
        "started_at": summary.started_at,
        "last_event_at": summary.last_event_at,
        "seconds": summary.seconds,
    }
