"""`trialdeck resume`: go on with a run after any end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.begin_run import refusal_lines
from console.engine_check import NoEngine, engine_host
from console.errors import Unusable, say
from console.find_run import find_own_run, typed
from console.follow import choose_output, follow
from console.runs_dir import RUNS_DIR
from engine.layout import EVENTS
from engine.owner import engine_alive
from engine.readers.run_folder import RunFolderReader
from engine.runs.card import RunCard, read_card
from engine.runs.endpoints import with_endpoints
from engine.runs.from_card import plan_from_card
from engine.runs.resume import Remaining, remaining
from engine.runs.start import amended, launch_engine, save_card, visible_environment
from engine.state import RunState
from engine.triage.who import who_am_i


def resume(
    run: Annotated[str, typer.Argument(help="The run: its folder, its name, or `last`.", metavar="RUN")],
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Another number of trials at once.", metavar="N")
    ] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Another spend cap.", metavar="USD")] = None,
    model_base_url: Annotated[
        list[str] | None, typer.Option(help="Where the models are now; ARM=URL for one arm.", metavar="URL")
    ] = None,
    model_key_env: Annotated[
        list[str] | None, typer.Option(help="The variable that holds the key; ARM=VARIABLE.", metavar="VARIABLE")
    ] = None,
    model_key_file: Annotated[
        list[str] | None, typer.Option(help="A file that holds the key; ARM=FILE.", metavar="FILE")
    ] = None,
    model: Annotated[str | None, typer.Option(help="None but the one it has.", hidden=True, metavar="NAME")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what stays and what runs, and stop.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the console.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines.")] = False,
) -> None:
    """Go on with a run: verdicts stay; what was cut off, cancelled or left without a verdict runs again, its record
    kept."""
    folder = find_own_run(run, runs_dir, "be resumed")
    card = read_card(folder)
    if engine_alive(folder):
        raise Unusable(f"{folder}: its engine still runs; `trialdeck watch {typed(folder)}` shows it")
    if model is not None:
        _same_model(card, model)
    wanted = {"base_url": model_base_url or (), "key_env": model_key_env or (), "key_file": model_key_file or ()}
    card = with_endpoints(card, wanted, by=who_am_i())
    plan = plan_from_card(card, visible_environment(card.allowed_host_env))
    left = remaining(plan, _state(folder))
    if dry_run:
        print("\n".join([*_lines(left), *refusal_lines(plan)]))
        raise typer.Exit(0)
    for line in refusal_lines(plan):
        say(line)
    if not left.todo:
        raise Unusable(f"{folder}: nothing is left to run: every trial has a verdict or is refused")
    try:
        engine_host()
    except NoEngine as error:
        raise Unusable(str(error)) from None
    save_card(folder, amended(card, by=who_am_i(), concurrency=concurrency, max_cost_usd=max_cost))
    raise typer.Exit(
        follow(folder, choose_output(plain=plain, as_json=as_json), engine=launch_engine(folder, resume=True))
    )


def _same_model(card: RunCard, model: str) -> None:
    """Another one would be another measurement (case 79)."""
    others = [arm for arm in card.arms if arm.model and arm.model != model]
    if others:
        told = ", ".join(f"arm {arm.name}: {arm.model}" for arm in others)
        raise Unusable(
            f"--model {model} is another model than the run's ({told}), and what it measures can't change; without "
            "--model the run goes on with its own, and `trialdeck run` starts one with another"
        )


def _state(folder: Path) -> RunState:
    if not (folder / EVENTS).is_file():
        return RunState()
    reader = RunFolderReader(folder)
    state = RunState()
    while events := reader.poll():
        state.apply_all(events)
    reader.close()
    return state


def _lines(left: Remaining) -> list[str]:
    lines = []
    for title, trials in (
        ("stay, with their verdict", left.decided),
        ("run again, their record kept", left.again),
        ("run for the first time", left.fresh),
    ):
        lines.append(f"{len(trials)} {title}")
        lines += [f"  {trial.trial}" for trial in trials]
    return lines
