"""An analysis as a whole, as text and as a picture."""

from __future__ import annotations

from xml.etree import ElementTree

import msgspec
import pytest

from engine.analysis.analysis import Analysis, analyse
from engine.analysis.analysis_svg import analysis_svg
from engine.analysis.analysis_text import analysis_lines
from engine.analysis.trial_facts import ArmFacts, Seen
from engine.analysis.wording import cells
from engine.text import clean_line
from tests.engine.analysis.making_facts import arm_facts, fact

HOSTILE = "[/bold]\x1b[31m=cmd()|<script>&\u202e 日本語" + "x" * 200


def one_attempt(name: str, passed: int, of: int) -> ArmFacts:
    return arm_facts(name, [fact(f"t{task:03}", task < passed) for task in range(of)])


def everything(name: str = "agent") -> Analysis:
    """Something for every section, with `name` wherever a foreign system names something."""
    arms = [
        arm_facts(
            f"{name} {level}",
            [
                fact(
                    f"{name}-{task:02}",
                    task < passed,
                    attempt=attempt,
                    benchmark=benchmark,
                    cost=cost,
                    category=f"{name} {task % 3}",
                    difficulty=name,
                    steps=task + attempt,
                    agent_seconds=60.0 * task,
                    start=hours + task,
                    factor=2.0,
                    seen=Seen(refused=task == 9),
                )
                for benchmark in (f"{name} one", f"{name} two")
                for task in range(12)
                for attempt in (1, 2)
            ],
            effort=level,
        )
        for level, passed, cost, hours in (("low", 4, 1.0, 0), ("medium", 8, 2.0, 100), ("high", 9, 9.0, 200))
    ]
    return analyse(arms, also=[f"{name} three"], draws=500, notes=[f"note of {name}"])


def test_118_and_112_of_200_both_rank_first() -> None:
    found = analyse([one_attempt("a", 118, 200), one_attempt("b", 112, 200), one_attempt("c", 40, 200)], draws=200)
    assert [(row.arm, row.rank) for row in found.ranked] == [("a", 1), ("b", 1), ("c", 3)]


def test_case_86_resolved_scored_and_assigned_stand_together() -> None:
    facts = [fact(f"t{task}", True if task < 4 else False if task < 6 else None) for task in range(10)]
    (row,) = analyse([arm_facts("a", facts)], draws=200).ranked
    assert (row.passed, row.scored, row.assigned, row.rate) == (4, 6, 10, 0.4)
    assert row.interval == pytest.approx((0.168, 0.687), abs=5e-4)


def test_case_91_lost_attempts_are_named_and_uneven_ones_too() -> None:
    facts = [fact("t1", attempt == 1, attempt=attempt) for attempt in range(1, 6)]
    facts += [fact("t2", None if attempt > 3 else True, attempt=attempt) for attempt in range(1, 6)]
    found = analyse([arm_facts("a", facts)], draws=200)
    five, three = found.ranked[0].pass_at_k[-1], found.ranked[0].pass_at_k[1]
    assert (five.k, five.any_of_k, five.lacking, five.left_out) == (5, 1.0, ("t2",), 2)
    assert (three.k, three.tasks, three.uneven) == (3, 2, (3, 5))
    assert three.any_of_k == pytest.approx((0.6 + 1.0) / 2)
    assert "1 task with fewer: t2; 2 attempts not counted" in " ".join(
        " ".join(line.split()) for line in analysis_lines(found)
    )


def test_case_92_five_attempts_are_one_task_and_families_are_one_more_cluster() -> None:
    a = [
        fact(f"t{task}", task <= 3, attempt=n, category="x" if task < 3 else "y")
        for task in range(1, 6)
        for n in range(1, 6)
    ]
    b = [
        fact(f"t{task}", False, attempt=n, category="x" if task < 3 else "y")
        for task in range(1, 6)
        for n in range(1, 6)
    ]
    (row,) = analyse([arm_facts("a", a), arm_facts("b", b)], draws=1000).families
    assert (row.tasks, row.families, row.largest_family, row.too_few) == (5, 2, 3, True)
    assert row.estimate == pytest.approx(0.6)
    assert row.high - row.low > 0.5


def test_case_88_an_arm_that_passes_everything_still_has_an_interval() -> None:
    facts = [fact(f"t{task}", True, attempt=n) for task in range(10) for n in (1, 2)]
    (row,) = analyse([arm_facts("a", facts)], draws=200).ranked
    assert row.interval == pytest.approx((0.7225, 1.0), abs=5e-5)
    assert row.pass_at_k[0].all_interval == pytest.approx((0.7225, 1.0), abs=5e-5)


def test_case_89_near_equal_tasks_are_reported_and_the_same_attempt_twice_is_refused() -> None:
    found = analyse([arm_facts("a", [fact("t1", True), fact("T1", False), fact(" t1", True)])], draws=100)
    assert any("differ by case or blanks" in note for note in found.notes) and found.ranked[0].tasks == 3
    with pytest.raises(ValueError, match="the same attempt occurs twice: t1 attempt 1"):
        analyse([arm_facts("a", [fact("t1", True), fact("t1", False)])], draws=100)


def test_arms_of_different_tasks_are_ranked_with_a_word_of_warning() -> None:
    found = analyse([one_attempt("a", 3, 6), one_attempt("b", 3, 8)], draws=100)
    assert any("arms have different tasks, 6 tasks in common" in note for note in found.notes)


def test_every_section_is_in_the_text_and_in_the_document() -> None:
    found = everything()
    text = "\n".join(analysis_lines(found, 100))
    for title in ("ranked by", "Index", "families", "Difficulty", "By category", "By stated", "Timeout", "Blocks of"):
        assert title in text
    for title in ("Expected for", "Score against steps", "Effort", "Refusals", "score against steps", "dollars a task"):
        assert title in text
    assert "agent three: not run" in text and "incomplete" in text and "! note of agent" in text
    assert "knee medium" in text
    plain = msgspec.json.decode(msgspec.json.encode(found))
    assert plain["version"] == 1 and plain["effort_sweeps"][0]["knee"] == "medium"
    assert msgspec.json.decode(msgspec.json.encode(found), type=Analysis) == found


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_no_line_is_too_wide_and_none_commands_the_terminal(width: int) -> None:
    for name in ("agent", HOSTILE):
        for line in analysis_lines(everything(name), width):
            assert cells(line) <= max(width, 80), line
            assert line == clean_line(line)


def test_the_numbers_of_many_arms_and_many_trials_end_inside_the_picture() -> None:
    arms = [one_attempt(f"arm {number:02}", 2_000 - 180 * number, 2_000) for number in range(12)]
    root = ElementTree.fromstring(analysis_svg(analyse(arms, draws=5)).encode())
    ends = {
        text: float(one.get("x", "0")) + 6.7 * len(text.replace("  ", " "))  # a cell of 11 px in a wide font
        for one in root.iter()
        if (text := one.text or "").startswith("rank ")
    }
    assert any("rank 12" in text and "/2000" in text for text in ends)
    assert max(ends.values()) <= 860


def test_the_picture_is_xml_whatever_stands_in_names_and_tells_series_apart_without_colour() -> None:
    picture = analysis_svg(everything(HOSTILE))
    root = ElementTree.fromstring(picture.encode())
    assert root.tag.endswith("svg") and "<script>" not in picture and "\x1b" not in picture
    lines = [one for one in root.iter() if one.tag.endswith("polyline")]
    assert len({one.get("stroke-dasharray") for one in lines}) == 3
    assert ElementTree.fromstring(analysis_svg(analyse([one_attempt("a", 1, 2)], draws=50)).encode()) is not None
