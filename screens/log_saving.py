"""Lines of a log, as they are shown, to a text file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from screens.log_lines import LineReader
from screens.log_text import Look, inked

MOST_OF_A_LINE = 1 << 20
"""Bytes of one line that are written; of a longer one it is said that it was cut."""
_CHECK_EVERY = 256


def save_lines(
    reader: LineReader,
    target: Path,
    look: Look,
    within: tuple[int, int] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Returns how many. `within`: where the first and the last line begin.

    Raises OSError; FileExistsError where there is such a file, which is left alone.
    """
    start, last = within or (0, reader.file.size)
    count = 0
    with target.open("x", encoding="utf-8") as out:
        line = reader.line_at(start)
        while line is not None and line.start <= last:
            if count % _CHECK_EVERY == 0 and stop():
                break
            data = reader.file.read(line.start, min(line.length, MOST_OF_A_LINE))
            text = inked(data, ended=line.length <= MOST_OF_A_LINE, look=look).text
            note = " … cut" if line.length > MOST_OF_A_LINE or not line.whole else ""
            out.write(f"{text}{note}\n")
            count += 1
            line = reader.line_at(line.after)
    return count
