"""Exports: each carries where it comes from, and no name in it becomes markup, a formula or a tag."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from html.parser import HTMLParser
from xml.etree import ElementTree

import msgspec
import pytest

from engine.analysis.arms import arm_refs, one_each, trials_of
from engine.analysis.as_csv import report_csv
from engine.analysis.as_html import report_html
from engine.analysis.as_markdown import report_markdown
from engine.analysis.as_svg import report_svg
from engine.analysis.compare_arms import compare_arms
from engine.analysis.pass_at_k import pass_at_k
from engine.analysis.report import Report, make_report, report_json
from engine.analysis.safe_cell import safe_cell
from tests.engine.analysis.making import trial
from tests.engine.analysis.test_arms import run

HOSTILE = "</svg><script>alert(1)</script>\x1b]52;c;AAAA\x07[x](javascript:1)|`&\"'\ufffe"
SVG = "{http://www.w3.org/2000/svg}"


def report(task: str = "t", *, arms: int = 2) -> Report:
    tasks = [f"{task}{number}" for number in range(8)]
    verdicts = {f"arm{number}": [place % (number + 2) != 0 for place in range(8)] for number in range(arms)}
    runs = {"nightly": run(verdicts, name="nightly", tasks=tasks)}
    labels = {"nightly": {(tasks[0], "arm0", 1): "infrastructure", (tasks[1], "arm1", 1): "ambiguous"}}
    trials = [trials_of(arm, runs, labels) for arm in one_each(arm_refs(runs))]
    made_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    return make_report(compare_arms(trials, 1, runs), trials[0], trials[1], runs, made_at)


@pytest.mark.parametrize("write", [report_markdown, report_csv, report_html, report_svg])
def test_every_export_carries_version_source_sensitivity_and_limits(write: object) -> None:
    assert callable(write)
    text = str(write(report())).replace("\\", "")
    for part in ("set 1", "nightly", "infrastructure excluded", "ambiguous all failed", "2026-03-01T12:00:00+00:00"):
        assert part in text, part
    assert "no run card" in text


def test_the_json_holds_the_pairs_the_sources_and_what_moves_the_difference() -> None:
    found = json.loads(report_json(report()))
    assert len(found["pairs"]) == 8 and found["pairs"][0]["label_a"] == "infrastructure"
    assert found["sources"][0]["task_set_digest"] == "d1" and found["sources"][0]["sides"] == "A and B"
    assert {(mover["side"], mover["cause"]) for mover in found["sensitive_to"]} == {
        ("a", "infrastructure"),
        ("b", "ambiguous"),
    }
    assert found["question"] == "controlled model"


def test_a_trial_moves_the_difference_as_far_as_leaving_it_out_does() -> None:
    given = report()
    view = next(view for view in given.found.sensitivity if view.name == "infrastructure excluded")
    mover = next(mover for mover in given.movers if mover.cause == "infrastructure")
    before = given.found.difference.estimate
    assert before is not None and view.difference is not None
    assert mover.low == mover.high == pytest.approx(view.difference - before)


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x", " =x", "\t=x", "|calc", "%x"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert safe_cell(text).startswith("'")


def test_the_csv_has_a_row_a_task_below_its_provenance() -> None:
    text = report_csv(report("=cmd()"))
    rows = [row for row in csv.reader(io.StringIO(text)) if not row[0].startswith("#")]
    assert rows[0][0] == "task" and len(rows) == 9
    assert all(len(row) == len(rows[0]) for row in rows)
    assert all(row[0].startswith("'=cmd()") for row in rows[1:])


def test_hostile_names_stay_text_in_svg_and_html() -> None:
    given = report(HOSTILE, arms=3)
    tree = ElementTree.fromstring(report_svg(given).encode())
    assert tree.tag == f"{SVG}svg"
    tags = {element.tag for element in tree.iter()}
    assert tags <= {f"{SVG}{name}" for name in ("svg", "style", "rect", "text", "line", "circle")}
    page = report_html(given)
    seen: set[str] = set()
    outside: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.add(tag)
            outside.extend(name for name, _ in attrs if name in ("src", "href", "onload", "onclick"))

    Tags().feed(page)
    assert "script" not in seen and not outside
    assert not any(ord(char) < 32 and char != "\n" for char in page + report_csv(given) + report_markdown(given))
    assert "prefers-color-scheme: dark" in page and "default-src 'none'" in page


def test_the_picture_shows_each_interval_where_it_is() -> None:
    tree = ElementTree.fromstring(report_svg(report()).encode())
    dots = [element for element in tree.iter(f"{SVG}circle")]
    assert len(dots) == 3, "two rates and their difference"
    x = float(dots[0].attrib["cx"])
    assert x == pytest.approx(230 + 410 * report().found.arms[0].rate, abs=0.1)  # type: ignore[operator]


def test_more_arms_are_listed_with_raw_and_adjusted_p() -> None:
    given = report(arms=3)
    assert "2 arms were compared with the baseline" in report_markdown(given) and "p (Holm)" in report_html(given)


def with_attempts(given: Report) -> Report:
    """Five attempts at each of four tasks, of which the last has two only, by both arms."""
    tries = [
        trial(f"t{task}", (task + attempt) % 3 == 0, attempt=attempt)
        for task in range(4)
        for attempt in range(1, 6)
        if task < 3 or attempt < 3
    ]
    several = tuple(pass_at_k(tries, k) for k in range(2, 7))
    arms = tuple(msgspec.structs.replace(arm, pass_at_k=several) for arm in given.found.arms)
    return msgspec.structs.replace(given, found=msgspec.structs.replace(given.found, arms=arms))


@pytest.mark.parametrize("write", [report_html, report_markdown])
def test_the_difference_comes_before_what_several_attempts_tell_which_is_one_table(write: object) -> None:
    assert callable(write)
    text = str(write(with_attempts(report()))).replace("\\", "")
    head = "<th>pass@k</th>" if write is report_html else "| pass@k |"
    assert text.index("A − B  ") < text.index("Several attempts at a task") < text.index(head)
    assert text.count("Several attempts at a task") == 1 and text.count("no task has 6 attempts") == 2
    assert "pass@2" not in text and "1 task with fewer: t3" in text
    assert "Several attempts" not in str(write(report())), "where each task was tried once there is nothing to say"


def test_in_the_page_the_difference_is_the_first_of_the_numbers() -> None:
    page = report_html(with_attempts(report()))
    heads = [part.partition("</h2>")[0] for part in page.split("<h2>")[1:]]
    assert heads[:4] == ["Difference", "Rates", "Several attempts at a task", "Sensitivity"]
