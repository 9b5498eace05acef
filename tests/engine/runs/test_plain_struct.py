"""A field that is said with its default, and one that isn't, are the same measurement."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from engine import events as ev
from engine.runs.card import RetryPolicy, RunCard, Split
from engine.runs.card_differences import card_differences
from engine.runs.plain_struct import plain
from engine.triage.causes import Cause

CARD = RunCard(
    run="r",
    name="n",
    created=datetime(2026, 1, 1, tzinfo=UTC),
    engine_version="1",
    arms=(ev.ArmInfo(name="a", agent="oracle"),),
    task_set=ev.TaskSetInfo(name="set"),
    tasks=(),
)


@pytest.mark.parametrize(
    "said",
    [
        {"acceptance": " reward == 1".strip()},
        {"timeout_factor": float("1.0")},
        {"retries": RetryPolicy(causes=(Cause.INFRASTRUCTURE, Cause.PROVIDER))},
        {"split": Split()},
        {"arms": (ev.ArmInfo(name="a", agent="oracle", parameters={}, tools=()),)},
        {"task_set": ev.TaskSetInfo(name="set", version="".join([]))},
    ],
)
def test_a_default_that_is_said_is_no_other_card(said: dict[str, Any]) -> None:
    other = msgspec.structs.replace(CARD, **said)
    assert other.digest == CARD.digest
    assert card_differences(CARD, other) == []


def test_what_differs_from_its_default_stands_beside_it() -> None:
    other = msgspec.structs.replace(CARD, attempts=2, acceptance="reward >= 0.5")
    assert other.digest != CARD.digest
    assert [(one.field, one.a, one.b) for one in card_differences(CARD, other)] == [
        ("acceptance", "reward == 1", "reward >= 0.5"),
        ("attempts", "1", "2"),
    ]


def test_a_digest_of_before_still_holds() -> None:
    said = msgspec.structs.replace(CARD, timeout_factor=float("1.0"))
    assert "timeout_factor" in msgspec.to_builtins(said) and "timeout_factor" not in plain(said, defaults=False)
    assert said.has_digest(said.digest) and not said.has_digest("0" * 64)
