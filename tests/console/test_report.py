"""`trialdeck report`: the decision record, from runs and tables, in Markdown, HTML and JSON."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from console.commands.report import report
from console.errors import Unusable
from engine import events as ev
from engine.runs.card import CardTask, Question, RunCard, Split, write_card
from tests.console.one_command import told
from tests.console.test_compare import WORKED
from tests.screens import fake_run
from tests.screens.test_compare_screen import verdicts
from tests.shared_data import shared_data

SECTIONS = (
    "Question",
    "Population",
    "Acceptance rule",
    "Budget",
    "Result",
    "Sensitivity",
    "Limits",
    "What would settle the rest",
    "Sources",
)


def headings(markdown: str) -> tuple[str, ...]:
    return tuple(line.removeprefix("## ") for line in markdown.splitlines() if line.startswith("## "))


def section(markdown: str, title: str) -> str:
    return markdown.split(f"## {title}\n")[1].split("\n## ")[0]


def card(folder: Path, **changes: object) -> None:
    tasks = tuple(CardTask(id=task, folder=f"/t/{task}", digest="1" * 64) for task in fake_run.TASKS)
    given = {
        "run": "r",
        "name": "n",
        "created": datetime(2026, 1, 2, tzinfo=UTC),
        "engine_version": "1.2",
        "arms": (ev.ArmInfo(name="x", agent="nop"),),
        "task_set": ev.TaskSetInfo(name="set"),
        "tasks": tasks,
        **changes,
    }
    write_card(folder, msgspec.convert(given, RunCard, from_attributes=True))


def test_every_part_of_a_decision_record_is_there(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", verdicts(3, 3, 2, 2, 1.0, 2.0))
    card(folder, question=Question.PRODUCT, hypothesis="A is better", acceptance="reward >= 0.5")
    result = told(report, folder)
    assert result.exit_code == 0, result.exception
    assert headings(result.stdout) == SECTIONS
    assert "stated before the run: product" in section(result.stdout, "Question")
    assert "hypothesis: A is better" in section(result.stdout, "Question")
    assert "a trial passes where reward \\>= 0.5" in section(result.stdout, "Acceptance rule")
    assert "the data don't tell the arms apart: anything from" in section(result.stdout, "Result")
    assert re.search(r"about [\d,]+ tasks, if the difference", section(result.stdout, "What would settle the rest"))


def test_pilot_and_held_out_tasks_of_the_card_are_shown_apart(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", verdicts(3, 3, 2, 2, 1.0, 2.0))
    card(folder, split=Split(pilot=tuple(fake_run.TASKS[:3]), held_out=tuple(fake_run.TASKS[3:5])))
    apart = section(told(report, folder).stdout, "Pilot and held out")
    assert "| pilot | 3 | 100.0 % | 100.0 % | 0.0 \\(too few to say\\) |" in apart
    assert "| held out | 2 | 100.0 % | 0.0 % |" in apart and "| neither | 5 |" in apart


def test_arms_that_did_not_run_at_the_same_time_are_shown_with_their_blocks(tmp_path: Path) -> None:
    one = verdicts(2, 1, 0, 0, 1.0, 1.0)
    later = [msgspec.structs.replace(event, at=event.at + timedelta(days=1)) for event in one]
    runs = fake_run.write(tmp_path / "one", one), fake_run.write(tmp_path / "two", later)
    blocks = section(told(report, *runs, "--arm", "one:sol-6.1", "--arm", "two:sol-6.1").stdout, "Time blocks")
    assert "did not run at the same time" in blocks and blocks.count("| A ") == blocks.count("| B ") == 1
    assert "Time blocks" not in told(report, runs[0]).stdout


def test_a_table_gives_a_record_that_says_what_it_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(WORKED)
    found = told(report, path).stdout
    assert headings(found) == SECTIONS
    assert "no run card states a rule for results.csv" in section(found, "Acceptance rule")
    assert "nothing is known of its limits" in section(found, "Budget")


def test_real_runs_of_another_system_have_no_invented_budget() -> None:
    data = shared_data("terminal-bench-core-0.1.1")
    found = told(report, data / "20250924_droid_gpt-5", data / "20250923_droid_claude-4-sonnet").stdout
    assert "timeout factor" not in section(found, "Budget")
    assert "\\+2.0 points" in section(found, "Result") and "Time blocks" in headings(found)
    assert "is less than the 9.2 that this design detects" in section(found, "Result"), "two points defended by nothing"


def test_more_than_two_arms_have_a_result_each(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("task,arm,reward\n" + "".join(f"t{n},{arm},{n % 2}\n" for n in range(8) for arm in "XYZ"))
    found = headings(told(report, path).stdout)
    assert "All arms" in found and "Result, X against Y" in found and "Result, X against Z" in found


def test_what_arms_differ_in_and_cost_is_told_by_name_where_there_are_more_than_two(tmp_path: Path) -> None:
    arms = ("X", "oracle", ""), ("Y", "coder", "sol"), ("Z", "coder", "luna")
    events = [
        ev.RunPlanned(
            run="r",
            name="r",
            task_set=ev.TaskSetInfo(name="set"),
            arms=tuple(ev.ArmInfo(name=name, agent=agent, model=model) for name, agent, model in arms),
            tasks=1,
            trials=3,
            engine_version="1",
            host=ev.HostInfo(),
        ),
        *(
            ev.TrialPlanned(trial=f"t{name}", task="t", arm=name, attempt=1, position=place)
            for place, (name, *_) in enumerate(arms)
        ),
    ]
    found = told(report, fake_run.write(tmp_path / "run", events)).stdout
    assert "- X against Y: model: A none, B sol\n- X" in section(found, "Question")
    assert "- X against Z: model: A none, B luna\n" in section(found, "Question")
    spent = [line for line in section(found, "Budget").splitlines() if line.startswith("- spent: ")]
    assert [line.split()[2] for line in spent] == ["X", "Y", "Z"]


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_hostile_names_stay_text_in_markdown_html_and_json(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    name = "<script>alert(1)</script>|x"
    rows = "".join(f'"=cmd()|{n}\x1b[31m","{arm}",{n % 2}\n' for n in range(8) for arm in (name, "B"))
    path.write_text(f"task,arm,reward\n{rows}")
    result = told(report, path, "--markdown", "--html", tmp_path / "r.html")
    assert result.exit_code == 0, result.exception
    row = next(line for line in result.stdout.splitlines() if line.startswith("| A "))
    assert len(re.findall(r"(?<!\\)\|", row)) == 10 and "<script>" not in result.stdout.replace("\\<", "")
    page = Tags((tmp_path / "r.html").read_text())
    assert "script" not in page.seen and name in page.text and "link" not in page.seen
    assert "\x1b" not in result.stdout + page.text
    document = json.loads(told(report, path, "--json").stdout)
    assert document["schema"] == "trialdeck.report/1" and document["sections"][0]["title"] == "Question"


def test_what_goes_to_stdout_is_one_thing_and_nothing_goes_into_a_foreign_run(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(WORKED)
    for words, said in (
        (("--markdown", "--json"), "only one of"),
        (("--attempts", "last"), "expected `all` or `first`"),
        (("--arm", "A"), "nothing to be compared with"),
    ):
        result = told(report, path, *words)
        assert isinstance(result.exception, Unusable) and said in str(result.exception)
    assert told(report, path, "--html", "-").stdout.startswith("<!doctype html>")


def test_a_record_is_not_written_into_a_run_of_another_system() -> None:
    data = shared_data("terminal-bench-core-0.1.1")
    job = data / "20250924_droid_gpt-5"
    result = told(report, job, data / "20250923_droid_claude-4-sonnet", "--html", job / "r.html")
    assert isinstance(result.exception, Unusable) and not (job / "r.html").exists()


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0, 0)])
def test_all_passed_and_none_passed_settle_nothing(tmp_path: Path, a: int, b: int) -> None:
    path = tmp_path / "results.csv"
    path.write_text("task_id,a_pass,b_pass\n" + "".join(f"t{n},{a},{b}\n" for n in range(10)))
    found = told(report, path).stdout
    assert "every task differs by the same amount" in section(found, "Result")
    assert "how many can't be told" in section(found, "What would settle the rest")
