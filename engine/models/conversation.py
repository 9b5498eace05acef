"""What an agent of ours says to a model and hears from it, whatever the model's protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from engine.models.model_call import CostSource, Stop, Usage


class Turn(msgspec.Struct, frozen=True):
    role: Literal["user", "assistant"]
    text: str


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """An answer. `reasoning` is what the provider shows of the model's thinking, "" where it shows none."""

    text: str
    reasoning: str = ""
    stop: Stop = Stop.END
    usage: Usage = Usage()
    cost_usd: float | None = None
    cost_source: CostSource | None = None
    model: str = ""
    seconds: float = 0.0
    tries: int = 1


class ModelClient(Protocol):
    """A model on the host's side, retries included."""

    async def ask(self, turns: Sequence[Turn], *, system: str = "") -> Reply:
        """One answer to the whole conversation. Raises ModelCallFailed; may be cancelled at any await."""

    async def close(self) -> None: ...
