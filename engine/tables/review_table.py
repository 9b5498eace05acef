"""What people did with results afterwards, from a CSV file: a row an attempt, columns in any order.

`task`, `arm`, and `attempt` (the first where it isn't there) name the trial. At least one of: `review_minutes` (a
person's time on this result, repair included), `reworked` (it was repaired before it was taken: 1 or 0), `reopened`
(how often its issue came back), `abstained` (the agent said that it can't, instead of handing in something wrong: 1 or
0).
An empty cell is unknown, never a zero. Lines that begin with `#` are passed over.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine.tables.csv_cells import CellInvalid, attempt_number, flag, quantity
from engine.tables.csv_text import CsvInvalid, read_csv_text
from engine.tables.outcome_table import rows_message
from engine.text import clean_line

FACTS = ("review_minutes", "reworked", "reopened", "abstained")
_EXPECTED = f"expected task,arm,attempt and one of {', '.join(FACTS)}"

Trial = tuple[str, str, int]
"""Arm, task, attempt."""


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """None is unknown."""

    review_minutes: float | None = None
    reworked: bool | None = None
    reopened: float | None = None
    abstained: bool | None = None


def read_reviews(path: Path) -> dict[Trial, Review]:
    """Raises CsvInvalid, which names every row at fault (at most five), and OSError."""
    return parse_reviews(read_csv_text(path, "reviews are one short row an attempt"), path.name)


def parse_reviews(text: str, name: str) -> dict[Trial, Review]:
    """Raises CsvInvalid."""
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("#")]
    sample = next((line for line in lines if line.strip()), "")
    rows = csv.DictReader(io.StringIO("".join(lines)), delimiter=max(",;\t", key=sample.count), strict=True)
    titles = [title.strip().lower() for title in rows.fieldnames or []]
    rows.fieldnames = ["task" if title == "task_id" else title for title in titles]
    if not {"task", "arm"} <= set(rows.fieldnames) or not set(FACTS) & set(rows.fieldnames):
        raise CsvInvalid(f"{name}, row 1: {_EXPECTED}")
    found: dict[Trial, Review] = {}
    problems: list[tuple[int, str]] = []
    try:
        for row in rows:
            try:
                trial, review = _row(row)
                if trial in found:
                    raise CellInvalid(f"task {trial[1]!r}, arm {trial[0]!r}, attempt {trial[2]} a second time")
                found[trial] = review
            except CellInvalid as error:
                problems.append((rows.line_num, clean_line(str(error), 300)))
    except csv.Error as error:
        raise CsvInvalid(f"{name}, row {rows.line_num}: {error}") from None
    if problems:
        raise CsvInvalid(rows_message(name, problems))
    return found


def _row(row: Mapping[str | None, object]) -> tuple[Trial, Review]:
    """Raises CellInvalid."""
    if None in row or any(value is None for value in row.values()):
        raise CellInvalid("another number of cells than the first row has")
    cells = {str(title): str(value) for title, value in row.items()}
    task, arm = cells["task"], cells["arm"].strip()
    if not task.strip() or not arm:
        raise CellInvalid("no task or no arm")
    said = {title: cells.get(title, "").strip() for title in FACTS}
    return (arm, task, attempt_number(cells.get("attempt", ""))), Review(
        review_minutes=quantity("review_minutes", said["review_minutes"]),
        reworked=flag("reworked", said["reworked"]) if said["reworked"] else None,
        reopened=quantity("reopened", said["reopened"]),
        abstained=flag("abstained", said["abstained"]) if said["abstained"] else None,
    )
