"""A scripted answer in the words of OpenAI Responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from engine.models.model_call import Stop
from engine.models.scripted.answer import Answer, Call
from engine.models.scripted.asked import Asked
from engine.models.scripted.pieces import named, pieces

INCOMPLETE = {Stop.LENGTH: "max_output_tokens", Stop.FILTER: "content_filter"}


def whole(answer: Answer, asked: Asked, serial: int) -> dict[str, Any]:
    reason = INCOMPLETE.get(answer.stop)
    return {
        **_head(asked, serial),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": [item for item, _ in _items(answer, serial)],
        "usage": usage(answer),
    }


def events(answer: Answer, asked: Asked, serial: int, size: int) -> Iterator[bytes]:
    number = 0

    def event(kind: str, **more: object) -> bytes:
        nonlocal number
        number += 1
        return named(kind, {"type": kind, "sequence_number": number - 1, **more})

    begun = {**_head(asked, serial), "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, (item, empty) in enumerate(_items(answer, serial)):
        where = {"item_id": item["id"], "output_index": index}
        yield event("response.output_item.added", output_index=index, item=empty)
        match item["type"]:
            case "reasoning":
                part = {**where, "summary_index": 0}
                whole_text = {"type": "summary_text", "text": answer.reasoning}
                yield event("response.reasoning_summary_part.added", **part, part={**whole_text, "text": ""})
                for piece in pieces(answer.reasoning, size):
                    yield event("response.reasoning_summary_text.delta", **part, delta=piece)
                yield event("response.reasoning_summary_text.done", **part, text=answer.reasoning)
                yield event("response.reasoning_summary_part.done", **part, part=whole_text)
            case "message":
                part = {**where, "content_index": 0}
                content = item["content"][0]
                key, name = ("refusal", "refusal") if content["type"] == "refusal" else ("text", "output_text")
                more: dict[str, object] = {"logprobs": []} if key == "text" else {}
                yield event("response.content_part.added", **part, part={**content, key: ""})
                for piece in pieces(answer.text, size):
                    yield event(f"response.{name}.delta", **part, delta=piece, **more)
                yield event(f"response.{name}.done", **part, **{key: answer.text}, **more)
                yield event("response.content_part.done", **part, part=content)
            case "function_call":
                for piece in pieces(item["arguments"], size):
                    yield event("response.function_call_arguments.delta", **where, delta=piece)
                yield event("response.function_call_arguments.done", **where, arguments=item["arguments"])
            case "custom_tool_call":
                for piece in pieces(item["input"], size):
                    yield event("response.custom_tool_call_input.delta", **where, delta=piece)
                yield event("response.custom_tool_call_input.done", **where, input=item["input"])
        yield event("response.output_item.done", output_index=index, item=item)
    final = whole(answer, asked, serial)
    yield event(f"response.{final['status']}", response=final)


def error_event(body: dict[str, Any], serial: int) -> bytes:
    error = body.get("error")
    found = error if isinstance(error, dict) else {}
    failure = {"code": found.get("code") or found.get("type"), "message": found.get("message")}
    response = {"id": f"resp_{serial:06d}", "object": "response", "status": "failed", "error": failure, "output": []}
    return named("response.failed", {"type": "response.failed", "sequence_number": 9, "response": response})


def usage(answer: Answer) -> dict[str, Any] | None:
    tokens = answer.tokens
    if tokens is None:
        return None
    found: dict[str, Any] = {
        "input_tokens": tokens.tokens_in,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.tokens_out,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.tokens_in + tokens.tokens_out,
    }
    if tokens.cache_written:
        found["input_tokens_details"]["cache_write_tokens"] = tokens.cache_written
    if answer.cost_usd is not None:
        found["cost"] = answer.cost_usd
    return found


def _items(answer: Answer, serial: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each item of the answer, and how it looks before anything of it is written."""
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        item: dict[str, Any] = {"id": f"rs_{serial:06d}", "type": "reasoning", "summary": summary}
        yield item, {**item, "summary": []}
    if answer.text:
        content = (
            {"type": "refusal", "refusal": answer.text}
            if answer.stop is Stop.REFUSAL
            else {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        )
        done = "incomplete" if answer.stop in INCOMPLETE else "completed"
        item = {"id": f"msg_{serial:06d}", "type": "message", "role": "assistant", "status": done, "content": [content]}
        yield item, {**item, "status": "in_progress", "content": []}
    for position, call in enumerate(answer.calls):
        yield _call(call, f"fc_{serial:06d}_{position}")


def _call(call: Call, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    item: dict[str, Any] = {"id": name, "call_id": call.id, "status": "completed"}
    begun = {**item, "status": "in_progress"}
    match call.tool.kind:
        case "local_shell":
            try:
                command = json.loads(call.arguments)["command"]
            except (ValueError, KeyError):
                command = []
            action = {"type": "exec", "command": command, "env": {}, "timeout_ms": None, "working_directory": None}
            more: dict[str, Any] = {"type": "local_shell_call", "action": action}
            return {**item, **more}, {**begun, **more}
        case "custom":
            more = {"type": "custom_tool_call", "name": call.tool.name}
            return {**item, **more, "input": call.arguments}, {**begun, **more, "input": ""}
        case _:
            more = {"type": "function_call", "name": call.tool.name}
            if call.tool.space:
                more["namespace"] = call.tool.space
            return {**item, **more, "arguments": call.arguments}, {**begun, **more, "arguments": ""}


def _head(asked: Asked, serial: int) -> dict[str, Any]:
    return {
        "id": f"resp_{serial:06d}",
        "object": "response",
        "created_at": 1767225600 + serial,
        "model": asked.model,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }
