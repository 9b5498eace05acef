"""Labels to files and from files. Slow: call it in a thread. Words for a person come back, nothing is raised."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.regular_file import regular_file
from engine.runs.atomic_file import write_atomically
from engine.state import RunState
from engine.triage.exchange import MOST_BYTES, ExchangeInvalid, Incoming, labels_as_csv, labels_as_json, read_labels
from engine.triage.label_book import LabelBook
from screens import format as fmt

Format = Literal["csv", "json"]


@dataclass(frozen=True)
class Exchanged:
    """`problem` is empty where it went well; `incoming` is what an import found; `there`: nothing was written, since
    there is such a file."""

    said: str = ""
    problem: str = ""
    incoming: Incoming | None = None
    there: Path | None = None


def export_labels(book: LabelBook, run: str, path: Path, kind: Format, *, replacing: bool = False) -> Exchanged:
    """The whole file or none of it; in place of another one only where that is said."""
    if path.is_file() and not replacing:
        return Exchanged(there=path)
    try:
        data = labels_as_csv(book).encode("utf-8", "backslashreplace") if kind == "csv" else labels_as_json(book, run)
        write_atomically(path, data)
    except OSError as error:
        return Exchanged(problem=f"can't write {path}: {error.strerror or error}")
    return Exchanged(said=f"{fmt.count(len(book.records()), 'record')} written to {path}")


def import_labels(path: Path, state: RunState, run: str, book: LabelBook) -> Exchanged:
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("csv", "json"):
        return Exchanged(problem=f"{path}: expected a file that ends in .csv or .json")
    try:
        with regular_file(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return Exchanged(problem=f"can't read {path}: {error.strerror or error}")
    for tries in range(3):
        try:
            return Exchanged(incoming=read_labels(data, kind, state, run, book))
        except ExchangeInvalid as error:
            return Exchanged(problem=f"{path.name}: nothing taken in. {error}")
        except RuntimeError as error:  # the run grew while it was looked through
            if tries == 2:
                return Exchanged(problem=f"{path.name}: {error}; try again")
    raise AssertionError


def export_path(folder: Path, ours: bool, kind: Format) -> Path:
    """Beside the labels in a run of ours; nothing is written into a folder of another tool."""
    return (folder if ours else Path.cwd()) / (f"labels.{kind}" if ours else f"{folder.name}-labels.{kind}")
