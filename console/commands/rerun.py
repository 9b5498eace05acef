"""`trialdeck rerun`: run trials again that failed for a cause which the card lets run again, both arms alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from console.commands.cancel import find_trial
from console.engine_check import NoEngine, engine_host
from console.errors import Unusable
from console.find_run import find_run, typed
from console.follow import choose_output, follow
from console.out import Out
from console.run_condition import load
from console.runs_dir import RUNS_DIR
from engine.owner import engine_alive
from engine.readers.open_run import open_run
from engine.runs.card import RetryPolicy, read_card
from engine.runs.from_card import plan_from_card
from engine.runs.rerun import alike, left_out, request_rerun, why_not
from engine.runs.start import launch_engine, visible_environment
from engine.state import RunState
from engine.triage.label_book import LabelBook, load_labels
from engine.triage.who import who_am_i

_MOST_TOLD = 20


def rerun(
    run: Annotated[str, typer.Argument(help="The run: its folder, its name, or `last`.", metavar="RUN")],
    trials: Annotated[
        list[str] | None,
        typer.Argument(help="Trials, by name or its beginning; none: all that may run again.", metavar="TRIAL…"),
    ] = None,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run again, and stop.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the console.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines.")] = False,
) -> None:
    """Run trials again for which people have decided such a cause (`trialdeck triage`); their first record is kept.

    Trials of the other arms on the same tasks that failed for the same cause run again with them.
    """
    folder = find_run(run, runs_dir)
    opened = open_run(folder)
    if not opened.ours:
        raise Unusable(f"{folder}: a run of {opened.kind}; trialdeck runs only trials of its own runs again")
    state, policy, book = load(folder)[0], read_card(folder).retries, load_labels(opened)
    causes = {trial: str(cause) for trial in book.trials if (cause := book.cause(trial)) is not None}
    named = [find_trial(text, state) for text in trials or ()]
    chosen = _chosen(policy, state, book, causes, named)
    out = Out()
    out.lines(_lines(policy, state, causes, chosen, named))
    barred = [] if named else list(_barred(policy, state, causes, chosen))
    out.lines(barred[:_MOST_TOLD])
    if len(barred) > _MOST_TOLD:
        out.line(f"  … and {len(barred) - _MOST_TOLD} more")
    if dry_run and chosen:
        raise typer.Exit(0)
    if not chosen:
        why = "no trial that has such a cause may" if barred else "no trial has such a cause"
        raise Unusable(f"{folder}: nothing runs again: {why}; `trialdeck triage {typed(folder)}` decides causes")
    live = engine_alive(folder)
    if not live:
        _check(folder, chosen)
    asked = request_rerun(folder, chosen, by=who_am_i())
    for trial, why in asked.refused.items():
        out.line(f"{trial} does not run again: {why}")
    if not asked.wanted:
        raise Unusable(f"{folder}: nothing runs again")
    if live:
        out.line(f"its engine has taken up {len(asked.wanted)}; `trialdeck watch {typed(folder)}` shows it")
        return
    engine = launch_engine(folder, resume=True, only_reruns=True)
    raise typer.Exit(follow(folder, choose_output(plain=plain, as_json=as_json), engine=engine))


def _check(folder: Path, chosen: Iterable[str]) -> None:
    """What would end the engine at its start, or let it run none of these, is said before anything is recorded."""
    card = read_card(folder)
    plan = plan_from_card(card, visible_environment(card.allowed_host_env))
    refused = {planned.trial: planned.refused for planned in plan.trials if planned.refused}
    for trial in chosen:
        if trial in refused:
            raise Unusable(f"{trial} can't run again: {refused[trial][0].message}")
    try:
        engine_host()
    except NoEngine as error:
        raise Unusable(str(error)) from None


def _chosen(
    policy: RetryPolicy, state: RunState, book: LabelBook, causes: dict[str, str], named: list[str]
) -> dict[str, str]:
    if not named:
        return {
            trial: cause
            for trial, cause in causes.items()
            if trial in state.trials and not why_not(policy, state.trials[trial], cause)
        }
    for trial in named:
        if book.disagreed(trial):
            raise Unusable(f"{trial}: people disagree about its cause; settle that first (`trialdeck triage`)")
        if why := why_not(policy, state.trials[trial], causes.get(trial, "")):
            raise Unusable(f"{trial} can't run again: {why}")
    return alike(policy, state, causes, {trial: causes[trial] for trial in named})


def _barred(policy: RetryPolicy, state: RunState, causes: dict[str, str], chosen: dict[str, str]) -> Iterator[str]:
    """Trials that have such a cause and don't run again all the same."""
    for trial, cause in causes.items():
        if trial in state.trials and cause in tuple(policy.causes) and trial not in chosen:
            yield f"  not again: {trial}  {cause}: {why_not(policy, state.trials[trial], cause)}"


def _lines(
    policy: RetryPolicy, state: RunState, causes: dict[str, str], chosen: dict[str, str], named: Iterable[str]
) -> list[str]:
    lines = [f"the card lets {', '.join(policy.causes) or 'nothing'} run again, {policy.how_often}"]
    for trial, cause in chosen.items():
        along = "" if not named or trial in named else " · with the other arm"
        lines.append(f"  {trial}  {cause}{along}")
    for arm, count in left_out(policy, state, causes, chosen).items():
        lines.append(f"! {count} of arm {arm} could run again too and is left out: arms are no longer treated alike")
    return lines
