"""An answer that never ends fills nobody's memory: a hook for the HTTP client beneath the providers' SDKs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from engine.issues import Code
from engine.models.model_call import ModelCallFailed, ModelFailure

MOST_ANSWER = 64 << 20
"""Bytes, unpacked: far beyond what any model writes."""


async def bounded(response: Any) -> None:
    """For `event_hooks`. The response is HTTPX' own or that of a successor of it: both read everything through
    `aiter_bytes`."""
    read = response.aiter_bytes

    async def within(*arguments: Any, **named: Any) -> AsyncIterator[bytes]:
        size = 0
        async for piece in read(*arguments, **named):
            size += len(piece)
            if size > MOST_ANSWER:
                words = f"the answer is larger than {MOST_ANSWER >> 20} MiB"
                raise ModelCallFailed(ModelFailure(code=Code.MODEL_FAILED, words=words, status=response.status_code))
            yield piece

    response.aiter_bytes = within
