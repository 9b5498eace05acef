"""When a reward is a pass: the acceptance rule, stated in the card before the run."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import msgspec

from engine.trial.reward import PRIMARY

DEFAULT = "reward == 1"
_RULE = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*(==|>=|>)\s*([0-9.eE+-]+)\s*")


class RuleInvalid(ValueError):
    """An acceptance rule that can't be read; the message says what was expected."""


class AcceptanceRule(msgspec.Struct, frozen=True):
    """`name` is the primary reward (`reward`) or another one that the verifier gives."""

    name: str
    comparison: str
    threshold: float

    def passes(self, reward: float | None, rewards: Mapping[str, float]) -> bool | None:
        """None where the reward that counts is missing: neither a pass nor a failure."""
        value = reward if self.name == PRIMARY else rewards.get(self.name)
        if reward is None or value is None:
            return None
        match self.comparison:
            case "==":
                return value == self.threshold
            case ">":
                return value > self.threshold
        return value >= self.threshold


def read_rule(text: str) -> AcceptanceRule:
    """`reward == 1`, `reward >= 0.8`, `coverage > 0.5`. Raises RuleInvalid."""
    found = _RULE.fullmatch(text)
    try:
        threshold = float(found[3]) if found is not None else math.nan
    except ValueError:
        threshold = math.nan
    if found is None or not math.isfinite(threshold):
        raise RuleInvalid(f"acceptance is {text!r}, expected a reward, one of == >= >, and a number: {DEFAULT!r}")
    return AcceptanceRule(found[1], found[2], threshold)
