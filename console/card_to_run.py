"""`trialdeck run CARD.toml`: the card says what is measured, the command line how it is carried out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import typer

from console.errors import Unusable
from engine.runs.card import Conduct, RunCard
from engine.runs.card_file import SUFFIX, read_draft, resolve
from engine.runs.endpoints import with_endpoints
from engine.tasks.folder import TASK_FILE
from engine.tasks.task_set import TaskSet

_MEASURED = frozenset(
    {
        "agent",
        "arm_name",
        "attempts",
        "name",
        "seed",
        "include",
        "exclude",
        "timeout_factor",
        "allow_host_env",
        "retry_cause",
        "retries",
        "redo_verdict",
        "model",
        "model_api_protocol",
        "effort",
    }
)
_CONDUCT = {"concurrency": "concurrency", "max_cost": "max_cost_usd", "keep": "keep"}


def card_file_among(paths: list[Path]) -> Path | None:
    """The one path, if it is a card and no task."""
    if len(paths) != 1 or paths[0].suffix != SUFFIX or paths[0].name == TASK_FILE:
        return None
    return paths[0]


def card_from_file(
    context: typer.Context, path: Path, conduct: Conduct, endpoint: Mapping[str, str]
) -> tuple[RunCard, TaskSet]:
    """What is typed beside a card may be conduct, or where the model is reached (`endpoint`): there it goes before the
    card's. It can't change what is measured."""
    typed = {
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    }
    if clash := sorted(typed & _MEASURED):
        raise Unusable(f"--{clash[0].replace('_', '-')} is said by the card ({path}); change it there")
    card, task_set = resolve(path, read_draft(path))
    card = with_endpoints(card, {key: [value] for key, value in endpoint.items()})
    kept = {name: getattr(conduct, field) for name, field in _CONDUCT.items() if name in typed}
    merged = msgspec.structs.replace(
        card.conduct,
        **{_CONDUCT[name]: value for name, value in kept.items()},
        paths=conduct.paths,
        working_folder=conduct.working_folder,
    )
    return msgspec.structs.replace(card, conduct=merged), task_set
