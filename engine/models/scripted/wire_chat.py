"""A scripted answer in the words of OpenAI Chat Completions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.models.model_call import Stop
from engine.models.scripted.answer import Answer
from engine.models.scripted.asked import Asked
from engine.models.scripted.pieces import data, pieces

FINISH = {Stop.TOOL: "tool_calls", Stop.LENGTH: "length", Stop.FILTER: "content_filter"}


def whole(answer: Answer, asked: Asked, serial: int) -> dict[str, Any]:
    refused = answer.stop is Stop.REFUSAL
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused or (answer.calls and not answer.text) else answer.text,
        "refusal": answer.text if refused else None,
    }
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.tool.name, "arguments": call.arguments}}
            for call in answer.calls
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": FINISH.get(answer.stop, "stop")}
    found = {**_head(asked, serial), "object": "chat.completion", "choices": [choice]}
    if answer.tokens is not None:
        found["usage"] = usage(answer)
    return found


def events(answer: Answer, asked: Asked, serial: int, size: int) -> Iterator[bytes]:
    head = {**_head(asked, serial), "object": "chat.completion.chunk"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return data({**head, "choices": [choice], **({"usage": None} if asked.stream_usage else {})})

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    for piece in pieces(answer.reasoning, size):
        yield chunk({"reasoning_content": piece})
    for piece in pieces(answer.text, size):
        yield chunk({"refusal": piece} if answer.stop is Stop.REFUSAL else {"content": piece})
    for index, call in enumerate(answer.calls):
        function = {"name": call.tool.name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in pieces(call.arguments, size):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, FINISH.get(answer.stop, "stop"))
    if asked.stream_usage and answer.tokens is not None:
        yield data({**head, "choices": [], "usage": usage(answer)})
    yield b"data: [DONE]\n\n"


def error_event(body: dict[str, Any], serial: int) -> bytes:
    return data(body)


def usage(answer: Answer) -> dict[str, Any]:
    tokens = answer.tokens
    if tokens is None:
        return {}
    found: dict[str, Any] = {
        "prompt_tokens": tokens.tokens_in,
        "completion_tokens": tokens.tokens_out,
        "total_tokens": tokens.tokens_in + tokens.tokens_out,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }
    if tokens.cache_written:
        found["prompt_tokens_details"]["cache_write_tokens"] = tokens.cache_written
    if answer.cost_usd is not None:
        found["cost"] = answer.cost_usd
    return found


def _head(asked: Asked, serial: int) -> dict[str, Any]:
    return {"id": f"chatcmpl-{serial:06d}", "created": 1767225600 + serial, "model": asked.model}
