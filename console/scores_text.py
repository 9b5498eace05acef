"""Scores of the scorebook as text, as CSV and as documents."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import msgspec

from engine.analysis.safe_cell import safe_cell
from engine.scorebook.record import FACTS, Kind, Record
from engine.scorebook.store import Score

SCHEMA = "trialdeck.score/1"
SCORE_COLUMNS = ("id", *FACTS, "checked_on", "corrected", "withdrawn", "note")
UNKNOWN = "—"


def document(score: Score) -> dict[str, Any]:
    """Missing facts are null. `history` are all records, the first one the score's own."""
    plain: dict[str, Any] = msgspec.to_builtins(score.record)
    return {
        "schema": SCHEMA,
        **plain,
        "corrected": score.corrected,
        "withdrawn": score.withdrawn,
        "history": msgspec.to_builtins(score.history),
    }


def csv_lines(scores: Sequence[Score]) -> list[str]:
    """RFC 4180 without the line ends; a text that a spreadsheet would take for a formula begins with an apostrophe."""
    rows: list[list[object]] = [list(SCORE_COLUMNS)]
    rows += ([_cell(facts[name]) for name in SCORE_COLUMNS] for facts in map(document, scores))
    lines = []
    for row in rows:
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(row)
        lines.append(text.getvalue())
    return lines


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, dict):
        value = "; ".join(f"{key}={item}" for key, item in sorted(value.items()))
    return safe_cell(value) if isinstance(value, str) else value


def score_lines(score: Score, *, history: bool) -> list[str]:
    record = score.record
    name = " ".join(part for part in (record.benchmark, record.benchmark_version, record.metric) if part)
    marks = " · ".join(word for word, said in (("withdrawn", score.withdrawn), ("corrected", score.corrected)) if said)
    head = f"{record.id:>4}  {name}  {value_text(record)}" + (f"  ({marks})" if marks else "")
    who = " ".join(part for part in (record.model or UNKNOWN, record.agent, *_configuration(record)) if part)
    by = f"ran by {record.ran_by}" + (f" ({record.ran_by_name})" if record.ran_by_name else "")
    days = f"made {record.made_on or UNKNOWN}, read {record.read_on or UNKNOWN}, checked {record.checked_on or UNKNOWN}"
    lines = [head, f"      {who}", f"      {by} · {days}" + (f" · {record.address}" if record.address else "")]
    if record.note:
        lines.append(f"      {record.note}")
    if history:
        lines += [f"      {_history_line(one)}" for one in score.history]
    return lines


def value_text(record: Record) -> str:
    """With its count and interval; unknown is said to be."""
    if record.value is None:
        return "unknown"
    points = record.unit == "fraction"
    scale, sign = (100.0, " %") if points else (1.0, f" {record.unit}")
    text = f"{record.value * scale:.1f}{sign}" if points else f"{record.value:g}{sign}"
    if record.passed is not None:
        text += f"  {record.passed}/{record.assigned}"
    if record.low is not None and record.high is not None:
        text += f"  {record.low * scale:.1f} to {record.high * scale:.1f}"
    return text


def _configuration(record: Record) -> list[str]:
    return [f"{key}={value}" for key, value in sorted(record.configuration.items())]


def _history_line(record: Record) -> str:
    said = f"{value_text(record)}" if record.kind in (Kind.SCORE, Kind.CORRECTION) else ""
    parts = [f"{record.added_at:%Y-%m-%d}", f"record {record.id}", str(record.kind), said, record.note]
    return "  ".join(part for part in parts if part)
