"""`trialdeck cancel`: end a run, or one trial of it; what runs is cleaned up."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer

from console.errors import Unusable
from console.find_run import find_own_run, typed
from console.out import Out
from console.run_condition import FINISHED, load
from console.runs_dir import RUNS_DIR
from engine.runs.control import send_command
from engine.state import RunState


def cancel(
    run: Annotated[str, typer.Argument(help="The run: its folder, its name, or `last`.", metavar="RUN")],
    trial: Annotated[
        str, typer.Option(help="Only this trial: its name, or the beginning of it.", metavar="TRIAL")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Don't wait for the clean-up of each trial.")] = False,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
) -> None:
    """Cancel a run that goes on, or one of its trials. Verdicts stay; `trialdeck resume` goes on later."""
    if trial and force:
        raise Unusable("--force is for a whole run; a single trial is always cleaned up")
    folder = find_own_run(run, runs_dir, "be cancelled")
    state, condition = load(folder)
    if condition.state == FINISHED:
        raise Unusable(f"{folder}: the run is over; nothing of it goes on")
    name = find_trial(trial, state) if trial else ""
    answer = send_command(folder, {"command": "cancel", "trial": name, "force": force})
    if not answer.get("ok"):
        raise Unusable(f"{folder}: not cancelled: {answer.get('error', 'the engine gives no reason')}")
    if name:
        Out().line(f"cancelled {name}")
        return
    running = answer.get("running", 0)
    what = "removed by force" if force else "cleaned up"
    Out().line(f"cancelling {folder.name}: {running} running, {what}; `trialdeck watch {typed(folder)}` shows it")


def find_trial(text: str, state: RunState) -> str:
    """A trial's name, from the beginning of it. Raises Unusable."""
    if text in state.trials:
        return text
    matches = [name for name in state.trials if name.startswith(text)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise Unusable(f"trial {text} could be {', '.join(sorted(matches)[:5])}; type more of the name")
    near = difflib.get_close_matches(text, list(state.trials), 5, 0.5)
    raise Unusable(f"trial {text}: there is none of that name" + (f"; did you mean {', '.join(near)}?" if near else ""))
