"""A shell in a container of a trial that runs or was kept up, in the console's terminal."""

from __future__ import annotations

from functools import partial
from typing import Any

from textual.app import App

from engine.text import clean_line
from engine.trial_state import TrialState
from screens.outside import run_outside, shell_command
from screens.question_screen import Answer, QuestionScreen
from screens.read_only import is_read_only
from screens.source import RunSource

_MOST = 9
"""Services that have a key."""


def open_shell(app: App[Any], source: RunSource, trial: TrialState | None) -> None:
    """Asks which service where several run; says why not where none can be entered."""
    problem = why_not(app, source, trial)
    if problem or trial is None:
        app.notify(problem or "no such trial", severity="warning", markup=False)
        return
    found = containers(trial)
    if len(found) == 1:
        _enter(app, found, next(iter(found)))
        return
    answers = [Answer(str(number), clean_line(name, 60), name) for number, name in enumerate(found, 1)][:_MOST]
    question = QuestionScreen("A shell", "In which container? The run goes on meanwhile.", *answers)
    app.push_screen(question, partial(_enter, app, found))


def containers(trial: TrialState) -> dict[str, str]:
    """Running services by name, each with its container."""
    return {
        (use.service if use.environment == "agent" else f"{use.service} ({use.environment})"): use.container
        for use in sorted(trial.services.values(), key=lambda use: use.service != "main")
        if use.container and use.state in ("running", "healthy", "unhealthy")
    }


def why_not(app: App[Any], source: RunSource, trial: TrialState | None) -> str:
    if is_read_only(app):
        return "read-only: no shell in a container"
    if not source.run.ours:
        return "a shell is only opened in containers of trialdeck's own runs"
    if trial is None or (not trial.kept and (not source.live or trial.done)):
        return "nothing of this trial runs any more"
    return "" if containers(trial) else "no container of this trial runs on this host's engine"


def _enter(app: App[Any], found: dict[str, str], name: str | None) -> None:
    if not name:
        return
    try:
        command = shell_command(found[name])
    except ValueError as error:
        problem = str(error)
    else:
        problem = run_outside(app, command)
        if problem.startswith("docker ended"):
            problem += ": is its container still up?"
    if problem:
        app.notify(f"{clean_line(name, 60)}: {problem}", severity="warning", markup=False)
