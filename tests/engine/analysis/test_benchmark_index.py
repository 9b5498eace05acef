"""The index over benchmarks: exactly the stated attempts, nothing missing, and what weights do to it."""

from __future__ import annotations

import pytest

from engine.analysis.benchmark_index import benchmark_score, indices
from engine.analysis.trial_facts import ArmFacts
from tests.engine.analysis.making_facts import arm_facts, fact


def over(name: str, shares: dict[str, tuple[int, int]]) -> ArmFacts:
    """An arm that passes so many of so many tasks of each benchmark."""
    return arm_facts(
        name,
        [
            fact(f"{benchmark}-{task:02}", task < passed, benchmark=benchmark)
            for benchmark, (passed, of) in shares.items()
            for task in range(of)
        ],
    )


def test_every_benchmark_counts_alike_however_many_tasks_it_has() -> None:
    (index,) = indices([over("a", {"small": (5, 10), "large": (90, 100)})], ["small", "large"])
    assert index.value == pytest.approx(0.7)
    assert index.weights == {"small": 0.5, "large": 0.5}
    assert index.low is not None and index.high is not None and index.low < 0.7 < index.high
    assert [score.score for score in index.scores] == [0.5, 0.9]


def test_a_missing_benchmark_leaves_the_index_incomplete_and_says_so() -> None:
    (index,) = indices([over("a", {"one": (5, 10)})], ["one", "two"])
    assert (index.value, index.low, index.incomplete) == (None, None, ("two: not run",))
    without = next(other for other in index.sensitivity if other.weights == "without two")
    assert without.value == pytest.approx(0.5)


def test_attempts_beyond_the_stated_ones_do_not_count() -> None:
    facts = [fact("t1", attempt == 3, attempt=attempt) for attempt in (1, 2, 3)]
    facts += [fact("t2", True, attempt=attempt) for attempt in (1, 2)]
    score, means = benchmark_score(arm_facts("a", facts, attempts=2), "bench")
    assert (means, score.score, score.surplus) == ([0.0, 1.0], 0.5, 1)


def test_fewer_attempts_than_stated_and_unfinished_ones_leave_it_open() -> None:
    facts = [fact("t1", True, attempt=1), fact("t1", True, attempt=2), fact("t2", True, attempt=1)]
    score, _ = benchmark_score(arm_facts("a", facts, attempts=2), "bench")
    assert score.score is None and score.problem == "1 task with fewer than 2 attempts: t2"
    waiting = arm_facts("a", [fact("t1", None, finished=False)])
    assert benchmark_score(waiting, "bench")[0].problem == "1 trial not finished"


def test_an_attempt_without_a_verdict_is_no_pass_and_no_gap() -> None:
    score, _ = benchmark_score(arm_facts("a", [fact("t1", None), fact("t2", True)]), "bench")
    assert score.score == 0.5 and score.problem == ""


def test_weights_are_used_and_refused_where_they_make_no_mean() -> None:
    arms = [over("a", {"one": (5, 10), "two": (10, 10)})]
    (index,) = indices(arms, ["one", "two"], weights={"two": 3})
    assert index.value == pytest.approx(0.875) and index.weights == {"one": 0.25, "two": 0.75}
    for weights, words in (
        ({"three": 1.0}, "no benchmark 'three'"),
        ({"one": -1.0}, "a weight is"),
        ({"one": 0.0, "two": 0.0}, "every"),
    ):
        with pytest.raises(ValueError, match=words):
            indices(arms, ["one", "two"], weights=weights)


def test_it_is_said_where_other_weights_turn_the_order_of_arms_round() -> None:
    found = indices(
        [over("a", {"one": (9, 10), "two": (2, 10)}), over("b", {"one": (5, 10), "two": (5, 10)})], ["one", "two"]
    )
    changed = {other.weights: other.order_changes for other in found[0].sensitivity}
    assert changed == {"without one": True, "one twice": False, "without two": False, "two twice": True}
