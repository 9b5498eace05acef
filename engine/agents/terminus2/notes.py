"""What is kept of a conversation that doesn't fit: the model's own notes, and its answers to what they leave open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from engine.agents.terminus2 import prompt
from engine.agents.terminus2.screen import limited
from engine.agents.terminus2.talk import Talk, tokens_in_turns, unwound
from engine.models.conversation import Reply, Turn
from engine.models.model_call import ModelCallFailed

TRIES = 3
MOST_NOTES = 24_000
"""Bytes of the notes, of the questions and of the answers each."""


class ContextFull(Exception):
    """The conversation doesn't fit into the model's context. `failed` is what the server said of it, if it did."""

    def __init__(self, failed: ModelCallFailed | None = None) -> None:
        super().__init__("the model's context is full")
        self.failed = failed


class Notes(msgspec.Struct, frozen=True, kw_only=True):
    summary: str
    asked: str = ""
    answered: str = ""


Ask = Callable[[str, Sequence[Turn]], Awaitable[Reply]]
"""One call, told apart by its kind. Raises ContextFull, and whatever ends the agent's work."""


async def take_notes(ask: Ask, talk: Talk, instruction: str, seen: str, most_tokens: int | None) -> Notes | None:
    """At most TRIES calls for the notes, each with less of the conversation, then one for questions and one for their
    answers. None: there are no notes to be had."""
    most = most_tokens if most_tokens is not None else tokens_in_turns(talk.turns) * 3 // 4
    for tried in range(TRIES):
        kept = unwound(talk.turns, most).turns
        if not tried and len(kept) < 2 < len(talk.turns):
            kept = tuple(talk.turns[:2])
        if len(kept) < 2:
            return None
        told = [*kept, Turn("user", prompt.SUMMARY)]
        try:
            summary = limited((await ask("notes", told)).text.strip(), MOST_NOTES)
        except ContextFull:
            most = min(most, tokens_in_turns(kept)) // 2
            continue
        if not summary:
            return None
        return await _with_questions(ask, told, instruction, summary, seen)
    return None


async def _with_questions(ask: Ask, told: list[Turn], instruction: str, summary: str, seen: str) -> Notes:
    try:
        asked = (await ask("questions", [Turn("user", prompt.questions(instruction, summary, seen))])).text.strip()
        asked = limited(asked, MOST_NOTES)
        if not asked:
            return Notes(summary=summary)
        more = [*told, Turn("assistant", summary), Turn("user", prompt.answers(asked))]
        answered = limited((await ask("answers", more)).text.strip(), MOST_NOTES)
    except ContextFull:
        return Notes(summary=summary)
    return Notes(summary=summary, asked=asked, answered=answered)
