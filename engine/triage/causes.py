"""The causes that a failed trial can have, as `measurement.md` names them."""

from __future__ import annotations

from enum import StrEnum


class Cause(StrEnum):
    INFRASTRUCTURE = "infrastructure"
    PROVIDER = "provider"  # the model's API
    AGENT = "agent"  # the harness around the model
    MODEL = "model"
    BUDGET = "budget"  # time, tokens, turns
    GRADER = "grader"
    TASK = "task"
    AMBIGUOUS = "ambiguous"
