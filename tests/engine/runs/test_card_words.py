"""Run cards of two sides in words: what events don't tell is told from the cards."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from engine.analysis.arms import Arm, ArmRef
from engine.analysis.run_differences import CONTROLLED
from engine.events import ArmInfo, TaskSetInfo
from engine.layout import CARD
from engine.runs.card import CardTask, Exclusion, Question, RetryPolicy, RunCard, Split, write_card
from engine.runs.card_words import between, card_words
from engine.triage.causes import Cause


def card(**changes: Any) -> RunCard:
    given: dict[str, Any] = {
        "run": "r",
        "name": "n",
        "created": datetime(2026, 1, 2, tzinfo=UTC),
        "engine_version": "1.2",
        "arms": (ArmInfo(name="x", agent="nop"),),
        "task_set": TaskSetInfo(name="set"),
        "tasks": (CardTask(id="t", folder="/t", digest="1" * 64), CardTask(id="u", folder="/u", digest="2" * 64)),
        **changes,
    }
    return RunCard(**given)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"acceptance": "reward >= 0.5"}, "acceptance rule: A reward == 1, B reward >= 0.5"),
        ({"allowed_host_env": ("TOKEN",)}, "variables of the host for the tasks: A none, B TOKEN"),
        ({"cpus_cap": 2.0}, "cap of CPUs: A none, B 2"),
        ({"memory_mb_cap": 512}, "cap of memory: A none, B 512 MB"),
        ({"question": Question.PRODUCT}, "question: A not stated, B product"),
        ({"split": Split(pilot=("t",))}, "pilot tasks: A none, B t"),
        ({"exclusions": (Exclusion(task="z", reason="slow"),)}, "tasks left out: A none, B z"),
        (
            {"retries": RetryPolicy(causes=(Cause.PROVIDER,), most=3, redo_verdicts=(Cause.PROVIDER,))},
            "B provider at most 3 times, verdicts redone for provider",
        ),
        (
            {"tasks": (CardTask(id="t", folder="/t", digest="9" * 64), CardTask(id="v", folder="/v", digest="3" * 64))},
            "content of 1 task of the same name: t",
        ),
    ],
)
def test_each_difference_that_only_cards_know_is_named(changes: dict[str, Any], said: str) -> None:
    (words,) = between(card(), card(**changes))
    assert said in words


def test_equal_cards_differ_in_nothing() -> None:
    assert between(card(), card(run="other", name="other", created=datetime(2027, 1, 1, tzinfo=UTC))) == []


def test_hostile_text_of_a_card_is_one_safe_line() -> None:
    (words,) = between(card(), card(hypothesis="a\x1b[31m\nb"))
    assert "\x1b" not in words and "\n" not in words


def sides(*labels: str) -> tuple[Arm, Arm]:
    a, b = (Arm(label, (ArmRef(label, "x"),)) for label in labels)
    return a, b


def test_what_only_one_side_says_is_unknown_not_equal(tmp_path: Path) -> None:
    write_card(tmp_path, card())
    found = card_words(*sides("ours", "foreign"), {"ours": tmp_path})
    assert found.cards == () and found.unknown == (
        "not known of B: acceptance rule, variables of the host, retry policy",
    )


def test_a_card_that_was_changed_after_the_run_began_is_told_of_and_a_missing_one_is_not(tmp_path: Path) -> None:
    for name in ("one", "two", "none"):
        (tmp_path / name).mkdir()
    write_card(tmp_path / "one", card())
    write_card(tmp_path / "two", card())
    text = (tmp_path / "two" / CARD).read_text()
    (tmp_path / "two" / CARD).write_text(text.replace('"1.2"', '"1.3"'))
    folders = {name: tmp_path / name for name in ("one", "two", "none")}
    found = card_words(*sides("one", "two"), folders)
    assert "the run card can't be relied on" in found.cards[0] and "changed after the run began" in found.cards[0]
    assert card_words(*sides("one", "none"), folders).cards == ()


def test_the_question_is_that_of_both_cards(tmp_path: Path) -> None:
    for name, question in (("one", Question.CONTROLLED_MODEL), ("two", Question.CONTROLLED_MODEL), ("three", None)):
        (tmp_path / name).mkdir()
        write_card(tmp_path / name, card(question=question))
    folders = {name: tmp_path / name for name in ("one", "two", "three")}
    assert card_words(*sides("one", "two"), folders).question == CONTROLLED
    assert card_words(*sides("one", "three"), folders).question == ""


def test_runs_of_one_arm_are_compared_among_themselves_too(tmp_path: Path) -> None:
    for name, rule in (("one", "reward == 1"), ("two", "reward >= 0.5")):
        (tmp_path / name).mkdir()
        write_card(tmp_path / name, card(acceptance=rule))
    a, b = Arm("x", (ArmRef("one", "x"), ArmRef("two", "x"))), Arm("y", (ArmRef("one", "y"),))
    found = card_words(a, b, {name: tmp_path / name for name in ("one", "two")})
    assert found.cards == ("the runs of A: acceptance rule: the first reward == 1, another reward >= 0.5",)
