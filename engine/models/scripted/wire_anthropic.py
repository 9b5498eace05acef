"""A scripted answer in the words of Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine.models.model_call import Stop
from engine.models.scripted.answer import Answer
from engine.models.scripted.asked import Asked
from engine.models.scripted.pieces import named, pieces

REASONS = {Stop.TOOL: "tool_use", Stop.LENGTH: "max_tokens", Stop.REFUSAL: "refusal", Stop.FILTER: "refusal"}
SIGNATURE = "c2NyaXB0ZWQ="


def whole(answer: Answer, asked: Asked, serial: int) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if answer.reasoning:
        content.append({"type": "thinking", "thinking": answer.reasoning, "signature": SIGNATURE})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for call in answer.calls:
        content.append({"type": "tool_use", "id": call.id, "name": call.tool.name, "input": _input(call.arguments)})
    return {
        **_head(asked, serial),
        "content": content,
        "stop_reason": REASONS.get(answer.stop, "end_turn"),
        "usage": usage(answer),
    }


def events(answer: Answer, asked: Asked, serial: int, size: int) -> Iterator[bytes]:
    begun = usage(answer)
    if answer.tokens is not None:
        begun = {**begun, "output_tokens": 1}
        begun.pop("cost", None)
    message = {**_head(asked, serial), "content": [], "stop_reason": None, "usage": begun}
    yield named("message_start", {"type": "message_start", "message": message})
    yield named("ping", {"type": "ping"})
    index = 0
    if answer.reasoning:
        deltas: list[dict[str, Any]] = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces(answer.reasoning, size)
        ]
        deltas.append({"type": "signature_delta", "signature": SIGNATURE})
        yield from _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)
        index += 1
    if answer.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(answer.text, size)]
        yield from _block(index, {"type": "text", "text": ""}, deltas)
        index += 1
    for call in answer.calls:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(call.arguments, size)]
        block = {"type": "tool_use", "id": call.id, "name": call.tool.name, "input": {}}
        yield from _block(index, block, deltas)
        index += 1
    delta = {"stop_reason": REASONS.get(answer.stop, "end_turn"), "stop_sequence": None}
    yield named("message_delta", {"type": "message_delta", "delta": delta, "usage": usage(answer)})
    yield named("message_stop", {"type": "message_stop"})


def error_event(body: dict[str, Any], serial: int) -> bytes:
    return named("error", body)


def usage(answer: Answer) -> dict[str, Any]:
    tokens = answer.tokens
    if tokens is None:
        return {}
    found: dict[str, Any] = {
        "input_tokens": tokens.tokens_in - tokens.cached - tokens.cache_written,
        "cache_creation_input_tokens": tokens.cache_written,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.tokens_out,
    }
    if answer.cost_usd is not None:
        found["cost"] = answer.cost_usd
    return found


def _block(index: int, block: dict[str, Any], deltas: list[dict[str, Any]]) -> Iterator[bytes]:
    yield named("content_block_start", {"type": "content_block_start", "index": index, "content_block": block})
    for delta in deltas:
        yield named("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
    yield named("content_block_stop", {"type": "content_block_stop", "index": index})


def _head(asked: Asked, serial: int) -> dict[str, Any]:
    return {
        "id": f"msg_{serial:06d}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "stop_sequence": None,
    }


def _input(arguments: str) -> object:
    """An answer that isn't streamed can't hold broken JSON: the call has no arguments then."""
    try:
        return json.loads(arguments)
    except ValueError:
        return {}
