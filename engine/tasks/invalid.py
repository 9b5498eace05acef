"""The one way a task is refused while it is read, and how its text names files, keys and values."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

from engine.issues import Code, Evidence, Issue, Severity


class TaskInvalid(Exception):
    """A task can't be read. `issue` says which file, which key, what was expected and what was found."""

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue.message)
        self.issue = issue


def task_invalid(file: Path, problem: str, *, key: str = "", way_out: str = "", line: int = 0) -> TaskInvalid:
    """An exception to raise. The message reads `FILE[, line N]: [KEY: ]PROBLEM[. WAY OUT]`."""
    place = shown_path(file) + (f", line {line}" if line else "")
    message = f"{place}: {f'{key}: ' if key else ''}{problem}" + (f". {way_out}" if way_out else "")
    evidence = (Evidence(label=file.name, text=problem, line=line),) if line else ()
    return TaskInvalid(
        Issue(severity=Severity.FATAL, phase=None, code=Code.TASK_INVALID, message=message, evidence=evidence)
    )


def shown_path(path: Path) -> str:
    """A path as a person should see it: relative where it lies below the current folder, always valid
    Unicode.

    Bytes that are no UTF-8 come out as `\\xff`.
    """
    try:
        shorter = path.relative_to(Path.cwd())
    except (ValueError, OSError):
        shorter = path
    return valid_unicode(str(shorter))


def valid_unicode(name: str) -> str:
    """`name` of a file with its undecodable bytes (surrogates of `os.fsdecode`) written as `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def shown_value(value: object) -> str:
    """What a TOML value is, in words that fit after "found"."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {_cut(str(value))}"
        case str():
            return f'the text "{_cut(value)}"'
        case list():
            return f"a list of {len(value)}"
        case dict():
            return "a table"
        case datetime.date() | datetime.time():
            return f"the time {value}"
        case _:
            return type(value).__name__


def _cut(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
