"""What the agent is told: the bytes of instruction.md, without leading canary lines.

A canary is a one-line comment that marks benchmark files, so that they can be found in training data. It is
no part of the instruction. Nothing else is touched: no decoding, no line ends, no final newline.
"""

from __future__ import annotations

import re

from engine.tasks.task import Step, Task

INSTRUCTION = "instruction.md"
_BOM = b"\xef\xbb\xbf"
_CANARY = re.compile(rb"<!--.*canary.*-->|#.*canary.*", re.IGNORECASE)


def read_instruction(task: Task, step: Step | None = None) -> bytes:
    """The instruction of the task, or of one of its steps. Raises OSError."""
    return without_canary(((step.folder if step else task.folder) / INSTRUCTION).read_bytes())


def without_canary(data: bytes) -> bytes:
    """Cut leading canary lines, and the blank lines below them; other bytes stay as they are."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    found = False
    while True:
        end = data.find(b"\n", start)
        line = data[start : end if end >= 0 else len(data)].strip()
        if not (_CANARY.fullmatch(line) or (found and not line)):
            return data[start:] if found else data
        found = True
        if end < 0:
            return b""
        start = end + 1
