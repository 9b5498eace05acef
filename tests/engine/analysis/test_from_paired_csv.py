"""CSV files with a row a task: both arms' verdicts and costs beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.analysis.compare import Comparison, compare
from engine.analysis.from_csv import parse_csv, read_csv
from engine.tables.csv_text import CsvInvalid

HEAD = "task_id,a_pass,b_pass,a_cost,b_cost\n"


def compared(text: str) -> Comparison:
    a, b = parse_csv(text, "pairs.csv").arms
    return compare(a.outcomes, b.outcomes)


def test_the_worked_example_gives_the_known_answers() -> None:
    verdicts = [("1", "1")] * 50 + [("1", "0")] * 20 + [("0", "1")] * 10 + [("0", "0")] * 20
    found = compared(HEAD + "".join(f"t{n},{a},{b},2.00,1.20\n" for n, (a, b) in enumerate(verdicts)))
    table = found.table
    assert (table.both, table.a_only, table.b_only, table.neither) == (50, 20, 10, 20)
    assert found.mcnemar.exact == pytest.approx(0.0987, abs=5e-5)
    assert [arm.name for arm in found.arms] == ["A", "B"]
    assert [arm.cost_per_resolved for arm in found.arms] == pytest.approx([200 / 70, 2.0])


def test_words_for_verdicts_semicolons_and_a_bom_are_read(tmp_path: Path) -> None:
    text = "task_id;a_pass;b_pass;a_cost;b_cost\nt1;TRUE;no;0.5;\nt2;False;Yes;$1;0\nt3;;1.0;;\n"
    (tmp_path / "pairs.csv").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    a, b = read_csv(tmp_path / "pairs.csv").arms
    assert [(one.passed, one.cost_usd) for one in a.outcomes] == [(True, 0.5), (False, 1.0), (None, None)]
    assert [(one.passed, one.cost_usd) for one in b.outcomes] == [(False, None), (True, 0.0), (True, None)]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("t1,1,0,1,1", "row 3: task 't1', attempt 1 a second time, first in row 2"),
        ("t2,0.5,1,1,1", "row 3: a_pass '0.5' is neither 0 nor 1"),
        ("t2,1,maybe,1,1", "row 3: b_pass 'maybe' is neither 0 nor 1"),
        ("t2,1,1,-1,1", "row 3: a_cost '-1' is no amount of money"),
        ("t2,1,1,1,nan", "row 3: b_cost 'nan' is no amount of money"),
        ("t2,1,1,1_000,1", "row 3: a_cost '1_000' is no amount of money"),
        ("t2,1,1,1e999,1", "row 3: a_cost '1e999' is no amount of money"),
        ('t2,1,1,"0,5",1', "row 3: a_cost '0,5' has a comma, decimal or of thousands"),
        ('t2,1,1,1,"1,234.50"', "row 3: b_cost '1,234.50' has a comma"),
        ("t2,1,1,0,5,1", "row 3: 6 cells, the first row has 5; a decimal comma?"),
        (",1,1,1,1", "row 3: no task"),
    ],
)
def test_what_is_wrong_is_named_by_its_row_and_column(row: str, said: str) -> None:
    with pytest.raises(CsvInvalid) as error:
        parse_csv(f"{HEAD}t1,1,1,1,1\n{row}\n", "pairs.csv")
    assert said in str(error.value)
    assert str(error.value).count("row 3") == 1


def test_a_decimal_comma_beside_semicolons_is_refused_not_guessed() -> None:
    with pytest.raises(CsvInvalid, match="a_cost '1,234' has a comma, decimal or of thousands"):
        parse_csv("task_id;a_pass;b_pass;a_cost;b_cost\nt1;1;0;1,234;1\n", "pairs.csv")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("task_id,a_pass,a_cost", "row 1: no column 'b_pass'"),
        ("task_id,a_pass,b_pass,reward", "row 1: both 'reward' and 'a_pass'"),
        ("task_id,a_pass,b_pass,a_pass", "row 1: two columns are called 'a_pass'"),
        ("task,task_id,reward", "row 1: both 'task' and 'task_id'"),
        ("task,reward,cost,cost_usd", "row 1: both 'cost' and 'cost_usd'"),
        ("a_pass,b_pass", "row 1: no column 'task'"),
    ],
)
def test_columns_that_are_missing_or_there_twice_are_refused(head: str, said: str) -> None:
    with pytest.raises(CsvInvalid, match=said):
        parse_csv(head + "\n", "pairs.csv")


def test_a_column_that_is_not_read_is_named() -> None:
    found = parse_csv("task_id,a_pass,b_pass,a_costs\nt1,1,0,5\n", "pairs.csv")
    assert found.notes == ("1 column of pairs.csv not read: a_costs",)


def test_a_mark_of_discarded_rows_that_cant_be_read_is_refused() -> None:
    with pytest.raises(CsvInvalid, match="row 2: discarded 'x' is neither 0 nor 1"):
        parse_csv("task,reward,discarded\nt1,1,x\n", "results.csv")


def test_several_rows_of_a_task_are_its_attempts_where_they_are_numbered() -> None:
    found = compared("task_id,attempt,a_pass,b_pass\nt1,1,1,0\nt1,2,0,0\nt2,1,1,1\nt2,2,1,1\n")
    assert [arm.attempts_per_task for arm in found.arms] == [2, 2]
    assert found.difference.estimate == 0.25


def test_case_89_near_equal_arms_are_told_of() -> None:
    found = parse_csv("task,arm,reward\nt1,Sonnet,1\nt1,sonnet,0\n", "results.csv")
    assert "differ by case or blanks only are not merged: 'Sonnet' and 'sonnet'" in found.notes[0]


def test_a_file_with_names_alone_says_that_rows_are_missing() -> None:
    with pytest.raises(CsvInvalid, match="no row below its names"):
        parse_csv(HEAD, "pairs.csv")
