"""Which family a task is of, from what a person types: its category, the beginning of its name, or a file."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from engine.state import RunState

CATEGORY, PREFIX = "category", "prefix:"
_MOST_BYTES = 16 << 20


class FamiliesInvalid(ValueError):
    """The message names the file, its row, and what was expected."""


def families_in(text: str, states: Iterable[RunState]) -> tuple[dict[str, str] | None, str]:
    """As `read_families`; `category` as the runs state it, None where nobody asked for families. Raises
    FamiliesInvalid and OSError."""
    if not text:
        return None, ""
    if text == CATEGORY:
        trials = [trial for state in states for trial in list(state.trials.values())]
        return {trial.task: trial.category for trial in trials if trial.category}, ""
    return read_families(text)


def read_families(text: str) -> tuple[dict[str, str], str]:
    """Families by task, and the separator after which a task's name goes on; neither for `category`. Raises
    FamiliesInvalid and OSError."""
    if text == CATEGORY:
        return {}, ""
    if text.startswith(PREFIX) and text != PREFIX:
        return {}, text.removeprefix(PREFIX)
    path = Path(text).expanduser()
    if not path.is_file():
        raise FamiliesInvalid(
            f"families {text!r}: expected `category`, `prefix:SEPARATOR`, or a CSV file with task,family"
        )
    if path.stat().st_size > _MOST_BYTES:
        raise FamiliesInvalid(f"families {text}: larger than {_MOST_BYTES >> 20} MB")
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error) as error:
        raise FamiliesInvalid(f"families {text}: no CSV file in UTF-8 ({error})") from None
    families: dict[str, str] = {}
    for number, row in enumerate(rows, 2):
        task, family = row.get("task"), row.get("family")
        if not task or not family:
            raise FamiliesInvalid(
                f"families {text}, row {number}: expected the columns task and family, both filled in"
            )
        if families.setdefault(task, family) != family:
            raise FamiliesInvalid(
                f"families {text}, row {number}: task {task!r} is already of family {families[task]!r}"
            )
    return families, ""
