from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from engine.analysis.compare import Comparison, compare
from engine.analysis.outcomes import TrialOutcome
from tests.engine.analysis.making import arm, trial, two_arms


def test_the_worked_example_gives_its_known_answers() -> None:
    a, b = two_arms(50, 20, 10, 20, cost_a=2.00, cost_b=1.20)
    found = compare(a, b)
    table = found.table
    assert (table.both, table.a_only, table.b_only, table.neither) == (50, 20, 10, 20)
    assert found.mcnemar.exact == pytest.approx(0.0987, abs=5e-5)
    assert found.difference.estimate == 0.1
    assert found.difference.low == pytest.approx(0.0, abs=0.0101)
    assert found.difference.high == pytest.approx(0.21, abs=0.0101)
    assert [round(each.cost_per_resolved or 0, 2) for each in found.arms] == [2.86, 2.00]
    assert [each.rate for each in found.arms] == [0.7, 0.6]
    assert len(found.a_only) == 20
    assert len(found.b_only) == 10


def test_66_tasks_with_16_discordant_say_what_they_detect() -> None:
    found = compare(*two_arms(33, 10, 6, 17))
    assert found.power.detectable == pytest.approx(0.17, abs=0.005)
    assert found.mcnemar.exact == pytest.approx(0.45, abs=0.005)
    assert found.mcnemar.mid_p == pytest.approx(0.33, abs=0.005)


def case_92() -> tuple[list[TrialOutcome], list[TrialOutcome]]:
    a = arm("a", [True] * 15 + [True, True, False, False, False] * 2, attempts=5)
    b = arm("b", [False] * 15 + [True, True, False, False, False] * 2, attempts=5)
    return a, b


def test_case_92_five_attempts_of_a_task_are_one_task() -> None:
    found = compare(*case_92())
    assert (found.table.a_only, found.table.b_only) == (3, 0)
    assert found.mcnemar.exact == 0.25
    assert found.tasks == 5
    assert found.difference.estimate == 0.6
    assert found.difference.method == "cluster bootstrap over tasks"
    assert found.arms[0].attempts_per_task == 5
    assert found.difference.too_few
    assert any("too few to say" in note for note in found.notes)


def test_first_attempts_only_is_as_if_one_had_been_made() -> None:
    a = arm("a", [False, True, True, True], attempts=2, cost=1.0)
    b = arm("b", [True, False, True, False], attempts=2, cost=1.0)
    every, first = compare(a, b), compare(a, b, attempts="first")
    assert every.difference.estimate == 0.25
    assert first.difference.estimate == -0.5
    assert first.difference.method == "task bootstrap"
    assert every.table == first.table
    assert first.arms[0].assigned == 2
    assert (every.arms[0].cost_total, first.arms[0].cost_total) == (4.0, 2.0)


def test_first_attempts_keep_the_money_of_what_was_discarded_on_the_way() -> None:
    a = [
        trial("t1", None, attempt=1, cost=0.5, discarded=True),
        trial("t1", True, attempt=1, cost=1.0),
        trial("t1", True, attempt=2, cost=1.0),
    ]
    found = compare(a, [trial("t1", True, arm="b")], attempts="first").arms[0]
    assert (found.cost_total, found.cost_discarded, found.resolved) == (1.5, 0.5, 1)


def test_the_first_attempt_is_the_lowest_number_that_was_not_discarded() -> None:
    a = [trial("t1", True, attempt=3), trial("t1", False, attempt=2)]
    b = [trial("t1", True, arm="b", attempt=7)]
    (only,) = compare(a, b).discordant
    assert (only.only, only.attempt_a, only.attempt_b) == ("b", 2, 7)


def test_a_first_attempt_without_a_verdict_counts_as_not_passed_and_is_named() -> None:
    found = compare(arm("a", [None, True]), arm("b", [True, True]))
    assert (found.table.b_only, found.table.both) == (1, 1)
    assert found.no_verdict == ("task-000",)
    (only,) = found.b_only
    assert (only.passed_a, only.reward_a) == (None, None)
    assert any("task-000" in note and "not passed" in note for note in found.notes)


def test_tasks_on_one_side_only_are_listed_and_take_no_part() -> None:
    a = [trial("t1", True), trial("t2", True)]
    b = [trial("t1", False, arm="b"), trial("t0", True, arm="b")]
    found = compare(a, b)
    assert (found.only_in_a, found.only_in_b) == (("t2",), ("t0",))
    assert (found.tasks, found.arms[0].assigned, found.arms[1].assigned) == (1, 1, 1)
    assert found.difference.estimate == 1.0


def test_an_unfinished_run_is_compared_on_its_finished_pairs_and_says_so() -> None:
    a = [trial("t1", True), trial("t2", True), trial("t3", None, finished=False)]
    b = [
        trial("t1", False, arm="b"),
        trial("t2", None, arm="b", finished=False),
        trial("t3", None, arm="b", finished=False),
    ]
    found = compare(a, b)
    assert (found.tasks, found.unfinished) == (1, 3)
    assert found.table.tasks == 1
    assert found.arms[0].rate_of == "finished"
    assert (found.arms[0].assigned, found.arms[0].finished, found.arms[0].rate) == (3, 2, 1.0)
    assert any("3 trials not finished" in note for note in found.notes)


def test_a_later_attempt_that_finished_first_is_no_first_attempt() -> None:
    a = [trial("t1", None, attempt=1, finished=False), trial("t1", True, attempt=2)]
    found = compare(a, [trial("t1", False, arm="b")])
    assert found.table.tasks == 0
    assert found.difference.estimate == 1.0


def test_before_anything_finished_there_is_nothing_to_compare_and_no_error() -> None:
    found = compare([trial("t1", None, finished=False)], [trial("t1", None, arm="b", finished=False)])
    assert found.difference.estimate is None
    assert found.mcnemar.exact == 1.0
    assert found.arms[0].rate is None
    assert any("nothing to compare yet" in note for note in found.notes)
    assert compare([], []).tasks == 0


def test_case_88_arms_that_agree_everywhere_have_no_width_and_say_so() -> None:
    found = compare(*two_arms(12, 0, 0, 8))
    assert (found.difference.low, found.difference.high, found.difference.degenerate) == (0.0, 0.0, True)
    assert (found.difference.p, found.mcnemar.exact, found.mcnemar.mid_p) == (1.0, 1.0, 1.0)
    assert found.power.detectable is None
    assert any("no width" in note for note in found.notes)


def test_graded_rewards_are_compared_as_they_are_and_only_where_both_sides_have_one() -> None:
    a = [trial("t1", False, reward=0.75), trial("t2", True, reward=1.0), trial("t3", None)]
    b = [trial("t1", False, arm="b", reward=0.25), trial("t2", True, arm="b"), trial("t3", True, arm="b")]
    graded = compare(a, b).reward_difference
    assert graded is not None
    assert (graded.estimate, graded.tasks) == (0.25, 2)
    assert compare(*two_arms(3, 2, 1, 4)).reward_difference is None


def test_unequally_many_attempts_count_each_task_once_and_say_so() -> None:
    a = [trial("t1", True, attempt=1), trial("t1", True, attempt=2), trial("t2", False)]
    b = [trial("t1", False, arm="b"), trial("t2", False, arm="b")]
    found = compare(a, b)
    assert found.difference.estimate == 0.5
    assert found.arms[0].rate == pytest.approx(2 / 3)
    assert any("unequally many attempts" in note for note in found.notes)


def test_a_reading_whose_rates_do_not_add_up_to_its_difference_says_why() -> None:
    """Attempts that a label leaves out make tasks unequally many; the readings of equally many say nothing of it."""
    a = [trial("t1", True, attempt=1), trial("t1", False, attempt=2), trial("t2", True, attempt=1)]
    a.append(trial("t2", True, attempt=2))
    b = [msgspec.structs.replace(each, arm="b", passed=each.task == "t1") for each in a]
    assert not any("left out" in note for note in compare(a, b).notes)
    found = compare(a, b, labels={("t1", "a", 2): "infrastructure"})
    reading = found.sensitivity[1]
    assert reading.rate_a is not None and reading.rate_b is not None and reading.difference is not None
    assert reading.rate_a - reading.rate_b == pytest.approx(2 / 3) and reading.difference == pytest.approx(0.5)
    assert any("A and B count trials, A − B counts tasks" in note for note in found.notes)


def test_two_arms_on_one_side_are_refused() -> None:
    with pytest.raises(ValueError, match="opus, sonnet"):
        compare([trial("t1", arm="sonnet"), trial("t2", arm="opus")], [trial("t1", arm="b")])


def test_names_are_the_arms_or_those_given() -> None:
    a, b = two_arms(1, 1, 1, 1)
    assert [each.name for each in compare(a, b).arms] == ["a", "b"]
    assert [each.name for each in compare(a, b, names=("old", "new")).arms] == ["old", "new"]


def test_equal_input_gives_equal_bytes() -> None:
    a, b = case_92()
    assert msgspec.json.encode(compare(a, b)) == msgspec.json.encode(compare(a[::-1], b[::-1]))


def test_json_has_the_documented_fields_and_reads_back() -> None:
    data = msgspec.json.encode(compare(*two_arms(5, 2, 1, 4, cost_a=1.0), card_differences=["timeout factor"]))
    found = json.loads(data)
    fields = "name assigned completed scored excluded resolved rate interval cost_per_resolved"
    assert set(fields.split()) <= set(found["arms"][0])
    assert set(found["table"]) == {"both", "a_only", "b_only", "neither"}
    assert {"exact", "mid_p"} <= set(found["mcnemar"])
    fields = "estimate low high standard_error method draws seed"
    assert set(fields.split()) <= set(found["difference"])
    assert found["card_differences"] == ["timeout factor"]
    assert len(found["discordant"]) == 3
    assert (found["difference"]["draws"], found["difference"]["seed"]) == (10_000, 7)
    assert msgspec.json.encode(msgspec.json.decode(data, type=Comparison)) == data


verdicts = st.sampled_from([True, False, None])


@given(st.lists(st.tuples(verdicts, verdicts), min_size=1, max_size=40))
@settings(max_examples=50, deadline=None)
def test_any_table_adds_up_and_agrees_with_scipy(pairs: list[tuple[bool | None, bool | None]]) -> None:
    found = compare(arm("a", [a for a, _ in pairs]), arm("b", [b for _, b in pairs]), draws=200)
    table, delta = found.table, found.difference
    assert table.tasks == len(pairs)
    assert delta.estimate == pytest.approx((table.a_only - table.b_only) / len(pairs))
    assert delta.low is not None and delta.high is not None
    assert -1 <= delta.low <= delta.high <= 1
    discordant = table.a_only + table.b_only
    expected = binomtest(table.a_only, discordant).pvalue if discordant else 1.0
    assert found.mcnemar.exact == pytest.approx(expected)
    assert len(found.discordant) == discordant
    for each in found.arms:
        assert each.resolved <= each.scored <= each.completed <= each.assigned


def test_tasks_that_the_plan_refused_for_one_arm_are_named() -> None:
    """They count as not passed, and a reader has to know why."""
    refused = msgspec.structs.replace(trial("t2", None, arm="b"), refused=True)
    found = compare([trial("t1", arm="a"), trial("t2", arm="a")], [trial("t1", arm="b"), refused], draws=50)
    assert "B: 1 task refused in the plan, never run: t2" in found.notes
    assert not any(note.startswith("A: 1 task refused") for note in found.notes)
