"""`trialdeck runs`: the runs of a folder, the one that something happened in last first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from console.find_run import RUNS_DIR
from console.out import Out
from console.run_condition import FINISHED, Condition, condition
from screens import format as fmt
from screens.run_summaries import ArmSummary, RunSummary, summarise_all

SCHEMA = "trialdeck.runs/1"


def runs(
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.")] = RUNS_DIR,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line (docs/show-json.md).")] = False,
    limit: Annotated[int, typer.Option(min=0, help="At most so many, newest first; 0: all.")] = 0,
) -> None:
    """List the runs: state, progress, pass rates of finished trials, issues, when. Printed as they are read."""
    from engine.events import now

    out, found = Out(), 0
    for found, summary in enumerate(summarise_all(runs_dir, {}), 1):
        at = condition(summary.folder, summary.liveness, summary.exit_code)
        if as_json:
            import msgspec

            out.json(msgspec.json.encode(_document(summary, at)))
        else:
            out.lines(_lines(summary, at, (now() - moment).total_seconds() if (moment := _when(summary)) else None))
        if found == limit:
            break
    if not found and not as_json:
        what = "holds no runs yet" if runs_dir.is_dir() else "is not there yet"
        out.line(f"{runs_dir} {what}; `trialdeck run` makes one")


def _when(summary: RunSummary) -> Any:
    return summary.last_event_at or summary.started_at


def _lines(summary: RunSummary, at: Condition, age: float | None) -> list[str]:
    """Two lines a run: what it is called and how far it is, then its arms."""
    progress = f"{summary.done} of {summary.planned}"
    facts = [
        str(at) if at.state == FINISHED else f"{at}, {progress}",
        f"{progress} done" if at.state == FINISHED else "",
        fmt.count(summary.issues, "issue") if summary.issues else "",
        fmt.span(summary.seconds) if summary.seconds is not None else "",
        fmt.ago(age) if age is not None else "",
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
