"""Outcomes from a CSV file, as arms to be compared: `engine.tables.outcome_table` says what the file may hold."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.analysis.arms import Arm, ArmRef, ArmTrials
from engine.analysis.outcomes import TrialOutcome
from engine.tables.csv_text import CsvInvalid
from engine.tables.outcome_table import OutcomeTable, parse_table, read_table, rows_message

__all__ = ["CsvArms", "CsvInvalid", "check_common", "parse_csv", "read_csv"]


class CsvArms(msgspec.Struct, frozen=True, kw_only=True):
    """`arms` in the order of their first rows; `rows` leads from (arm, task) to the first row of that task."""

    arms: tuple[ArmTrials, ...]
    notes: tuple[str, ...]
    rows: dict[tuple[str, str], int]


def read_csv(path: Path) -> CsvArms:
    """Raises CsvInvalid and OSError."""
    return _arms(read_table(path), path.name)


def parse_csv(text: str, name: str) -> CsvArms:
    """Raises CsvInvalid. `name` is the file's, for messages and, without a column `arm`, for the arm."""
    return _arms(parse_table(text, name), name)


def check_common(found: CsvArms, a: str, b: str, name: str) -> None:
    """Raises CsvInvalid for tasks on one side only, by their rows."""
    tasks = {arm.name: {outcome.task for outcome in arm.outcomes} for arm in found.arms}
    alone = [
        (found.rows[side, task], f"task {task!r} is only in arm {side!r}")
        for side, other in ((a, b), (b, a))
        for task in tasks[side] - tasks[other]
    ]
    if alone:
        raise CsvInvalid(rows_message(name, alone) + "; --common-tasks leaves such tasks out")


def _arms(table: OutcomeTable, name: str) -> CsvArms:
    by_arm: dict[str, list[TrialOutcome]] = {}
    rows: dict[tuple[str, str], int] = {}
    for row in table.rows:
        rows.setdefault((row.arm, row.task), row.row)
        by_arm.setdefault(row.arm, []).append(
            TrialOutcome.of_verdict(row.task, row.arm, row.attempt, row.passed, row.cost_usd, discarded=row.discarded)
        )
    arms = [
        ArmTrials(
            arm=Arm(arm, (ArmRef(name, arm),)),
            outcomes=tuple(outcomes),
            origin={(outcome.task, outcome.attempt): (name, outcome.task) for outcome in outcomes},
            labels={},
        )
        for arm, outcomes in by_arm.items()
    ]
    return CsvArms(arms=tuple(arms), notes=table.notes, rows=rows)
