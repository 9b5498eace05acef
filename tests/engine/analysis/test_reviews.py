"""What people did with results afterwards, beside dollars; abstentions apart from errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.analysis.analysis import analyse
from engine.analysis.analysis_text import analysis_lines
from engine.analysis.from_csv import parse_csv
from engine.analysis.trial_facts import ArmFacts, arm_of_table
from engine.tables.csv_text import CsvInvalid
from engine.tables.review_table import Review, parse_reviews, read_reviews

RESULTS = "task,arm,reward,cost\nt1,A,1,2\nt2,A,0,2\nt3,A,0,2\nt4,A,,2\nt1,B,1,\nt2,B,1,1\nt3,B,0,1\nt4,B,1,1\n"
REVIEWS = """task,arm,review_minutes,reworked,reopened,abstained
t1,A,40,1,2,
t2,A,,,,1
t3,A,5,0,,0
t1,B,3.5,0,0,
"""


def arms() -> list[ArmFacts]:
    return [arm_of_table(arm, "bench") for arm in parse_csv(RESULTS, "r.csv").arms]


def test_abstentions_stand_apart_from_what_is_wrong_and_from_no_verdict() -> None:
    one, two = analyse(arms(), reviews=parse_reviews(REVIEWS, "v.csv")).reviews
    assert (one.resolved, one.wrong, one.abstained, one.no_verdict, one.finished) == (1, 1, 1, 1, 4)
    assert (two.resolved, two.wrong, two.abstained, two.no_verdict, two.finished) == (3, 1, 0, 0, 4)


def test_minutes_and_rework_stand_beside_dollars_and_what_is_unknown_is_no_zero() -> None:
    found = analyse(arms(), reviews=parse_reviews(REVIEWS, "v.csv"))
    one, two = found.reviews
    assert (one.minutes, one.minutes_unknown, one.minutes_per_resolved) == (45.0, 2, 45.0)
    assert (one.reworked, one.reopened, one.dollars_per_resolved, one.dollars_are_lower_bound) == (1, 2.0, 8.0, False)
    assert (two.minutes_unknown, two.dollars_per_resolved, two.dollars_are_lower_bound) == (3, 1.0, True)
    text = " ".join("\n".join(analysis_lines(found, 100)).split())
    assert "at least 45 minutes of review · at least 45.0 a resolved task · $8.00 a resolved task · 1 reworked" in text
    assert "Review and rework" not in "\n".join(analysis_lines(analyse(arms()), 100))


def test_rows_about_nobody_are_told_of() -> None:
    found = analyse(arms(), reviews={("A", "t9", 1): Review(review_minutes=1.0)})
    assert "1 row of the reviews about no trial of these arms" in found.notes and found.reviews == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "row 1: expected task,arm,attempt and one of review_minutes"),
        ("task,arm\nt1,A\n", "row 1: expected task,arm,attempt and one of"),
        ("task,arm,review_minutes\nt1,A,-1\nt2,A,x\n", "row 2: review_minutes '-1' is no number.*row 3"),
        ("task,arm,review_minutes\nt1,A,1,5\n", "row 2: another number of cells"),
        ("task;arm;review_minutes\nt1;A;1,5\n", "row 2: review_minutes '1,5' has a comma"),
        ("task,arm,abstained\nt1,A,maybe\n", "row 2: abstained 'maybe' is neither"),
        ("task,arm,reopened\nt1,A,1\nt1,A,1\n", "row 3: task 't1', arm 'A', attempt 1 a second time"),
        ("task,arm,reopened\n,A,1\n", "row 2: no task or no arm"),
        ("task,arm,reopened,attempt\nt1,A,1,0\n", "row 2: attempt '0'"),
    ],
)
def test_what_can_not_be_read_is_refused_by_its_row(text: str, why: str) -> None:
    with pytest.raises(CsvInvalid, match=why):
        parse_reviews(text, "v.csv")


def test_columns_may_stand_in_any_order_and_comments_between(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_bytes(b"\xef\xbb\xbf# who: ada\nabstained,Attempt,arm,TASK_ID\nyes,2,A,t1\n")
    assert read_reviews(path) == {("A", "t1", 2): Review(abstained=True)}
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CsvInvalid, match="not UTF-8"):
        read_reviews(path)
