"""The scorebook: provenance beside each score, corrections as added records, missing stays missing."""

from __future__ import annotations

import sqlite3
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.scorebook.record import Kind, RanBy, Record, RecordInvalid
from engine.scorebook.store import BookUnusable, Scorebook

NOW = datetime(2026, 10, 8, 12, 0, tzinfo=UTC)


def score(**more: Any) -> Record:
    given: dict[str, Any] = {"benchmark": "terminal-bench", "ran_by": RanBy.PROVIDER, "added_at": NOW, **more}
    return Record(**given)


@pytest.fixture
def book(tmp_path: Path) -> Scorebook:
    return Scorebook(tmp_path / "books" / "scores.sqlite3")


def test_a_score_is_read_back_as_it_was_added(book: Scorebook) -> None:
    added = book.add(
        score(
            benchmark_version="2.1",
            value=0.525,
            low=0.44,
            high=0.61,
            model="m",
            agent="droid",
            configuration={"effort": "high", "tools": "bash"},
            address="https://example.org/results",
            made_on=date(2026, 9, 23),
            read_on=date(2026, 10, 8),
            note="five attempts",
        )
    )
    assert added.id == 1
    (found,) = book.scores()
    assert found.record == added and not found.corrected and not found.withdrawn


def test_what_is_missing_stays_missing_and_is_not_zero(book: Scorebook) -> None:
    book.add(score())
    (found,) = book.scores()
    assert (found.record.value, found.record.made_on, found.record.passed) == (None, None, None)


def test_a_count_gives_the_value_and_contradicts_a_wrong_one(book: Scorebook) -> None:
    assert book.add(score(passed=210, assigned=400)).value == 0.525
    assert book.add(score(passed=210, assigned=400, value=0.53)).value == 0.53
    with pytest.raises(RecordInvalid, match=r"value is 0\.6, but 210 of 400 is 0\.5250"):
        book.add(score(passed=210, assigned=400, value=0.6))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"benchmark": ""}, "benchmark is missing"),
        ({"ran_by": None}, "ran_by is missing"),
        ({"value": 52.5}, "a fraction lies between 0 and 1"),
        ({"value": float("nan")}, "expected a finite number"),
        ({"passed": 3}, "come together"),
        ({"passed": 5, "assigned": 4}, "passed is 5 of 4"),
        ({"passed": 1, "assigned": 2, "unit": "points"}, "the unit is 'points'"),
        ({"low": 0.6, "high": 0.5}, "above high"),
        ({"low": 0.6}, "low and high come together"),
        ({"kind": Kind.CORRECTION}, "needs the number"),
        ({"about": 1}, "about no other record"),
        ({"kind": Kind.CHECK, "about": 9}, "there is no record 9"),
    ],
)
def test_a_record_that_means_nothing_is_refused(book: Scorebook, wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(RecordInvalid, match=why):
        book.add(score(**wrong))
    assert book.scores() == []


def test_points_are_taken_with_their_unit(book: Scorebook) -> None:
    assert book.add(score(value=52.5, unit="points")).value == 52.5


def test_a_correction_is_an_added_record_and_the_first_one_stays(book: Scorebook) -> None:
    book.add(score(value=0.5, model="m"))
    book.add(score(kind=Kind.CORRECTION, about=1, value=None, model="m", note="the harness had a bug"))
    (found,) = book.scores()
    assert found.corrected and found.record.id == 1 and found.record.value is None
    assert [record.value for record in found.history] == [0.5, None]
    with pytest.raises(RecordInvalid, match="name record 1"):
        book.add(score(kind=Kind.CORRECTION, about=2, value=0.4))


def test_a_check_moves_the_date_of_the_last_check_and_nothing_else(book: Scorebook) -> None:
    book.add(score(value=0.5, checked_on=date(2026, 1, 1)))
    book.add(Record(kind=Kind.CHECK, about=1, added_at=NOW, checked_on=date(2026, 10, 8)))
    (found,) = book.scores()
    assert (found.record.value, found.record.checked_on, found.corrected) == (0.5, date(2026, 10, 8), False)


def test_a_withdrawn_score_is_still_there(book: Scorebook) -> None:
    book.add(score(value=0.5))
    book.add(Record(kind=Kind.WITHDRAWAL, about=1, added_at=NOW, note="contaminated"))
    assert book.score(1).withdrawn and book.score(2).record.id == 1


@pytest.mark.parametrize("statement", ["UPDATE records SET value = 1", "DELETE FROM records"])
def test_no_program_edits_or_deletes_a_record(book: Scorebook, statement: str) -> None:
    book.add(score(value=0.5))
    with sqlite3.connect(book.path) as direct, pytest.raises(sqlite3.IntegrityError, match="never"):
        direct.execute(statement)
    assert book.score(1).record.value == 0.5


def test_a_kept_source_that_was_changed_or_lost_is_found(book: Scorebook, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>52.5 %</p>")
    digest = book.keep(page)
    assert book.keep(page) == digest and len(list(book.snapshots.iterdir())) == 1
    book.add(score(value=0.525, snapshot=digest))
    assert book.broken_snapshots() == {}
    (book.snapshots / digest).write_text("<p>62.5 %</p>")
    assert "was changed" in book.broken_snapshots()[1]
    (book.snapshots / digest).unlink()
    assert "can't be read" in book.broken_snapshots()[1]


def test_a_file_that_is_no_scorebook_is_said_to_be_none_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, and they are not a database at all")
    with pytest.raises(BookUnusable, match=r"notes\.txt"):
        Scorebook(path).add(score(value=0.5))
    assert path.read_text().startswith("these are my notes")
    other = tmp_path / "other.sqlite3"
    with sqlite3.connect(other) as direct:
        direct.execute("CREATE TABLE mine (x)")
    with pytest.raises(BookUnusable, match="not a scorebook"):
        Scorebook(other).scores()


def test_a_missing_book_has_no_scores_and_is_not_made_by_looking(book: Scorebook) -> None:
    assert book.scores() == []
    assert not book.path.exists()
