"""When a reward is a pass: the rule of the card."""

from __future__ import annotations

import pytest

from engine.trial.acceptance import DEFAULT, RuleInvalid, read_rule


@pytest.mark.parametrize(("reward", "verdict"), [(1.0, True), (0.999, False), (0.0, False), (2.0, False), (None, None)])
def test_unless_the_card_says_otherwise_only_a_whole_one_passes(reward: float | None, verdict: bool | None) -> None:
    assert read_rule(DEFAULT).passes(reward, {}) is verdict


@pytest.mark.parametrize(
    ("rule", "reward", "verdict"),
    [
        ("reward >= 0.8", 0.8, True),
        ("reward > 0.8", 0.8, False),
        ("reward>=8e-1", 0.79, False),
        ("reward > 0", 2, True),
    ],
)
def test_a_threshold_stated_before_the_run_counts(rule: str, reward: float, verdict: bool) -> None:
    assert read_rule(rule).passes(reward, {}) is verdict


def test_another_reward_of_the_verifier_can_be_the_one_that_counts() -> None:
    rule = read_rule("coverage >= 0.5")
    assert rule.passes(0.0, {"coverage": 0.6}) is True
    assert rule.passes(1.0, {"coverage": 0.4}) is False
    assert rule.passes(1.0, {}) is None


@pytest.mark.parametrize(
    "text", ["", "reward", "reward = 1", "reward == one", "1 == reward", "reward >= nan", "a == 1 or 2"]
)
def test_a_rule_that_can_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(RuleInvalid, match="expected a reward"):
        read_rule(text)
