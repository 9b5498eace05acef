"""The conversation with the model, and how much of its context that fills."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.models.conversation import Reply, Turn

BYTES_A_TOKEN = 3
"""Cautious: text in English has more than four."""
TOKENS_A_TURN = 8
LEAST_ROOM = 2_000
MOST_ROOM = 16_000


def tokens_in(text: str) -> int:
    """About how many, rather too many."""
    return len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN + TOKENS_A_TURN


def tokens_in_turns(turns: Sequence[Turn]) -> int:
    return sum(tokens_in(turn.text) for turn in turns)


class Talk:
    """Turns that alternate, of the user first. What the model read and wrote last is known from its own count; only
    what came since is estimated."""

    def __init__(self, system: str, first: str) -> None:
        self.system = system
        self.turns: list[Turn] = [Turn("user", first)]
        self._known = tokens_in(system)
        self._since = tokens_in(first)

    @property
    def tokens(self) -> int:
        """What the next call will read, about."""
        return self._known + self._since

    def answered(self, reply: Reply, text: str | None = None) -> None:
        """`text`: what is kept of the answer, where that isn't all of it."""
        usage = reply.usage
        kept = reply.text if text is None else text
        kept = kept if kept.strip() else "(no answer)"  # a turn without text is refused by some servers
        if usage.tokens_in is not None:
            self._known, self._since = usage.tokens_in, 0
        if text is None and usage.tokens_in is not None and usage.tokens_out is not None:
            self._known += max(0, usage.tokens_out - (usage.tokens_reasoning or 0))
        else:
            self._since += tokens_in(kept)
        self.turns.append(Turn("assistant", kept))

    def say(self, text: str) -> None:
        """Goes on in the turn of the user where one stands last."""
        text = text.encode("utf-8", "replace").decode()  # a warning may quote half a surrogate pair
        self._since += tokens_in(text)
        if self.turns[-1].role == "user":
            text = f"{self.turns.pop().text}\n\n{text}"
        self.turns.append(Turn("user", text))

    def is_near(self, context_tokens: int | None, max_output_tokens: int | None) -> bool:
        """Is there no room for an answer and for notes any more?"""
        return context_tokens is not None and self.tokens + room_for(context_tokens, max_output_tokens) > context_tokens


class Kept(msgspec.Struct, frozen=True):
    """The beginning of a conversation, up to an answer; `left_out` turns at its end are not in it."""

    turns: tuple[Turn, ...]
    left_out: int


def room_for(context_tokens: int, max_output_tokens: int | None) -> int:
    """Tokens that must be free: an answer, and what the terminal shows then; in a small context a third of it."""
    wanted = min(max(max_output_tokens or LEAST_ROOM, LEAST_ROOM), MOST_ROOM) + 6_000
    return min(wanted, context_tokens // 3)


def unwound(turns: Sequence[Turn], most_tokens: int) -> Kept:
    """The latest turns are left out until the rest has at most so many tokens, but never the first one."""
    size = 0
    keep = 0
    for index, turn in enumerate(turns):
        size += tokens_in(turn.text)
        if index and size > most_tokens:
            break
        keep = index + 1
    while keep > 1 and turns[keep - 1].role != "assistant":
        keep -= 1
    return Kept(tuple(turns[:keep]), len(turns) - keep)
