"""The scorebook's file: SQLite, appended to. Records are added, never edited or deleted; triggers in the file hold that
for every program that opens it.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime
from pathlib import Path

import msgspec

from engine.scorebook.record import FACTS, Kind, Record, RecordInvalid, checked

VERSION = 1
MOST_SNAPSHOT = 256 << 20
BUSY_SEC = 10.0
_CHUNK = 1 << 20

_SCHEMA = """
CREATE TABLE records (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('score', 'correction', 'check', 'withdrawal')),
    about INTEGER REFERENCES records (id),
    added_at TEXT NOT NULL,
    benchmark TEXT NOT NULL, benchmark_version TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL,
    value REAL, low REAL, high REAL, passed INTEGER, assigned INTEGER,
    model TEXT NOT NULL, agent TEXT NOT NULL, configuration TEXT NOT NULL,
    ran_by TEXT, ran_by_name TEXT NOT NULL, address TEXT NOT NULL,
    made_on TEXT, read_on TEXT, checked_on TEXT,
    snapshot TEXT NOT NULL, card_digest TEXT NOT NULL, run TEXT NOT NULL, note TEXT NOT NULL
);
CREATE INDEX records_about ON records (about);
CREATE TRIGGER records_stay BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records are never edited'); END;
CREATE TRIGGER records_remain BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'records are never deleted'); END;
"""


class BookUnusable(Exception):
    """The scorebook can't be opened or written; the message names the file and the way out."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """A score as it stands: its record with the latest correction's facts. `history` are all records about it, oldest
    first, its own the first; `withdrawn` where the last word is that it doesn't hold."""

    record: Record
    history: tuple[Record, ...]

    @property
    def withdrawn(self) -> bool:
        return any(record.kind is Kind.WITHDRAWAL for record in self.history)

    @property
    def corrected(self) -> bool:
        return any(record.kind is Kind.CORRECTION for record in self.history)


class Scorebook:
    """One file, and beside it a folder of kept sources, each named after its digest. Raises BookUnusable."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.snapshots = path.with_name(path.name + ".snapshots")

    # --- writing ---

    def add(self, record: Record) -> Record:
        """Keeps it; returns it with its number. Raises RecordInvalid."""
        record = checked(record)
        with self._open(write=True) as book:
            if record.about is not None:
                first = _row(book, record.about)
                if first is None:
                    raise RecordInvalid(f"there is no record {record.about}")
                if first.about is not None:
                    raise RecordInvalid(
                        f"record {record.about} is a {first.kind} of record {first.about}; name record {first.about}"
                    )
            columns = _columns(record)
            names = ", ".join(columns)
            marks = ", ".join("?" * len(columns))
            number = book.execute(f"INSERT INTO records ({names}) VALUES ({marks})", list(columns.values())).lastrowid
        return msgspec.structs.replace(record, id=number or 0)

    def keep(self, source: Path) -> str:
        """Keeps a copy of a source; returns its SHA-256. The same bytes are kept once."""
        try:
            size = source.stat().st_size
            if size > MOST_SNAPSHOT:
                raise BookUnusable(f"{source}: {size >> 20} MiB; a kept source has at most {MOST_SNAPSHOT >> 20} MiB")
            data = source.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            place = self.snapshots / digest
            if not place.exists():
                self.snapshots.mkdir(mode=0o700, parents=True, exist_ok=True)
                part = place.with_name(f"{digest}.{os.getpid()}.part")
                part.write_bytes(data)
                part.rename(place)
        except OSError as error:
            raise BookUnusable(f"{error.filename or source}: {error.strerror or error}") from None
        return digest

    # --- reading ---

    def scores(self) -> list[Score]:
        """Every score with its history, in the order in which they were added. A book that isn't there has none."""
        if not self.path.exists():
            return []
        with self._open(write=False) as book:
            rows = [_record(row) for row in book.execute("SELECT * FROM records ORDER BY id")]
        history: dict[int, list[Record]] = {}
        for record in rows:
            history.setdefault(record.id if record.about is None else record.about, []).append(record)
        return [Score(record=_standing(records), history=tuple(records)) for records in history.values()]

    def score(self, number: int) -> Score:
        """Raises RecordInvalid where there is none with this number."""
        for score in self.scores():
            if any(record.id == number for record in score.history):
                return score
        raise RecordInvalid(f"{self.path}: there is no record {number}")

    def broken_snapshots(self) -> dict[int, str]:
        """Records whose kept source is gone or no longer has its digest, with what is wrong."""
        found: dict[int, str] = {}
        for score in self.scores():
            for record in score.history:
                if record.snapshot and (problem := self._snapshot_problem(record.snapshot)):
                    found[record.id] = problem
        return found

    def _snapshot_problem(self, digest: str) -> str:
        place = self.snapshots / digest
        try:
            sum_ = hashlib.sha256()
            with place.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    sum_.update(chunk)
        except OSError as error:
            return f"its kept source can't be read: {error.strerror or error} ({place})"
        return "" if sum_.hexdigest() == digest else f"its kept source was changed ({place})"

    # --- the file ---

    @contextmanager
    def _open(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        try:
            if write:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=BUSY_SEC)) as book, book:
                book.row_factory = sqlite3.Row
                version = book.execute("PRAGMA user_version").fetchone()[0]
                if version == 0 and not book.execute("SELECT 1 FROM sqlite_master").fetchone():
                    book.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
                elif version != VERSION:
                    raise BookUnusable(
                        f"{self.path}: not a scorebook of this version (it says {version}, expected {VERSION}); "
                        "name another file with --book"
                    )
                yield book
        except sqlite3.Error as error:
            raise BookUnusable(f"{self.path}: {error}; is it a scorebook? name another with --book") from None
        except OSError as error:
            raise BookUnusable(f"{error.filename or self.path}: {error.strerror or error}") from None


def _standing(history: list[Record]) -> Record:
    """What holds now: the facts of the last correction, the date of the last check."""
    standing = history[0]
    for record in history[1:]:
        if record.kind is Kind.CORRECTION:
            standing = msgspec.structs.replace(standing, **{name: getattr(record, name) for name in FACTS})
        if record.checked_on is not None:
            standing = msgspec.structs.replace(standing, checked_on=record.checked_on)
    return standing


def _row(book: sqlite3.Connection, number: int) -> Record | None:
    row = book.execute("SELECT * FROM records WHERE id = ?", [number]).fetchone()
    return _record(row) if row is not None else None


def _columns(record: Record) -> dict[str, object]:
    plain = msgspec.to_builtins(record, builtin_types=(datetime, date))
    plain.pop("id")
    plain["configuration"] = msgspec.json.encode(record.configuration, order="sorted").decode()
    return {name: value.isoformat() if isinstance(value, date | datetime) else value for name, value in plain.items()}


def _record(row: sqlite3.Row) -> Record:
    plain = dict(row)
    plain["configuration"] = msgspec.json.decode(plain["configuration"], type=dict[str, str])
    return msgspec.convert(plain, Record, strict=False)
