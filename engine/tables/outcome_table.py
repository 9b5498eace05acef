"""Outcomes of trials from a CSV file, in one of two shapes, columns in any order.

*A row an attempt*: `task`, `arm`, `attempt`, `reward`, `cost` (or `cost_usd`). `task` and `reward` have to be there.
Without `arm` the whole file is one arm, named after the file; without `attempt` every row is the first. Where the
column is called `trial` instead of `task`, attempts are tries of one trial: the last one counts, the earlier ones for
their money only. A column `discarded` (1 or 0) says so by the row.

*A row a task*: `task_id`, `a_pass`, `b_pass`, and `a_cost`, `b_cost` where they are known; `attempt` where a task has
several rows. The arms are called A and B.

An empty verdict is a missing one, an empty cost is unknown. Lines that begin with `#` are passed over.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from engine.regular_file import regular_file
from engine.tables.csv_cells import CellInvalid, amount, attempt_number, flag, verdict
from engine.tables.csv_text import CsvInvalid, read_csv_text
from engine.tables.near_equal import near_equal_note
from engine.text import clean_line

ENDINGS = (".csv", ".tsv")
_HEAD = 4_096
_SHOWN = 5
_TASK, _TRIAL = ("task", "task_id"), ("trial",)
_COST = ("cost", "cost_usd")
_PASSES = ("a_pass", "b_pass")
_Value = TypeVar("_Value")
_EXPECTED = "expected task,arm,attempt,reward,cost or task_id,a_pass,b_pass,a_cost,b_cost"


class OutcomeRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the table says of one attempt; `row` is the line that says it. None: no verdict, unknown cost."""

    arm: str
    task: str
    attempt: int
    passed: bool | None
    cost_usd: float | None
    discarded: bool
    row: int


class OutcomeTable(msgspec.Struct, frozen=True, kw_only=True):
    """Rows in the order of the file, arms in that of their first rows."""

    rows: tuple[OutcomeRow, ...]
    notes: tuple[str, ...]

    @property
    def arms(self) -> list[str]:
        return list(dict.fromkeys(row.arm for row in self.rows))


class _Side(msgspec.Struct, frozen=True):
    """Where a row says how one arm did. `arm` is its column's place, or its name where every row is of this arm."""

    arm: int | str
    verdict_name: str
    verdict: int
    cost_name: str
    cost: int | None


def read_table(path: Path) -> OutcomeTable:
    """Raises CsvInvalid and OSError."""
    return parse_table(read_csv_text(path, "outcomes are one short row an attempt"), path.name)


def parse_table(text: str, name: str) -> OutcomeTable:
    """Raises CsvInvalid. `name` is the file's, for messages and, without a column `arm`, for the arm."""
    rows = _rows(text, name)
    try:
        first, head = next(rows)
    except StopIteration:
        raise CsvInvalid(f"{name}: empty; {_EXPECTED}") from None
    titles = [title.strip().lower() for title in head]
    place = f"{name}, row {first}"
    twice = [title for title, count in Counter(titles).items() if title and count > 1]
    if twice:
        raise CsvInvalid(f"{place}: two columns are called {clean_line(twice[0], 60)!r}; which one counts?")
    columns = {title: at for at, title in enumerate(titles) if title}
    task_at = _find(place, columns, (*_TASK, *_TRIAL))
    if task_at is None:
        raise CsvInvalid(f"{place}: no column 'task'; {_EXPECTED}")
    sides = _sides(place, columns, Path(name).stem)
    retries = _find(place, columns, _TASK) is None
    reader = _Reader(name, columns, task_at, sides, len(head))
    for number, row in rows:
        reader.take(number, row)
    reader.finish()
    if not reader.outcomes:
        raise CsvInvalid(f"{name}: no row below its names; expected one an attempt, or one a task")
    known = {*_TASK, *_TRIAL, "attempt", "discarded"}
    known |= {"arm", "reward", *_COST} if len(sides) == 1 else {*_PASSES, "a_cost", "b_cost"}
    return _table(reader, name, retries, [title for title in columns if title not in known])


def is_table(path: Path) -> bool:
    """Whether the file's ending and its first line say so. Never raises."""
    try:
        if path.suffix.lower() not in ENDINGS or not path.is_file():
            return False
        with regular_file(path) as file:
            head = file.read(_HEAD)
    except (OSError, ValueError):
        return False
    text = head.decode("utf-8-sig", "replace")
    try:
        _, titles = next(_rows(text, path.name))
    except (StopIteration, CsvInvalid):
        return False
    found = {title.strip().lower() for title in titles}
    return bool(found & {*_TASK, *_TRIAL}) and ("reward" in found or set(_PASSES) <= found)


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """With the number of the line that each begins on."""
    sample = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    delimiter = max(",;\t", key=sample.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    try:
        for row in reader:
            if row and any(cell.strip() for cell in row) and not row[0].startswith("#"):
                yield begins, row
            begins = reader.line_num + 1
    except csv.Error as error:
        raise CsvInvalid(f"{name}, row {reader.line_num}: {error}") from None


def _sides(place: str, columns: Mapping[str, int], stem: str) -> list[_Side]:
    """The arms that one row tells of. Raises CsvInvalid."""
    reward = columns.get("reward")
    passes = [title for title in _PASSES if title in columns]
    if reward is not None and passes:
        raise CsvInvalid(f"{place}: both 'reward' and {passes[0]!r}; {_EXPECTED}")
    if reward is not None:
        return [_Side(columns.get("arm", stem), "reward", reward, "cost", _find(place, columns, _COST))]
    if len(passes) == 1:
        missing = next(title for title in _PASSES if title not in columns)
        raise CsvInvalid(f"{place}: no column {missing!r}; {_EXPECTED}")
    if not passes:
        raise CsvInvalid(f"{place}: no column 'reward'; {_EXPECTED}")
    return [
        _Side(
            letter.upper(), f"{letter}_pass", columns[f"{letter}_pass"], f"{letter}_cost", columns.get(f"{letter}_cost")
        )
        for letter in "ab"
    ]


def _find(place: str, columns: Mapping[str, int], names: Iterable[str]) -> int | None:
    """Raises CsvInvalid where one thing stands in two columns."""
    there = [name for name in names if name in columns]
    if len(there) > 1:
        raise CsvInvalid(f"{place}: both {there[0]!r} and {there[1]!r}; which one counts?")
    return columns[there[0]] if there else None


def rows_message(name: str, problems: list[tuple[int, str]]) -> str:
    """What is wrong with which rows, in their order."""
    problems = sorted(problems)
    shown = "; ".join(f"row {row}: {clean_line(what, 300)}" for row, what in problems[:_SHOWN])
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return f"{name}, {shown}{more}"


class _Reader:
    """Rows as outcomes; what is wrong with them is collected and said at once."""

    def __init__(self, name: str, columns: Mapping[str, int], task_at: int, sides: Iterable[_Side], width: int) -> None:
        self.name = name
        self.columns = columns
        self.task_at, self.width = task_at, width
        self.sides = tuple(sides)
        self.problems: list[tuple[int, str]] = []
        self.outcomes: list[OutcomeRow] = []
        self._seen: dict[tuple[str, str, int], int] = {}

    def take(self, number: int, row: list[str]) -> None:
        if len(row) != self.width:
            why = "; a decimal comma? write a point" if len(row) > self.width else ""
            self.problems.append((number, f"{_cells(len(row))}, the first row has {self.width}{why}"))
            return
        task = row[self.task_at]
        if not task.strip():
            self.problems.append((number, "no task"))
            return
        attempt = self._read(number, attempt_number, self._cell(row, "attempt"))
        discarded = self._read(number, lambda text: flag("discarded", text), self._cell(row, "discarded"))
        for side in self.sides:
            self._take_side(number, row, side, task, attempt, discarded is True)

    def _take_side(
        self, number: int, row: list[str], side: _Side, task: str, attempt: int | None, discarded: bool
    ) -> None:
        arm = side.arm if isinstance(side.arm, str) else row[side.arm].strip()
        if not arm:
            self.problems.append((number, "no arm"))
            return
        passed = self._read(number, lambda text: verdict(side.verdict_name, text), row[side.verdict])
        cost_text = row[side.cost] if side.cost is not None else ""
        cost = self._read(number, lambda text: amount(side.cost_name, text), cost_text)
        if attempt is None:
            return
        key = (arm, task, attempt)
        if key in self._seen:
            if side is self.sides[0]:
                whose = f", arm {arm!r}" if len(self.sides) == 1 else ""
                what = f"task {task!r}{whose}, attempt {attempt} a second time, first in row {self._seen[key]}"
                self.problems.append((number, f"{what}; are these attempts? number them"))
            return
        self._seen[key] = number
        self.outcomes.append(
            OutcomeRow(
                arm=arm, task=task, attempt=attempt, passed=passed, cost_usd=cost, discarded=discarded, row=number
            )
        )

    def finish(self) -> None:
        if self.problems:
            raise CsvInvalid(rows_message(self.name, self.problems))

    def _cell(self, row: list[str], column: str) -> str:
        place = self.columns.get(column)
        return row[place] if place is not None else ""

    def _read(self, number: int, read: Callable[[str], _Value], text: str) -> _Value | None:
        try:
            return read(text)
        except CellInvalid as error:
            self.problems.append((number, str(error)))
            return None


def _table(reader: _Reader, name: str, retries: bool, unread: list[str]) -> OutcomeTable:
    last: dict[tuple[str, str], int] = {}
    for row in reader.outcomes:
        last[row.arm, row.task] = max(row.attempt, last.get((row.arm, row.task), 0))
    rows = tuple(
        msgspec.structs.replace(row, discarded=row.attempt < last[row.arm, row.task]) if retries else row
        for row in reader.outcomes
    )
    notes = [near_equal_note(dict.fromkeys(row.arm for row in rows), "arms")]
    if unread:
        shown = ", ".join(clean_line(one, 60) for one in unread[:_SHOWN])
        more = f" and {len(unread) - _SHOWN} more" if len(unread) > _SHOWN else ""
        notes.append(f"{len(unread)} column{'' if len(unread) == 1 else 's'} of {name} not read: {shown}{more}")
    return OutcomeTable(rows=rows, notes=tuple(note for note in notes if note))


def _cells(number: int) -> str:
    return f"{number} cell" if number == 1 else f"{number} cells"
