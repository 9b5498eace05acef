"""The causes as a person meets them: one key each, a word, and a shorter one for narrow screens."""

from __future__ import annotations

from dataclasses import dataclass

from engine.triage.causes import Cause


@dataclass(frozen=True)
class CauseKey:
    """`key` is Textual's name of the key."""

    cause: Cause
    key: str
    short: str
    help: str


CAUSE_KEYS = (
    CauseKey(Cause.INFRASTRUCTURE, "i", "infra", "Infrastructure failed: host, Docker, network, image, disk"),
    CauseKey(Cause.PROVIDER, "p", "provider", "The model's provider failed: rate limit, overload, refusal by its API"),
    CauseKey(Cause.AGENT, "a", "agent", "The harness around the model failed"),
    CauseKey(Cause.MODEL, "m", "model", "The model failed"),
    CauseKey(Cause.BUDGET, "b", "budget", "The budget was spent: time, tokens, turns"),
    CauseKey(Cause.GRADER, "g", "grader", "The verifier failed, or judged wrongly"),
    CauseKey(Cause.TASK, "k", "task", "The task itself is broken"),
    CauseKey(Cause.AMBIGUOUS, "question_mark", "ambiguous", "It can't be told"),
)

SHORT = {entry.cause: entry.short for entry in CAUSE_KEYS}

HELP_ELSEWHERE = "  (help is F1 here)"
"""Said to who gave that cause: it may be help that was wanted."""
