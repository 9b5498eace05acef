"""A CSV file of results as a run: its trials have a verdict and a cost, and nothing else is known of them.

Only a file that is named opens: one that lies in a folder of runs is no run of that folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from engine import events as ev
from engine.issues import Code, Issue, Severity
from engine.layout import LogFile
from engine.readers.reader import Liveness
from engine.tables.csv_text import CsvInvalid
from engine.tables.outcome_table import OutcomeRow, OutcomeTable, is_table, read_table

SOURCE = "csv"
_Key = tuple[str, str, int]


class CsvReader:
    """Reads the whole file when it has changed. What has left it is withdrawn."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stamp: tuple[int, int] | None = None
        self._known: dict[str, OutcomeRow] = {}
        self._planned = False

    def poll(self) -> list[ev.AnyEvent]:
        """Raises OSError, also where the file holds no results: the message names file and rows."""
        status = self.folder.stat()
        stamp = status.st_mtime_ns, status.st_size
        if stamp == self._stamp:
            return []
        try:
            table = read_table(self.folder)
        except CsvInvalid as error:
            raise OSError(str(error)) from None
        self._stamp = stamp
        at = datetime.fromtimestamp(status.st_mtime, UTC)
        return list(self._events(table, at))

    def liveness(self) -> Liveness:
        return Liveness.FINISHED

    def close(self) -> None:
        """Nothing is kept open."""

    def _events(self, table: OutcomeTable, at: datetime) -> Iterator[ev.AnyEvent]:
        kept = {trial_id(row): row for row in _standing(table)}
        discarded: dict[tuple[str, str], list[OutcomeRow]] = {}
        for row in table.rows:
            if row.discarded:
                discarded.setdefault((row.arm, row.task), []).append(row)
        yield self._plan(table, kept, at)
        if not self._planned:
            for note in table.notes:
                issue = Issue(severity=Severity.WARNING, phase=None, code=Code.TASK_WARNING, message=note)
                yield ev.RunIssue(at=at, issue=issue)
        for trial in self._known.keys() - kept.keys():
            yield ev.TrialWithdrawn(at=at, trial=trial, reason="no longer in the table")
        self._planned = True
        for position, (trial, row) in enumerate(kept.items()):
            before = self._known.get(trial)
            if before is None:
                yield ev.TrialPlanned(
                    at=at, trial=trial, task=row.task, arm=row.arm, attempt=row.attempt, position=position
                )
                number = 1
                for earlier in discarded.pop((row.arm, row.task), []):
                    reason = f"discarded, row {earlier.row}"
                    yield ev.TrialStarted(at=at, untimed=True, trial=trial, run_number=number)
                    yield ev.TrialInterrupted(
                        at=at, untimed=True, trial=trial, run_number=number, reason=reason, cost_usd=earlier.cost_usd
                    )
                    number += 1
                if number > 1 and not row.discarded:
                    yield ev.TrialStarted(at=at, untimed=True, trial=trial, run_number=number)
            if before != row and not row.discarded:
                yield ev.TrialFinished(
                    at=at,
                    untimed=True,
                    trial=trial,
                    outcome="unscored" if row.passed is None else "scored",
                    reward=None if row.passed is None else float(row.passed),
                    passed=row.passed,
                    cost_usd=row.cost_usd,
                )
        self._known = kept
        unscored = any(row.passed is None for row in kept.values())
        yield ev.RunFinished(at=at, untimed=True, exit_code=3 if unscored else 0, seconds=None)

    def _plan(self, table: OutcomeTable, kept: dict[str, OutcomeRow], at: datetime) -> ev.RunPlanned:
        by_task: dict[tuple[str, str], int] = {}
        for row in kept.values():
            by_task[row.arm, row.task] = by_task.get((row.arm, row.task), 0) + 1
        return ev.RunPlanned(
            at=at,
            run=identity(table),
            name=self.folder.name,
            task_set=ev.TaskSetInfo(name=""),
            arms=tuple(ev.ArmInfo(name=arm, agent="") for arm in table.arms),
            tasks=len({row.task for row in kept.values()}),
            trials=len(kept),
            attempts=max(by_task.values(), default=1),
            source=SOURCE,
        )


class CsvFormat:
    kind = SOURCE
    ours = False

    def is_run(self, folder: Path) -> bool:
        """`folder` is a file."""
        return is_table(folder)

    def identity(self, folder: Path) -> str:
        try:
            return identity(read_table(folder))
        except (CsvInvalid, OSError):
            return folder.name

    def reader(self, folder: Path) -> CsvReader:
        return CsvReader(folder)

    def trial_folder(self, folder: Path, trial: str) -> Path:
        """There is none: a table leaves no evidence beside it."""
        return folder / "none"

    def logs(self, folder: Path, trial: str) -> list[LogFile]:
        return []


def identity(table: OutcomeTable) -> str:
    """Of what was tried, whatever came of it: a verdict that is filled in later leaves labels where they are."""
    digest = hashlib.sha256()
    for key in sorted({_key(row) for row in table.rows}):
        digest.update("\0".join(map(str, key)).encode("utf-8", "backslashreplace") + b"\n")
    return f"csv-{digest.hexdigest()[:16]}"


def trial_id(row: OutcomeRow) -> str:
    """Task, arm and attempt where they are plain words, with a digest where they aren't."""
    plain = f"{row.task}.{row.arm}.{row.attempt}"
    word = re.sub(r"[^A-Za-z0-9._-]+", "_", plain)[:120].lstrip(".") or "trial"
    if word == plain:
        return word
    return f"{word}-{hashlib.sha256(repr(_key(row)).encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def _key(row: OutcomeRow) -> _Key:
    return row.arm, row.task, row.attempt


def _standing(table: OutcomeTable) -> Iterator[OutcomeRow]:
    """What counts; of a task of which every attempt was discarded, the last one, as it is."""
    kept = {(row.arm, row.task) for row in table.rows if not row.discarded}
    last = {(row.arm, row.task): row for row in table.rows}
    for row in table.rows:
        if not row.discarded or ((row.arm, row.task) not in kept and last[row.arm, row.task] is row):
            yield row


CSV = CsvFormat()
