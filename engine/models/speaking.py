"""What the three wires have in common for a client: a question goes out, the whole answer comes back as its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from engine.models.conversation import Turn
from engine.models.model_call import ModelFailure

CONNECT_SEC = 15.0
SEND_SEC = 120.0
ANSWER_SEC = 1800.0
"""For an answer that comes in one piece: until then nothing is heard of a model that thinks."""
SILENCE_SEC = 300.0
"""In a stream, between one sign of life and the next."""


class Unanswered(Exception):
    """A request that brought no good answer. Its words may still hold a key."""

    def __init__(self, failure: ModelFailure) -> None:
        super().__init__(failure.words)
        self.failure = failure


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of 200, good or not. `body` is its JSON as the wire has it, with a stream's pieces put together."""

    body: bytes
    headers: Mapping[str, str]


class Speaking(Protocol):
    path: str

    async def ask(self, turns: Sequence[Turn], system: str) -> Answer:
        """Once, no retries. Raises Unanswered; whatever else it raises came from a connection."""

    async def close(self) -> None: ...
