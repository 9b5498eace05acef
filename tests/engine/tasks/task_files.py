"""A task.toml as text, read or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.issues import Code, Severity
from engine.tasks.invalid import TaskInvalid
from engine.tasks.toml_file import TaskFile, parse_task_file

FILE = Path("hello/task.toml")


def parse(text: str) -> TaskFile:
    return parse_task_file(text.encode(), FILE)


def refused(text: str | bytes) -> str:
    with pytest.raises(TaskInvalid) as caught:
        parse_task_file(text if isinstance(text, bytes) else text.encode(), FILE)
    issue = caught.value.issue
    assert (issue.severity, issue.code, issue.phase) == (Severity.FATAL, Code.TASK_INVALID, None)
    assert str(caught.value) == issue.message
    assert issue.message.startswith("hello/task.toml")
    return issue.message
