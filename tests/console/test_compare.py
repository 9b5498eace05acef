"""`trialdeck compare` without a screen: what it prints and writes, and how it refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import msgspec
import pytest

from console.commands.compare import compare
from engine import events as ev
from tests.console.one_command import document, refused, told
from tests.screens import fake_run
from tests.screens.test_compare_screen import verdicts
from tests.shared_data import shared_data

WORKED = "task,arm,attempt,reward,cost\n" + "".join(
    f"t{task:03},{arm},1,{int(passed)},{cost}\n"
    for task, pair in enumerate([(1, 1)] * 50 + [(1, 0)] * 20 + [(0, 1)] * 10 + [(0, 0)] * 20)
    for arm, passed, cost in (("A", pair[0], 2.0), ("B", pair[1], 1.2))
)
"""The worked example: 50, 20, 10, 20 of 100; $2.86 and $2.00."""


@pytest.fixture
def worked(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text(WORKED)
    return path


def test_the_worked_example_from_a_csv_file(worked: Path) -> None:
    found = document(compare, worked)
    assert found["table"] == {"both": 50, "a_only": 20, "b_only": 10, "neither": 20}
    assert found["mcnemar"]["exact"] == pytest.approx(0.0987, abs=5e-5)
    assert [round(arm["cost_per_resolved"], 2) for arm in found["arms"]] == [2.86, 2.00]
    assert found["cascade"] == {"tasks": 100, "resolved": 80, "cost_total": 200.0, "per_resolved": 2.5}
    assert document(compare, worked, "--baseline", "B")["arms"][0]["name"] == "B"


def test_both_real_runs_give_their_known_answers() -> None:
    data = shared_data("terminal-bench-core-0.1.1")
    runs = (data / "20250924_droid_gpt-5", data / "20250923_droid_claude-4-sonnet")
    found = document(compare, *runs)
    assert [arm["rate"] for arm in found["arms"]] == [0.525, 0.505]
    assert found["difference"]["estimate"] == pytest.approx(0.020)
    assert found["difference"]["standard_error"] == pytest.approx(0.03272, abs=5e-6)
    assert found["table"] == {"both": 34, "a_only": 5, "b_only": 9, "neither": 32}
    assert found["mcnemar"]["exact"] == pytest.approx(0.4240, abs=5e-5)
    assert any("not known of either side" in text for text in found["card_unknowns"])


def test_one_run_is_printed_as_text_with_its_question_and_its_source(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", verdicts(3, 3, 2, 2, 1.0, 2.0))
    result = told(compare, folder)
    assert result.exit_code == 0
    assert "A − B  +10.0 points" in result.stdout
    assert "question: controlled model: only the model differs" in result.stdout
    assert "A and B: sonnet against sol · trialdeck run tb4-7f3a91c · terminal-bench 4.0.0" in result.stdout


def test_every_format_is_printed_or_written_and_only_one_goes_to_stdout(worked: Path, tmp_path: Path) -> None:
    assert told(compare, worked, "--markdown").stdout.startswith("## A against B")
    assert "task,outcome," in told(compare, worked, "--csv").stdout
    result = told(compare, worked, "--html", tmp_path / "c.html", "--svg", tmp_path / "c.svg")
    assert result.exit_code == 0 and "c.html written" in result.stdout
    assert "<svg" in (tmp_path / "c.html").read_text() and (tmp_path / "c.svg").read_text().startswith("<?xml")
    assert told(compare, worked, "--svg", "-").stdout.startswith("<?xml")
    assert "only one of --json and --svg" in refused(compare, worked, "--json", "--svg", "-")


def test_nothing_is_written_into_a_run_of_another_system(worked: Path) -> None:
    job = shared_data("terminal-bench-core-0.1.1", "20250924_droid_gpt-5")
    other = shared_data("terminal-bench-core-0.1.1", "20250923_droid_claude-4-sonnet")
    assert "another system's run" in refused(compare, job, other, "--html", job / "c.html")
    assert not (job / "c.html").exists()


def test_what_can_not_be_compared_is_refused_with_a_way_out(tmp_path: Path, worked: Path) -> None:
    one = fake_run.write(tmp_path / "one", verdicts(3, 1, 0, 0, 1.0, 1.0))
    two = fake_run.write(tmp_path / "two", verdicts(2, 0, 0, 0, 1.0, 1.0))
    assert "one arm alone (sonnet-5.5)" in refused(compare, one, "--arm", "sonnet-5.5")
    assert "no arm 'x'; there are sonnet-5.5, sol-6.1" in refused(compare, one, "--arm", "x")
    assert "--join them" in refused(compare, one, two, "--arm", "sol-6.1")
    said = refused(compare, one, two, "--arm", "one:sol-6.1", "--arm", "two:sol-6.1")
    assert "only in A" in said and "--common-tasks" in said
    assert document(compare, one, two, "--arm", "one:sol-6.1", "--arm", "two:sol-6.1", "--common-tasks")["tasks"] == 2
    assert "expected `all` or `first`" in refused(compare, one, "--attempts", "last")
    worked.write_text("task,arm,reward\nt1,A,1\nt2,A,1\nt1,B,1\n")
    assert "row 3: task 't2' is only in arm 'A'" in refused(compare, worked)
    assert document(compare, worked, "--common-tasks")["only_in_a"] == ["t2"]


def test_runs_of_one_submission_are_joined_as_attempts(tmp_path: Path) -> None:
    one = fake_run.write(tmp_path / "one", verdicts(2, 1, 1, 0, 1.0, 1.0))
    two = fake_run.write(tmp_path / "two", verdicts(1, 1, 1, 1, 1.0, 1.0))
    found = document(compare, one, two, "--join")
    assert [arm["attempts_per_task"] for arm in found["arms"]] == [2, 2] and found["tasks"] == 4
    assert {source["label"] for source in found["sources"]} == {"one", "two"}
    assert document(compare, one, two, "--join", "--attempts", "first")["arms"][0]["assigned"] == 4


def test_more_than_two_arms_are_each_compared_with_the_baseline(tmp_path: Path) -> None:
    events = verdicts(2, 1, 1, 1, 1.0, 1.0)
    planned = events[0]
    assert isinstance(planned, ev.RunPlanned)
    events[0] = msgspec.structs.replace(planned, arms=(*planned.arms, ev.ArmInfo(name="third", agent="nop")))
    for task in range(5):
        trial = f"third-{task}"
        name = fake_run.TASKS[task]
        events.append(ev.TrialPlanned(trial=trial, task=name, arm="third", attempt=1, position=task))
        events += [*fake_run.begun(trial, task), *fake_run.ended(trial, task + 300, False)]
    folder = fake_run.write(tmp_path / "run", events)
    found = document(compare, folder)
    assert [one["arms"][1]["name"] for one in found["comparisons"]] == ["sol-6.1", "third"]
    assert found["comparisons"][1]["standings"][2]["adjusted"]["looked_at"] == 2
    assert "2 arms looked at against the baseline" in told(compare, folder).stdout


def test_every_format_has_all_of_more_than_two_arms(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    rows = "".join(
        f"t{n},{arm},{int(n % step == 0)}\n" for n in range(8) for arm, step in (("X", 1), ("Y", 2), ("Z", 4))
    )
    path.write_text(f"task,arm,reward\n{rows}")
    found = document(compare, path)
    assert [(arm["name"], arm["resolved"]) for arm in found["arms"]] == [("X", 8), ("Y", 4), ("Z", 2)]
    assert [arm["rank"] for arm in found["standings"]] == [1, 1, 2]
    lines = [line for line in told(compare, path, "--csv").stdout.splitlines() if not line.startswith(("#", '"#'))]
    read = list(csv.DictReader(lines))
    assert [(row["arm_a"], row["arm_b"]) for row in read] == [("X", "Y")] * 8 + [("X", "Z")] * 8
    page, picture = told(compare, path, "--html", "-").stdout, told(compare, path, "--svg", "-").stdout
    assert "<h1>X against Y</h1>" in page and "<h1>X against Z</h1>" in page and page.count("<h2>All arms</h2>") == 1
    assert "A − B, points" in picture and "A − Z" in picture
    assert told(compare, path, "--markdown").stdout.count("## X against") == 2


def test_case_88_tasks_that_all_differ_alike_are_not_said_to_agree(worked: Path) -> None:
    rows = "".join(f"t{n},{attempt},1,0\n" for n in range(8) for attempt in (1, 2))
    worked.write_text(f"task_id,attempt,a_pass,b_pass\n{rows}")
    assert "tasks don't vary: what this design detects can't be told" in told(compare, worked).stdout
    worked.write_text("task_id,a_pass,b_pass\n" + "".join(f"t{n},1,1\n" for n in range(8)))
    assert "nothing disagrees: what this design detects can't be told" in told(compare, worked).stdout


def test_a_folder_of_runs_stands_for_the_runs_in_it(tmp_path: Path) -> None:
    fake_run.write(tmp_path / "runs" / "two", verdicts(1, 1, 1, 1, 1.0, 1.0))
    fake_run.write(tmp_path / "runs" / "one", verdicts(2, 1, 1, 0, 1.0, 1.0))
    found = document(compare, tmp_path / "runs", "--join")
    assert {source["label"] for source in found["sources"]} == {"one", "two"}
    (tmp_path / "none").mkdir()
    assert "no run in it" in refused(compare, tmp_path / "none")


def test_tasks_that_have_nothing_in_common_get_no_advice_that_can_not_help(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task,reward\nt1,1\n")
    (tmp_path / "b.csv").write_text("task,reward\nt2,1\n")
    said = refused(compare, tmp_path / "a.csv", tmp_path / "b.csv")
    assert "0 in common" in said and "--common-tasks" not in said
