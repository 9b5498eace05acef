"""`trialdeck analyse` and `trialdeck power`: what they print and write, and how they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.commands.analyse import analyse
from console.commands.compare import compare
from console.commands.power import power
from console.commands.report import report
from tests.console.one_command import document, refused, told
from tests.screens import fake_run
from tests.screens.test_compare_screen import verdicts
from tests.shared_data import shared_data

CSV = "task,arm,attempt,reward,cost\n" + "".join(
    f"{'django' if task < 6 else 'flask'}__{task},{arm},{attempt},{int(task < passed)},{cost}\n"
    for task in range(12)
    for arm, passed, cost in (("A", 9, 2.0), ("B", 4, 1.0))
    for attempt in (1, 2)
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "one.csv"
    path.write_text(CSV)
    return path


def test_both_real_runs_are_ranked_and_their_blocks_of_time_shown() -> None:
    data = shared_data("terminal-bench-core-0.1.1")
    found = document(analyse, data / "20250924_droid_gpt-5", data / "20250923_droid_claude-4-sonnet")
    assert [(row["rate"], row["rank"], row["attempts"]) for row in found["ranked"]] == [(0.525, 1, 5), (0.505, 1, 5)]
    assert [index["value"] for index in found["indices"]] == pytest.approx([0.525, 0.505])
    assert sum(len(tier["tasks"]) for tier in found["tiers"]) == 79
    assert "1 task without a run that came to its end" in found["notes"][0]
    (blocks,) = found["time_blocks"]
    assert [block["trials"] for block in blocks["blocks"]] == [400, 400] and len(blocks["apart"]) == 1
    assert all(row["cost_usd"]["mean"] is None for row in found["expected"])


def test_csv_files_are_benchmarks_and_rows_of_a_task_its_attempts(table: Path, tmp_path: Path) -> None:
    other = tmp_path / "two.csv"
    other.write_text(CSV)
    found = document(analyse, table, other, "--weight", "one.csv=3", "--benchmark", "three")
    assert found["benchmarks"] == ["one.csv", "two.csv", "three"] and found["arms"] == ["A", "B"]
    assert found["indices"][0]["incomplete"] == ["three: not run"] and found["indices"][0]["value"] is None
    assert found["indices"][0]["weights"]["one.csv"] == pytest.approx(0.6)
    assert document(analyse, table)["expected"][0]["cost_usd"]["mean"] == 2.0


def test_families_stand_in_names_or_in_a_file(table: Path, tmp_path: Path) -> None:
    (row,) = document(analyse, table, "--families", "prefix:__")["families"]
    assert (row["families"], row["largest_family"], row["too_few"]) == (2, 6, True)
    given = tmp_path / "families.csv"
    given.write_text("task,family\n" + "".join(f"django__{task},x\n" for task in range(6)))
    assert document(analyse, table, "--families", given)["families"][0]["families"] == 7
    assert document(analyse, table)["families"] == []
    given.write_text("task,family\na,\n")
    assert "row 2: expected the columns" in refused(analyse, table, "--families", given)
    given.write_text("task,family\na,x\na,y\n")
    assert "row 3: task 'a' is already of family 'x'" in refused(analyse, table, "--families", given)
    assert "expected `category`" in refused(analyse, table, "--families", "nothing")


def test_a_run_of_ours_is_analysed_with_what_its_sessions_tell(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", verdicts(3, 3, 2, 2, 1.0, 2.0))
    result = told(analyse, folder, "--sessions")
    assert result.exit_code == 0, result.exception
    assert "Arms, ranked by overlap of their intervals" in result.stdout and "Refusals" not in result.stdout
    assert "all with a factor of 1" in result.stdout


def test_a_picture_is_written_beside_and_never_into_a_run_of_another_system(table: Path, tmp_path: Path) -> None:
    assert "a.svg written" in told(analyse, table, "--svg", tmp_path / "a.svg").stdout
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    assert told(analyse, table, "--svg", "-").stdout.startswith("<?xml")
    assert "only one of" in refused(analyse, table, "--json", "--svg", "-")
    job = shared_data("terminal-bench-core-0.1.1", "20250924_droid_gpt-5")
    assert "another system's run" in refused(analyse, job, "--svg", job / "a.svg") and not (job / "a.svg").exists()


def test_what_can_not_be_weighed_or_chosen_is_refused(table: Path) -> None:
    assert "expected BENCHMARK=NUMBER" in refused(analyse, table, "--weight", "x")
    assert "no benchmark 'x' to weigh" in refused(analyse, table, "--weight", "x=2")
    assert "no arm 'x'; there are A, B" in refused(analyse, table, "--arm", "x")
    assert [row["arm"] for row in document(analyse, table, "--arm", "B")["ranked"]] == ["B"]


def test_power_says_what_a_design_detects_and_what_a_difference_needs() -> None:
    words = ("--tasks", "66", "--discordant", "16", "--difference", "2")
    assert "this design detects 17.0 points" in told(power, *words).stdout
    found = json.loads(told(power, *words, "--json").stdout)
    assert found["tasks_needed"] == 4757 and found["detectable"] == pytest.approx(0.17, abs=0.005)
    assert "give --tasks" in refused(power)


def test_the_self_test_of_compare_ends_well_and_fails_where_one_answer_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    result = told(compare, "--self-test")
    assert result.exit_code == 0 and "every one is met" in result.stdout
    assert json.loads(told(compare, "--self-test", "--json").stdout)["ok"] is True
    monkeypatch.setattr("engine.analysis.self_test.wilson", lambda passed, of: (0.0, 1.0))
    result = told(compare, "--self-test")
    assert result.exit_code == 1 and "✗ OFF" in result.stdout
    assert "--self-test needs no run" in refused(compare, "x", "--self-test")
    assert "nothing to compare" in refused(compare)


def test_compare_resamples_families_where_it_is_asked_to(table: Path, tmp_path: Path) -> None:
    words = (table, "--families", "prefix:__")
    found = json.loads(told(compare, *words, "--json").stdout)["family_difference"]
    assert (found["families"], found["tasks"], found["low"] < found["estimate"] < found["high"]) == (2, 12, True)
    assert "12 tasks of 2 families, the largest with 6" in " ".join(told(compare, *words).stdout.split())
    assert "by family" in told(compare, *words, "--markdown").stdout
    assert json.loads(told(compare, table, "--json").stdout)["family_difference"] is None
    assert "expected `category`" in refused(compare, table, "--families", "x")


@pytest.mark.parametrize("form", ["--csv", "--markdown", "--html", "--svg"])
def test_every_form_of_a_comparison_tells_of_families(table: Path, form: str) -> None:
    words = [form, "-"] if form in ("--html", "--svg") else [form]
    result = told(compare, table, "--families", "prefix:__", *words)
    assert result.exit_code == 0, result.exception
    assert ("by families of tasks" if form == "--svg" else "by family") in result.stdout
    assert "famil" not in told(compare, table, *words).stdout


def test_the_decision_record_tells_of_families(table: Path) -> None:
    assert "by family" in told(report, table, "--families", "prefix:__").stdout
    assert "by family" not in told(report, table).stdout


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (("--markdown",), "# Analysis: A, B"),
        (("--csv",), '"# source: one.csv'),
        (("--html", "-"), "<!doctype html>"),
        (("--json",), "{"),
    ],
)
def test_an_analysis_is_printed_in_every_form(table: Path, words: tuple[str, ...], begins: str) -> None:
    result = told(analyse, table, *words)
    assert result.exit_code == 0, result.exception
    assert result.stdout.startswith(begins) and "one.csv" in result.stdout


def test_names_of_arms_end_no_block_and_are_no_markup(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("task,arm,reward\nt1,=```<b>,1\nt1,[x](y),0\n")
    text = told(analyse, path, "--markdown").stdout
    assert "\n````text\n" in text and "\n````\n" in text
    assert "<b>" not in told(analyse, path, "--html", "-").stdout
    assert ",'=```<b>," in told(analyse, path, "--csv").stdout


def test_reviews_come_from_a_file_of_their_own(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("task,arm,attempt,review_minutes\ndjango__0,A,1,12\n")
    (row,) = document(analyse, table, "--reviews", path)["reviews"]
    assert (row["arm"], row["minutes"], row["reviewed"]) == ("A", 12.0, 1)
    path.write_text("task,arm,attempt,review_minutes\ndjango__0,A,1,x\n")
    assert "reviews.csv, row 2" in refused(analyse, table, "--reviews", path)


def test_every_form_says_which_runs_task_sets_and_cards_it_is_of(tmp_path: Path) -> None:
    demo = Path(__file__).resolve().parents[2] / "sample_runs" / "recorded" / "demo"
    (source,) = document(analyse, demo)["sources"]
    assert "sample_runs 23e0caa1caf8 (digest b46a5f416b9b)" in source and "card 4759e4fe3be0" in source
    for words in ((), ("--markdown",), ("--csv",), ("--html", "-"), ("--svg", "-")):
        assert "4759e4fe3be0" in told(analyse, demo, *words).stdout
