"""The causes as a person meets them: one key each, a word, and shorter ones for narrow screens."""

from __future__ import annotations

from dataclasses import dataclass

from engine.triage.causes import Cause


@dataclass(frozen=True)
class CauseKey:
    """`key` is Textual's name of the key."""

    cause: Cause
    key: str
    short: str
    terse: str
    help: str


CAUSE_KEYS = (
    CauseKey(Cause.INFRASTRUCTURE, "i", "infra", "infra", "Infrastructure failed: host, Docker, network, image, disk"),
    CauseKey(
        Cause.PROVIDER,
        "p",
        "provider",
        "prov",
        "The model's provider failed: rate limit, overload, refusal by its API",
    ),
    CauseKey(Cause.AGENT, "a", "agent", "agent", "The harness around the model failed"),
    CauseKey(Cause.MODEL, "m", "model", "model", "The model failed"),
    CauseKey(Cause.BUDGET, "b", "budget", "budg", "The budget was spent: time, tokens, turns"),
    CauseKey(Cause.GRADER, "g", "grader", "grad", "The verifier failed, or judged wrongly"),
    CauseKey(Cause.TASK, "k", "task", "task", "The task itself is broken"),
    CauseKey(Cause.AMBIGUOUS, "question_mark", "ambiguous", "ambig", "It can't be told"),
)

SHORT = {entry.cause: entry.short for entry in CAUSE_KEYS}
