from __future__ import annotations

import pytest

from engine.analysis import wording as say
from engine.analysis.as_markdown import comparison_markdown
from engine.analysis.as_text import comparison_lines, method_line, rate_line
from engine.analysis.bootstrap import CONFIDENCE
from engine.analysis.compare import Comparison, compare
from tests.engine.analysis.making import arm, trial, two_arms

HOSTILE = "[bold]日本語/\x1b[31mtask\x07|`x`\nsecond line " + "very-" * 40


def mockup() -> Comparison:
    return compare(
        *two_arms(33, 10, 6, 17, cost_a=2.0, cost_b=1.2),
        card_differences=["B ran with a timeout factor of 1.5 on 12 tasks"],
    )


def hostile() -> Comparison:
    a = [trial(HOSTILE, True, arm=HOSTILE, cost=1.0), trial("t2", None, arm=HOSTILE, cost=None)]
    b = [trial(HOSTILE, False, arm="b", cost=1.0), trial("t2", arm="b", reward=0.5, cost=0.001)]
    return compare([*a, trial(HOSTILE + "2", arm=HOSTILE)], b, labels={("t2", "b", 1): "ambiguous"})


def test_the_lines_say_what_the_mockup_says() -> None:
    text = "\n".join(comparison_lines(mockup(), 80, context="terminal-bench 4.0.0 · card 7f3a91c"))
    for part in (
        "66 tasks, 1 attempt each · terminal-bench 4.0.0 · card 7f3a91c",
        "A  43/66  65.2 %",
        "B  39/66  59.1 %",
        "A − B  +6.1 points",
        "task bootstrap, 10,000 draws, seed 7",
        "p 0.45 (exact) · mid-p 0.33 · 16 discordant",
        "this design detects 17.0 points (80 % power)",
        "A resolved              33      10",
        "A not                    6      17",
        "$3.07 a resolved task",
        "! the cards differ: B ran with a timeout factor of 1.5 on 12 tasks",
        "A only (10)",
        "B only (6)",
    ):
        assert part in text


@pytest.mark.parametrize("width", [80, 81, 100, 116, 120, 200])
@pytest.mark.parametrize("make", [mockup, hostile])
def test_no_line_is_wider_than_asked_or_holds_a_control_code(make: object, width: int) -> None:
    assert callable(make)
    for line in comparison_lines(make(), width, context=HOSTILE):
        assert say.cells(line) <= width
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in line)


def test_a_narrower_terminal_gets_80_columns() -> None:
    assert comparison_lines(mockup(), 40) == comparison_lines(mockup(), 80)


def test_arms_with_other_numbers_of_attempts_are_not_said_to_have_the_same() -> None:
    a = [trial(f"t{task}", task > 1, arm="a", attempt=attempt) for task in range(4) for attempt in (1, 2, 3)]
    found = compare(a, [trial(f"t{task}", True, arm="b") for task in range(4)])
    assert comparison_lines(found, 80)[1] == "4 tasks, A 3 attempts, B 1"
    first = compare(a, [trial(f"t{task}", True, arm="b") for task in range(4)], attempts="first")
    assert comparison_lines(first, 80)[1] == "4 tasks, first attempts"


def test_both_denominators_and_the_bounds_are_always_there() -> None:
    found = compare(arm("a", [True] * 4 + [False] * 2 + [None] * 4), arm("b", [True] * 10))
    text = "\n".join(comparison_lines(found))
    assert "A  4/10  40.0 %" in text
    row = next(line for line in text.splitlines() if line.startswith("A         10"))
    assert row.split() == ["A", "10", "6", "6", "0", "4", "66.7", "%", "40.0–80.0"]


def test_a_run_that_goes_on_says_of_finished() -> None:
    a = [trial("t1", True), trial("t2", None, finished=False)]
    lines = comparison_lines(compare(a, [trial("t1", False, arm="b"), trial("t2", False, arm="b")]))
    assert any(line.startswith("A  1/1 of finished  100.0 %") for line in lines)
    assert any("1 trial not finished" in line for line in lines)


def test_nothing_to_compare_reads_as_nothing_not_as_zero() -> None:
    text = "\n".join(comparison_lines(compare([], [])))
    assert "A − B  —" in text
    assert "nothing to compare yet" in text


def test_costs_tell_unknown_none_and_at_least_apart() -> None:
    a = [trial("t1", False, cost=0.5), trial("t2", False, cost=0.5)]
    b = [trial("t1", True, arm="b", cost=0.2), trial("t2", False, arm="b", cost=None)]
    text = "\n".join(comparison_lines(compare(a, b)))
    assert "A  n/a, $1.00 spent" in text
    assert "B  at least $0.20 a resolved task · at least $0.20 in all" in text
    assert "B: cost of 1 of 2 trials unknown" in text
    cut_off = trial("t2", None, arm="b", cost=None, discarded=True)
    text = "\n".join(comparison_lines(compare(a, [*b[:1], trial("t2", False, arm="b", cost=0.1), cut_off])))
    assert "B: cost of 1 of 3 runs of trials unknown" in text
    unknown = compare([trial("t1", cost=None)], [trial("t1", arm="b", cost=0.0)])
    lines = comparison_lines(unknown)
    assert "A  cost unknown" in lines
    assert any(line.startswith("B  $0.00 a resolved task") for line in lines)


def test_labels_show_every_reading() -> None:
    found = compare(*two_arms(2, 2, 1, 2), labels={("task-000", "b", 1): "infrastructure"})
    lines = comparison_lines(found)
    assert any(line.startswith("infrastructure excluded (1 pair)") for line in lines)
    assert any(line.startswith("sensitivity: nothing is labelled") for line in comparison_lines(mockup()))


def test_a_long_list_of_tasks_can_be_cut_and_says_how_many_are_left() -> None:
    lines = comparison_lines(mockup(), most_tasks=4)
    assert any(line.startswith("… 6 more") and line.endswith("… 2 more") for line in lines)


def test_markdown_holds_the_same_numbers() -> None:
    text = comparison_markdown(mockup(), context="terminal-bench 4.0.0")
    assert text.startswith("## a against b\n")
    assert "| A resolved | 33 | 10 |" in text
    assert "McNemar p 0.45 (exact)" in text
    assert "| task-033 | A only | 1.00 | 0.00 |" in text
    assert text.endswith("|\n")


def test_names_never_become_markup_in_markdown() -> None:
    text = comparison_markdown(hostile(), context=HOSTILE)
    assert "\x1b" not in text
    assert r"\[bold\]" in text
    assert r"\|\`x\`" in text
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(line.endswith("|") for line in tables)


@pytest.mark.parametrize(
    ("p", "text"), [(0.4545, "0.45"), (0.0987, "0.099"), (0.0031, "0.0031"), (0.0, "< 0.0001"), (1.0, "1.00")]
)
def test_a_p_value_is_never_shown_as_zero(p: float, text: str) -> None:
    assert say.p_value(p) == text


def test_zero_has_no_sign() -> None:
    assert say.points(-0.0001) == "0.0"
    assert say.points(-0.06) == "−6.0"
    assert say.points(0.06) == "+6.0"


def test_small_money_is_not_rounded_away() -> None:
    assert say.money(0.0042) == "$0.0042"
    assert say.money(0) == "$0.00"
    assert say.money(1234.5) == "$1,234.50"


def test_the_level_of_intervals_is_said_and_is_the_one_they_are_made_with() -> None:
    assert f"{100 * CONFIDENCE:g} %" == say.LEVEL
    found = compare(*two_arms(50, 20, 10, 20))
    assert rate_line("A", found.arms[0]).endswith("(95 %, Wilson)")
    assert method_line(found.difference).startswith("(95 %, ")
