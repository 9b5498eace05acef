"""Outcomes from a CSV file: columns `task`, `arm`, `attempt`, `reward`, `cost` (or `cost_usd`), in any order.

`task` and `reward` have to be there. Without `arm` the whole file is one arm, named after the file; without `attempt`
every row is the first. An empty reward is a missing verdict, an empty cost is unknown. Where the column is called
`trial` instead of `task`, attempts are tries of one trial: the last one counts, the earlier ones for their money only.
A column `discarded` (1 or 0) says so by the row. Lines that begin with `#` are passed over.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from engine.analysis.arms import Arm, ArmRef, ArmTrials
from engine.analysis.near_equal import near_equal_note
from engine.analysis.outcomes import TrialOutcome
from engine.analysis.wording import many
from engine.text import clean_line

MOST_BYTES = 64 << 20
_SHOWN = 5
_TASK, _TRIAL = ("task", "task_id"), ("trial",)
_COST = ("cost", "cost_usd")


class CsvInvalid(ValueError):
    """A file that can't be read as outcomes; the message names the file and every row, at most five of them."""


class CsvArms(msgspec.Struct, frozen=True, kw_only=True):
    """`arms` in the order of their first rows; `rows` leads from (arm, task) to the first row of that task."""

    arms: tuple[ArmTrials, ...]
    notes: tuple[str, ...]
    rows: dict[tuple[str, str], int]


def read_csv(path: Path) -> CsvArms:
    """Raises CsvInvalid and OSError."""
    if path.stat().st_size > MOST_BYTES:
        raise CsvInvalid(f"{path.name}: larger than {MOST_BYTES >> 20} MB; outcomes are one short row an attempt")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CsvInvalid(f"{path.name}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    return parse_csv(text, path.name)


def parse_csv(text: str, name: str) -> CsvArms:
    """Raises CsvInvalid. `name` is the file's, for messages and, without a column `arm`, for the arm."""
    rows = _rows(text, name)
    try:
        _, head = next(rows)
    except StopIteration:
        raise CsvInvalid(f"{name}: empty; expected a row of names such as task,arm,attempt,reward,cost") from None
    columns = {title.strip().lower(): place for place, title in enumerate(head)}
    task_at = _find(columns, (*_TASK, *_TRIAL))
    reward_at = columns.get("reward")
    if task_at is None or reward_at is None:
        missing = "task" if task_at is None else "reward"
        raise CsvInvalid(f"{name}, row 1: no column {missing!r}; expected task,arm,attempt,reward,cost")
    retries = _find(columns, _TASK) is None
    reader = _Reader(name, columns, task_at, reward_at, _find(columns, _COST), len(head))
    for number, row in rows:
        reader.take(number, row)
    reader.finish()
    return _arms(reader, name, retries)


def check_common(found: CsvArms, a: str, b: str, name: str) -> None:
    """Raises CsvInvalid for tasks on one side only, by their rows."""
    tasks = {arm.name: {outcome.task for outcome in arm.outcomes} for arm in found.arms}
    alone = [
        (found.rows[side, task], f"task {task!r} is only in arm {side!r}")
        for side, other in ((a, b), (b, a))
        for task in tasks[side] - tasks[other]
    ]
    if alone:
        raise CsvInvalid(_message(name, alone) + "; --common-tasks leaves such tasks out")


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """With the number of the line that each begins on."""
    sample = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    delimiter = max(",;\t", key=sample.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    begins = 1
    try:
        for row in reader:
            if row and any(cell.strip() for cell in row) and not row[0].startswith("#"):
                yield begins, row
            begins = reader.line_num + 1
    except csv.Error as error:
        raise CsvInvalid(f"{name}, row {reader.line_num}: {error}") from None


def _find(columns: dict[str, int], names: Iterable[str]) -> int | None:
    return next((columns[name] for name in names if name in columns), None)


def _message(name: str, problems: list[tuple[int, str]]) -> str:
    problems = sorted(problems)
    shown = "; ".join(f"row {row}: {clean_line(what, 300)}" for row, what in problems[:_SHOWN])
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return f"{name}, {shown}{more}"


class _Reader:
    """Rows as outcomes; what is wrong with them is collected and said at once."""

    def __init__(
        self, name: str, columns: dict[str, int], task_at: int, reward_at: int, cost_at: int | None, width: int
    ) -> None:
        self.name = name
        self.columns = columns
        self.task_at, self.reward_at, self.cost_at, self.width = task_at, reward_at, cost_at, width
        self.problems: list[tuple[int, str]] = []
        self.outcomes: dict[str, list[TrialOutcome]] = {}
        self.rows: dict[tuple[str, str], int] = {}
        self._seen: dict[tuple[str, str, int], int] = {}

    def take(self, number: int, row: list[str]) -> None:
        if len(row) != self.width:
            self.problems.append((number, f"{many(len(row), 'cell')}, the first row has {self.width}"))
            return
        task = row[self.task_at]
        arm = self._cell(row, "arm") if "arm" in self.columns else Path(self.name).stem
        if not task.strip() or not arm:
            self.problems.append((number, f"no {'arm' if task.strip() else 'task'}"))
            return
        attempt = self._attempt(number, row)
        reward = self._reward(number, row[self.reward_at].strip())
        cost = self._cost(number, row[self.cost_at].strip() if self.cost_at is not None else "")
        if attempt is None:
            return
        key = (arm, task, attempt)
        if key in self._seen:
            what = f"task {task!r}, arm {arm!r}, attempt {attempt} a second time, first in row {self._seen[key]}"
            self.problems.append((number, f"{what}; are these attempts? number them"))
            return
        self._seen[key] = number
        self.rows.setdefault((arm, task), number)
        self.outcomes.setdefault(arm, []).append(
            TrialOutcome(
                task=task,
                arm=arm,
                attempt=attempt,
                reward=reward,
                passed=None if reward is None else reward == 1,
                completed=reward is not None,
                scored=reward is not None,
                excluded=False,
                cost_usd=cost,
                seconds=None,
                discarded=self._cell(row, "discarded").lower() in ("1", "true", "yes"),
            )
        )

    def finish(self) -> None:
        if self.problems:
            raise CsvInvalid(_message(self.name, self.problems))

    def _cell(self, row: list[str], column: str) -> str:
        place = self.columns.get(column)
        return row[place].strip() if place is not None else ""

    def _attempt(self, number: int, row: list[str]) -> int | None:
        text = self._cell(row, "attempt")
        if not text:
            return 1
        if text.isascii() and text.isdigit() and int(text[:9]) >= 1 and len(text) < 9:
            return int(text)
        self.problems.append((number, f"attempt {text!r} is no whole number from 1"))
        return None

    def _reward(self, number: int, text: str) -> float | None:
        if not text:
            return None
        value = _float(text)
        if value is None or value not in (0.0, 1.0):
            self.problems.append((number, f"reward {text!r} is neither 0 nor 1 (empty: no verdict)"))
            return None
        return value

    def _cost(self, number: int, text: str) -> float | None:
        if not text:
            return None
        value = _float(text.removeprefix("$"))
        if value is None or not math.isfinite(value) or value < 0:
            self.problems.append((number, f"cost {text!r} is no amount of money (empty: unknown)"))
            return None
        return value


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _arms(reader: _Reader, name: str, retries: bool) -> CsvArms:
    arms = []
    for arm, outcomes in reader.outcomes.items():
        last: dict[str, int] = {}
        for outcome in outcomes:
            last[outcome.task] = max(outcome.attempt, last.get(outcome.task, 0))
        kept = tuple(
            msgspec.structs.replace(outcome, discarded=outcome.attempt < last[outcome.task]) if retries else outcome
            for outcome in outcomes
        )
        origin = {(outcome.task, outcome.attempt): (name, outcome.task) for outcome in kept}
        arms.append(ArmTrials(arm=Arm(arm, (ArmRef(name, arm),)), outcomes=kept, origin=origin, labels={}))
    notes = [near_equal_note(reader.outcomes, "arms")]
    return CsvArms(arms=tuple(arms), notes=tuple(note for note in notes if note), rows=reader.rows)
