"""`trialdeck scores` as it is typed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from console.commands.scores import scores
from console.errors import Unusable
from engine.scorebook.record import RecordInvalid
from tests.shared_data import shared_data

DEMO = Path(__file__).resolve().parents[2] / "sample_runs" / "recorded" / "demo"
GIVEN = ("--benchmark", "terminal-bench", "--ran-by", "provider")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "scores.sqlite3"


def typed(book: Path, *words: str) -> Result:
    return CliRunner().invoke(scores, [*words, "--book", str(book)])


def listed(book: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in typed(book, "list", "--json").stdout.splitlines()]


def test_a_score_is_added_with_its_provenance_and_listed(book: Path) -> None:
    words = ("--of", "210/400", "--model", "m-1", "--config", "effort=high", "--made", "2026-09-23")
    assert typed(book, "add", *GIVEN, *words, "--address", "https://example.org").exit_code == 0
    text = typed(book, "list").stdout
    assert "52.5 %  210/400" in text and "made 2026-09-23" in text and "effort=high" in text
    (document,) = listed(book)
    assert (document["schema"], document["value"], document["checked_on"]) == ("trialdeck.score/1", 0.525, None)


def test_what_the_source_does_not_say_is_listed_as_unknown(book: Path) -> None:
    typed(book, "add", *GIVEN)
    assert "unknown" in typed(book, "list").stdout
    (row,) = csv.DictReader(io.StringIO(typed(book, "export", "-").stdout))
    assert (row["value"], row["made_on"], row["model"]) == ("", "", "")


def test_a_correction_shows_what_stood_before(book: Path) -> None:
    typed(book, "add", *GIVEN, "--value", "0.6")
    typed(book, "add", *GIVEN, "--value", "0.5", "--corrects", "1", "--note", "their harness had a fault")
    text = typed(book, "list", "--history").stdout
    assert "50.0 %" in text and "(corrected)" in text and "60.0 %" in text and "their harness had a fault" in text
    assert len(listed(book)) == 1


def test_a_correction_keeps_what_it_does_not_speak_of(book: Path) -> None:
    more = ("--model", "m-1", "--agent", "a 1", "--version", "2.0", "--address", "https://example.org")
    typed(book, "add", *GIVEN, *more, "--of", "42/80", "--low", "0.4", "--high", "0.6", "--made", "2026-09-23")
    assert typed(book, "add", "--corrects", "1", "--of", "43/80").exit_code == 0
    (document,) = listed(book)
    assert (document["value"], document["passed"], document["low"]) == (43 / 80, 43, None)
    assert (document["model"], document["agent"], document["made_on"]) == ("m-1", "a 1", "2026-09-23")
    assert (document["benchmark"], document["benchmark_version"]) == ("terminal-bench", "2.0")
    typed(book, "add", "--corrects", "1", "--unknown", "value", "--unknown", "model")
    (document,) = listed(book)
    assert (document["value"], document["passed"], document["model"], document["agent"]) == (None, None, "", "a 1")


def test_a_run_that_is_over_gives_a_score_of_each_arm(book: Path) -> None:
    assert typed(book, "add", "--from", str(DEMO), "--config", "note=x", "--note", "mine").exit_code == 0
    one, two = listed(book)
    assert (one["passed"], one["assigned"], one["value"]) == (30, 30, 1.0)
    assert (two["passed"], two["assigned"], two["ran_by"], two["note"]) == (14, 30, "ours", "mine")
    assert two["card_digest"] and two["run"] and two["low"] is not None and two["benchmark"] == "sample_runs"
    assert isinstance(two["configuration"], dict)
    assert two["configuration"]["arm"] == "replay" and two["configuration"]["note"] == "x"
    assert typed(book, "add", "--from", str(DEMO), "--arm", "replay", "--value", "0.5").exit_code == 0
    assert (listed(book)[2]["value"], listed(book)[2]["passed"]) == (0.5, None)


def test_a_run_of_another_system_needs_to_be_said_who_ran_it(book: Path) -> None:
    folder = str(shared_data("terminal-bench-core-0.1.1", "20250924_droid_gpt-5"))
    assert isinstance(typed(book, "add", "--from", folder).exception, Unusable)
    assert typed(book, "add", "--from", folder, "--ran-by", "independent").exit_code == 0
    (document,) = listed(book)
    assert (document["passed"], document["assigned"], document["made_on"]) == (210, 400, "2025-09-24")


def test_a_source_that_changed_since_is_told_when_it_is_checked(book: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("52.5")
    typed(book, "add", *GIVEN, "--value", "0.525", "--snapshot", str(page))
    assert typed(book, "check", "1", "--snapshot", str(page)).exit_code == 0
    page.write_text("62.5")
    changed = typed(book, "check", "1", "--snapshot", str(page))
    assert changed.exit_code == 1 and "the source changed" in changed.stdout


def test_scores_that_nobody_looked_at_for_long_are_named(book: Path) -> None:
    typed(book, "add", *GIVEN, "--value", "0.5", "--read", "2020-01-01")
    old = typed(book, "check")
    assert old.exit_code == 1 and "last looked at on 2020-01-01" in old.stdout
    typed(book, "check", "1")
    assert typed(book, "check").exit_code == 0


def test_a_text_that_a_spreadsheet_would_run_is_exported_as_text(book: Path, tmp_path: Path) -> None:
    typed(book, "add", *GIVEN, "--note", '=HYPERLINK("x")')
    target = tmp_path / "scores.csv"
    assert typed(book, "export", str(target)).exit_code == 0
    (row,) = csv.DictReader(io.StringIO(target.read_text()))
    assert row["note"] == '\'=HYPERLINK("x")'


@pytest.mark.parametrize(
    ("words", "error", "why"),
    [
        (("add", *GIVEN, "--of", "42"), Unusable, "expected passed/assigned"),
        (("add", *GIVEN, "--made", "yesterday"), Unusable, "expected a date"),
        (("add", *GIVEN, "--config", "high"), Unusable, "KEY=VALUE"),
        (("add", *GIVEN, "--value", "52"), RecordInvalid, "between 0 and 1"),
        (("add",), Unusable, "^--benchmark and --ran-by missing: .* --from RUN"),
        (("add", "--benchmark", "b"), Unusable, "^--ran-by missing"),
        (("add", "--corrects", "3", "--value", "0.5"), RecordInvalid, "no record 3"),
        (("add", *GIVEN, "--unknown", "model"), Unusable, "is for corrections"),
        (("add", "--from", str(DEMO), "--arm", "nobody"), Unusable, "there are oracle, replay"),
        (("add", "--from", str(DEMO), "--corrects", "1"), Unusable, "give one of them"),
        (("add", "--arm", "a", *GIVEN), Unusable, "is for --from"),
        (("check", "7"), RecordInvalid, "no record 7"),
        (("export", "scores.xlsx"), Unusable, r"\.csv or \.json"),
    ],
)
def test_what_can_not_be_is_refused_with_its_reason(
    book: Path, words: tuple[str, ...], error: type[Exception], why: str
) -> None:
    answer = typed(book, *words)
    with pytest.raises(error, match=why):
        assert answer.exception is not None
        raise answer.exception
    assert listed(book) == []
