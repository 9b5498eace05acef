"""Labels as CSV and JSON, out and in again: who and when stay, nothing comes in twice."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import msgspec

from engine.issues import Evidence
from engine.json_document import json_document
from engine.state import RunState
from engine.triage.causes import Cause
from engine.triage.label_book import LabelBook
from engine.triage.labels import Label
from engine.triage.new_label import MOST_NOTE
from engine.triage.who import clean_name

SCHEMA = "trialdeck.labels/1"
COLUMNS = (
    "trial",
    "task",
    "arm",
    "attempt",
    "who",
    "at",
    "kind",
    "cause",
    "note",
    "proposed",
    "blind",
    "run",
    "id",
    "evidence",
)
NEEDED = ("who", "at", "cause")
"""A label file made by hand may lack the others, but for what names the trial: `trial`, or task, arm and attempt."""
KINDS = ("label", "settle", "skip")
MOST_BYTES = 64 << 20
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%", "'")
_MOST_PROBLEMS = 20


class Problem(msgspec.Struct, frozen=True):
    """`row` counts the file's records from 1, a CSV's header being 1; 0 for the file as a whole."""

    row: int
    column: str
    text: str

    def __str__(self) -> str:
        where = f"row {self.row}" if self.row else "the file"
        return f"{where}, {self.column}: {self.text}" if self.column else f"{where}: {self.text}"


class ExchangeInvalid(Exception):
    """Nothing was taken in. `problems` names rows and columns, the message lists the first of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        more = len(self.problems) - _MOST_PROBLEMS
        shown = [str(problem) for problem in self.problems[:_MOST_PROBLEMS]]
        super().__init__("\n".join([*shown, f"and {more} more"] if more > 0 else shown))


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """`labels` are new here, in the file's order, and are to be appended; `known` were here before; `unknown` names
    trials that this run hasn't got; `other_runs` identities of runs that the file's labels were made on."""

    labels: tuple[Label, ...]
    known: int
    unknown: tuple[str, ...]
    other_runs: tuple[str, ...] = ()


# --- out --------------------------------------------------------------------------------------------------------------


def labels_as_json(book: LabelBook, run: str) -> bytes:
    """Every standing record: labels, settlements, skips."""
    document = {"schema": SCHEMA, "run": run, "labels": [_record(label) for label in book.records()]}
    return json.dumps(document, indent=2, ensure_ascii=True).encode() + b"\n"


def labels_as_csv(book: LabelBook) -> str:
    """As `labels_as_json`, a row a record. A text that a spreadsheet would take for a formula is begun by an
    apostrophe, and so is one that begins with an apostrophe; reading takes one away."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\r\n")  # so that a lone carriage return in a note is quoted
    rows.writerow(COLUMNS)
    for label in book.records():
        record = _record(label)
        record["evidence"] = json.dumps(record["evidence"]) if record["evidence"] else ""
        record["blind"] = "yes" if label.blind else ""
        rows.writerow([_safe(str(record[name])) for name in COLUMNS])
    return out.getvalue()


def _record(label: Label) -> dict[str, Any]:
    return {
        "trial": label.trial,
        "task": label.task,
        "arm": label.arm,
        "attempt": label.attempt,
        "who": label.who,
        "at": label.at.isoformat(),
        "kind": label.kind,
        "cause": str(label.cause or ""),
        "note": label.note,
        "proposed": str(label.proposed or ""),
        "blind": label.blind,
        "run": label.run,
        "id": label.id,
        "evidence": msgspec.to_builtins(label.evidence),
    }


def _safe(text: str) -> str:
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


# --- in ---------------------------------------------------------------------------------------------------------------


def read_labels(data: bytes, kind: str, state: RunState, run: str, book: LabelBook) -> Incoming:
    """`kind`: csv or json; `run` is this run's identity. Raises ExchangeInvalid with everything that is wrong.

    A trial is found by its id, else by task, arm and attempt, so that labels survive a move between tools.
    """
    if len(data) > MOST_BYTES:
        raise ExchangeInvalid(
            [Problem(0, "", f"{len(data):,} bytes; labels of a run are at most {MOST_BYTES >> 20} MiB")]
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExchangeInvalid([Problem(0, "", f"not UTF-8 (byte {error.start})")]) from None
    rows = _csv_rows(text) if kind == "csv" else _json_rows(text)
    by_name = {(trial.task, trial.arm, trial.attempt): trial.trial for trial in state.trials.values()}
    labels: list[Label] = []
    unknown: list[str] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    contents: dict[Label, int] = {}
    others: dict[str, None] = {}
    for number, row in rows:
        reading = _Reading(number, row)
        label = reading.label(run)
        problems += reading.problems
        if label is None:
            continue
        bare = msgspec.structs.replace(label, id="")
        twice = seen.get(label.id) or contents.get(bare)
        if twice:
            problems.append(Problem(number, "id" if label.id in seen else "", f"the same label as in row {twice}"))
            continue
        seen[label.id] = contents[bare] = number
        if (made_on := row.get("run")) and isinstance(made_on, str) and made_on != run:
            others[made_on] = None
        trial = label.trial if label.trial in state.trials else by_name.get((label.task, label.arm, label.attempt))
        if trial is None:
            unknown.append(label.trial or f"{label.task} {label.arm} {label.attempt}")
            continue
        known = state.trials[trial]
        labels.append(
            msgspec.structs.replace(label, trial=trial, task=known.task, arm=known.arm, attempt=known.attempt)
        )
    if problems:
        raise ExchangeInvalid(problems)
    new = tuple(label for label in labels if label.id not in book)
    return Incoming(
        labels=new, known=len(labels) - len(new), unknown=tuple(dict.fromkeys(unknown)), other_runs=tuple(others)
    )


def _csv_rows(text: str) -> Iterable[tuple[int, dict[str, object]]]:
    csv.field_size_limit(MOST_BYTES)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=_delimiter(text)))
    except csv.Error as error:
        raise ExchangeInvalid([Problem(0, "", f"not CSV: {error}")]) from None
    if not rows:
        raise ExchangeInvalid([Problem(0, "", f"empty; expected a header with {', '.join(NEEDED)}")])
    header = [name.strip() for name in rows[0]]
    problems = [Problem(1, name or "(no name)", "no such column") for name in header if name not in COLUMNS]
    problems += [Problem(1, name, "twice") for name in sorted(set(header)) if header.count(name) > 1]
    problems += [Problem(1, name, "this column is needed") for name in NEEDED if name not in header]
    if "trial" not in header and not {"task", "arm", "attempt"} <= set(header):
        problems.append(Problem(1, "trial", "this column is needed (or task, arm and attempt)"))
    problems += [
        Problem(number, "", f"{len(row)} cells, the header has {len(header)}")
        for number, row in enumerate(rows[1:], 2)
        if row and len(row) != len(header)
    ]
    if problems:
        raise ExchangeInvalid(problems)
    return [
        (number, {name: cell.removeprefix("'") for name, cell in zip(header, row, strict=True)})
        for number, row in enumerate(rows[1:], 2)
        if row
    ]


def _delimiter(text: str) -> str:
    """A spreadsheet writes semicolons where the comma is in use for decimals, and tabs where it is asked for text."""
    header = text.splitlines()[0] if text else ""
    return next((mark for mark in (",", ";", "\t") if mark in header), ",")


def _json_rows(text: str) -> Iterable[tuple[int, dict[str, object]]]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExchangeInvalid([Problem(0, "", f"not JSON: {error}")]) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ExchangeInvalid([Problem(0, "schema", f'expected an object with "schema": "{SCHEMA}"')])
    labels = document.get("labels")
    if not isinstance(labels, list):
        raise ExchangeInvalid([Problem(0, "labels", "expected a list")])
    problems = [
        Problem(number, "", "expected an object") for number, row in enumerate(labels, 1) if not isinstance(row, dict)
    ]
    problems += [
        Problem(number, str(name), "no such key")
        for number, row in enumerate(labels, 1)
        if isinstance(row, dict)
        for name in row
        if name not in COLUMNS
    ]
    if problems:
        raise ExchangeInvalid(problems)
    return list(enumerate(labels, 1))


class _Reading:
    """One record on its way in; what is wrong with it gathers in `problems`."""

    def __init__(self, number: int, row: dict[str, object]) -> None:
        self.number = number
        self.row = row
        self.problems: list[Problem] = []

    def label(self, run: str) -> Label | None:
        who = clean_name(self._text("who"))
        if not who:
            self._wrong("who", "missing")
        kind = self._text("kind") or "label"
        if kind not in KINDS:
            self._wrong("kind", f"{kind!r}; expected one of {', '.join(KINDS)}")
        cause = self._cause("cause")
        if kind in ("label", "settle") and cause is None and not self._text("cause"):
            self._wrong("cause", f"missing; expected one of {', '.join(Cause)}")
        if kind == "skip" and self._text("cause"):
            self._wrong("cause", "a skip has none")
        note = self._text("note")
        if len(note) > MOST_NOTE:
            self._wrong("note", f"{len(note):,} characters; the longest is {MOST_NOTE:,}")
        at = self._moment()
        attempt = self._attempt()
        trial, task, arm = self._text("trial"), self._text("task"), self._text("arm")
        if not trial and not (task and arm and self.row.get("attempt") not in (None, "")):
            self._wrong("trial", "missing; it is needed, or task, arm and attempt")
        evidence = self._evidence()
        blind = self._blind()
        proposed = self._cause("proposed")
        if self.problems or at is None:
            return None
        label = Label(
            id=self._text("id"),
            at=at,
            who=who,
            run=run,
            trial=trial,
            task=task,
            arm=arm,
            attempt=attempt,
            kind=kind,
            cause=cause,
            note=note,
            evidence=evidence,
            proposed=proposed,
            blind=blind,
            imported=True,
        )
        return label if label.id else msgspec.structs.replace(label, id=_made_id(label))

    def _wrong(self, column: str, text: str) -> None:
        self.problems.append(Problem(self.number, column, text))

    def _text(self, column: str) -> str:
        found = self.row.get(column)
        if found is None:
            return ""
        if not isinstance(found, str):
            self._wrong(column, f"expected text, found {json.dumps(found)[:80]}")
            return ""
        return found if column == "note" else found.strip()

    def _cause(self, column: str) -> Cause | None:
        text = self._text(column)
        try:
            return Cause(text) if text else None
        except ValueError:
            self._wrong(column, f"{text[:80]!r}; expected one of {', '.join(Cause)}")
            return None

    def _moment(self) -> datetime | None:
        text = self._text("at")
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            self._wrong(
                "at", f"{text[:80]!r}; expected a time such as 2026-05-01T09:30:00+02:00" if text else "missing"
            )
            return None
        if found.tzinfo is None:
            self._wrong("at", f"{text[:80]!r} has no offset; write 2026-05-01T09:30:00+02:00, or Z for UTC")
            return None
        return found

    def _attempt(self) -> int:
        found = self.row.get("attempt")
        if found in (None, ""):
            return 1
        if isinstance(found, str) and found.isascii() and found.isdigit():
            found = int(found[:9])
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            self._wrong("attempt", f"{str(found)[:80]!r}; expected a whole number from 1")
            return 1
        return found

    def _blind(self) -> bool:
        found = self.row.get("blind")
        known = {None: False, "": False, "no": False, "yes": True, "false": False, "true": True}
        if isinstance(found, bool):
            return found
        key = found.lower() if isinstance(found, str) else found
        if not isinstance(key, str | None) or key not in known:
            self._wrong("blind", f"{str(found)[:80]!r}; expected yes or nothing")
            return False
        return known[key]

    def _evidence(self) -> tuple[Evidence, ...]:
        found = self.row.get("evidence")
        if found in (None, ""):
            return ()
        try:
            value = json.loads(found) if isinstance(found, str) else found
            evidence = msgspec.convert(value, tuple[Evidence, ...])
        except (msgspec.ValidationError, ValueError, RecursionError):
            self._wrong("evidence", "expected a list of objects with label, text, file and line")
            return ()
        for item in evidence:
            if PurePosixPath(item.file).is_absolute() or "\0" in item.file:
                self._wrong("evidence", f"{item.file[:80]!r}; expected a path from the trial's folder")
        return evidence


def _made_id(label: Label) -> str:
    """Of a label written by hand: the same content has the same id, so that importing it twice adds nothing."""
    content = json_document(msgspec.structs.replace(label, run="", imported=False))
    return "made-" + hashlib.sha256(content).hexdigest()[:32]
