"""What can be done with chosen trials: copied, or saved as a list."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence
from pathlib import Path

from engine.json_document import json_document
from engine.text import clean_line
from engine.trial_state import TrialState
from screens.causes import Causes, cause_text
from screens.source import RunSource

MOST_COPIED = 64 << 10
"""Bytes: terminals drop longer OSC 52 sequences."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
FIELDS = ("trial", "task", "arm", "attempt", "state", "reward", "seconds", "cost_usd", "cause", "issues", "path")


def ids(trials: Sequence[TrialState]) -> str:
    return "\n".join(clean_line(trial.trial) for trial in trials)


def paths(source: RunSource, trials: Sequence[TrialState]) -> str:
    return "\n".join(clean_line(str(source.trial_folder(trial.trial).absolute())) for trial in trials)


def command(source: RunSource, trials: Sequence[TrialState]) -> str:
    """What runs the recorded commands of these trials again."""
    run = shlex.quote(clean_line(str(source.folder.absolute())))
    return "\n".join(f"trialdeck replay {run} {shlex.quote(clean_line(trial.trial))}" for trial in trials)


def capped(text: str) -> tuple[str, int]:
    """Whole lines that fit into what a terminal takes, and how many were left out."""
    if len(text.encode()) <= MOST_COPIED:
        return text, 0
    kept, size = [], 0
    lines = text.split("\n")
    for line in lines:
        size += len(line.encode()) + 1
        if size > MOST_COPIED:
            break
        kept.append(line)
    return "\n".join(kept), len(lines) - len(kept)


def record(source: RunSource, trial: TrialState, causes: Causes | None) -> dict[str, object]:
    return {
        "trial": clean_line(trial.trial),
        "task": trial.task,
        "arm": trial.arm,
        "attempt": trial.attempt,
        "state": trial.state,
        "reward": trial.reward,
        "seconds": trial.seconds,
        "cost_usd": trial.cost_usd,
        "cause": cause_text(causes, trial),
        "issues": [str(issue.code) for issue in trial.issues],
        "path": clean_line(str(source.trial_folder(trial.trial))),
    }


def as_json(source: RunSource, trials: Sequence[TrialState], causes: Causes | None) -> bytes:
    found = [record(source, trial, causes) for trial in trials]
    return json_document(found, indent=2) + b"\n"


def as_csv(source: RunSource, trials: Sequence[TrialState], causes: Causes | None) -> bytes:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for trial in trials:
        found = record(source, trial, causes)
        found["issues"] = " ".join(str(issue.code) for issue in trial.issues)
        writer.writerow(["" if value is None else _harmless(value) for value in found.values()])
    return text.getvalue().encode()


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def save(path: Path, data: bytes) -> None:
    """Raises OSError; a file that is there already is not written over."""
    with path.open("xb") as file:
        file.write(data)
