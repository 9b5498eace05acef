"""CSV files as outcomes: what is wrong is said by its row."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.analysis.compare import compare
from engine.analysis.cost import cost
from engine.analysis.from_csv import CsvArms, check_common, parse_csv, read_csv
from engine.analysis.pass_at_k import pass_at_k
from engine.analysis.rates import count, wilson
from engine.tables.csv_text import CsvInvalid


def parsed(text: str, name: str = "results.csv") -> CsvArms:
    return parse_csv(text, name)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("t1,A,1,0,1", "row 3: task 't1', arm 'A', attempt 1 a second time, first in row 2"),
        ("t2,A,1,0.5,1", "row 3: reward '0.5' is neither 0 nor 1"),
        ("t2,A,1,nan,1", "row 3: reward 'nan' is neither 0 nor 1"),
        ("t2,A,1,1,-1", "row 3: cost '-1' is no amount of money"),
        ("t2,A,1,1,inf", "row 3: cost 'inf' is no amount of money"),
        ("t2,A,1,1,nan", "row 3: cost 'nan' is no amount of money"),
        ("t2,A,zero,1,1", "row 3: attempt 'zero' is no whole number"),
        ("t2,A,1,1", "row 3: 4 cells, the first row has 5"),
        (",A,1,1,1", "row 3: no task"),
        ("t2,,1,1,1", "row 3: no arm"),
    ],
)
def test_what_is_wrong_is_named_by_its_row(row: str, said: str) -> None:
    with pytest.raises(CsvInvalid) as error:
        parsed(f"task,arm,attempt,reward,cost\nt1,A,1,1,1\n{row}\n")
    assert str(error.value).startswith("results.csv, ") and said in str(error.value)


def test_every_wrong_row_is_told_of_at_once() -> None:
    rows = "".join(f"t{number},A,1,7,1\n" for number in range(9))
    with pytest.raises(CsvInvalid, match=r"row 2: .*row 6: .*and 4 more"):
        parsed(f"task,arm,attempt,reward,cost\n{rows}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("task,arm\n", "no column 'reward'"),
        ("arm,reward\n", "no column 'task'"),
        ('task,reward\n"t1,1\n', "results.csv, row 2"),
    ],
)
def test_a_file_that_is_no_table_of_outcomes_says_what_is_expected(text: str, said: str) -> None:
    with pytest.raises(CsvInvalid, match=said):
        parsed(text)


def test_a_file_that_is_not_utf8_says_so(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("task,reward\ngröße,1\n".encode("latin-1"))
    with pytest.raises(CsvInvalid, match="not UTF-8"):
        read_csv(tmp_path / "latin.csv")


def test_comments_semicolons_a_bom_and_a_missing_arm_column_are_read(tmp_path: Path) -> None:
    (tmp_path / "nightly.csv").write_bytes("\ufeff# made by hand\ntask;reward;note\nt1;1;x\nt2;;y\n".encode())
    (arm,) = read_csv(tmp_path / "nightly.csv").arms
    assert arm.name == "nightly"
    assert [(outcome.task, outcome.passed, outcome.cost_usd) for outcome in arm.outcomes] == [
        ("t1", True, None),
        ("t2", None, None),
    ]


def test_case_68_unknown_is_no_zero_and_thrown_away_attempts_keep_their_cost() -> None:
    text = "trial,attempt,reward,cost_usd\na,1,,0.05\na,2,1,0.08\nb,1,0,\nc,1,1,0\n"
    (arm,) = parsed(text).arms
    money = cost(arm.outcomes)
    assert money.total == pytest.approx(0.13)
    assert (money.discarded, money.unknown, money.known) == (0.05, 1, 3)
    assert money.per_resolved == pytest.approx(0.065) and money.is_lower_bound
    assert count(arm.outcomes).assigned == 3


def test_case_85_cost_per_resolved_task() -> None:
    rows = [f"t{n},A,{reward},1" for n, reward in enumerate("1110")]
    rows += [f"t{n},B,{reward},{usd}" for n, (reward, usd) in enumerate([(0, 0.2), (0, 0.2), (1, 0.2), (0, "")])]
    rows += [f"t{n},C,0,0.5" for n in range(2)]
    a, b, c = (cost(arm.outcomes) for arm in parsed("task,arm,reward,cost\n" + "\n".join(rows)).arms)
    assert a.per_resolved == pytest.approx(4 / 3) and not a.is_lower_bound
    assert b.per_resolved == pytest.approx(0.60) and b.is_lower_bound and (b.unknown, b.known) == (1, 3)
    assert c.per_resolved is None and c.total == 1.0


def test_case_86_resolved_judged_and_planned_stand_together() -> None:
    rewards = ["1"] * 4 + ["0"] * 2 + [""] * 4
    (arm,) = parsed("task,reward\n" + "\n".join(f"t{n},{reward}" for n, reward in enumerate(rewards))).arms
    counts = count(arm.outcomes)
    assert (counts.passed, counts.scored, counts.assigned) == (4, 6, 10)
    assert counts.bounds == (0.4, 0.8)
    assert wilson(4, 10) == pytest.approx((0.168, 0.687), abs=5e-4)


def test_case_89_the_same_attempt_twice_is_refused_with_both_rows() -> None:
    text = "task,attempt,reward\nt1,1,1\nt1,1,0\nt2,1,1\nT2,1,0\n t3,1,1\n"
    with pytest.raises(CsvInvalid, match=r"row 3: task 't1'.*first in row 2"):
        parsed(text)
    (arm,) = parsed(text.replace("t1,1,0\n", "")).arms
    assert [outcome.task for outcome in arm.outcomes] == ["t1", "t2", "T2", " t3"]


def test_case_91_lost_attempts_are_not_part_of_n() -> None:
    rows = [f"t1,{n},{reward}" for n, reward in enumerate("10000", 1)]
    rows += [f"t2,{n},{reward}" for n, reward in enumerate(["1", "0", "0", "", ""], 1)]
    (arm,) = parsed("task,attempt,reward\n" + "\n".join(rows)).arms
    found = pass_at_k(arm.outcomes, 5)
    assert (found.tasks, found.lacking, found.left_out) == (1, ("t2",), 2)
    assert pass_at_k(arm.outcomes, 6).any_of_k is None


def test_case_92_five_attempts_of_a_task_are_one_task() -> None:
    rows = []
    for task in range(5):
        for attempt in range(1, 6):
            equal = int(attempt < 3)
            rows.append(f"t{task},A,{attempt},{1 if task < 3 else equal}")
            rows.append(f"t{task},B,{attempt},{0 if task < 3 else equal}")
    a, b = parsed("task,arm,attempt,reward\n" + "\n".join(rows)).arms
    found = compare(a.outcomes, b.outcomes)
    assert (found.table.a_only, found.table.b_only, found.mcnemar.exact) == (3, 0, 0.25)


def test_case_88_no_difference_anywhere_is_degenerate_with_p_one() -> None:
    rows = [f"t{n},{arm},1" for n in range(20) for arm in "AB"]
    a, b = parsed("task,arm,reward\n" + "\n".join(rows)).arms
    found = compare(a.outcomes, b.outcomes)
    assert found.difference.degenerate and (found.difference.low, found.difference.high) == (0, 0)
    assert found.mcnemar.exact == 1 and found.arms[0].interval is not None
    assert found.arms[0].interval[1] == 1.0 and found.arms[0].interval[0] < 0.9


def test_tasks_on_one_side_only_are_named_by_their_rows() -> None:
    found = parsed("task,arm,reward\nt1,A,1\nt2,A,1\nt1,B,1\nt3,B,0\n")
    with pytest.raises(CsvInvalid, match=r"row 3: task 't2' is only in arm 'A'; row 5: task 't3' is only in arm 'B'"):
        check_common(found, "A", "B", "results.csv")
