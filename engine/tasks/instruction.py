"""What the agent is told: the bytes of instruction.md, without leading canary lines.

A canary is a one-line comment that marks benchmark files, so that they can be found in training data. It is
no part of the instruction. Nothing else is touched: no decoding, no line ends, no final newline.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.tasks.task import Step, Task

INSTRUCTION = "instruction.md"
_BOM = b"\xef\xbb\xbf"
_CANARY = re.compile(rb"<!--.*canary.*-->|#.*canary.*", re.IGNORECASE)


def read_instruction(task: Task, step: Step | None = None) -> bytes:
    """The instruction of the task, or of one of its steps. Raises OSError."""
    return without_canary(((step.folder if step else task.folder) / INSTRUCTION).read_bytes())


def without_canary(data: bytes) -> bytes:
    """Cut the leading block of canary lines, and the blank lines below it; other bytes stay as they are."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    below = _past(data, start, lambda line: _CANARY.fullmatch(line) is not None)
    if below == start:
        return data
    return data[_past(data, below, lambda line: not line) :]


def _past(data: bytes, start: int, cut: Callable[[bytes], bool]) -> int:
    """Where the first line begins, from `start` on, that is not to be cut."""
    while start < len(data):
        end = data.find(b"\n", start)
        line = data[start : end if end >= 0 else len(data)]
        if not cut(line.strip()):
            break
        start = end + 1 if end >= 0 else len(data)
    return start
