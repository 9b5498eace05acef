"""Answers of the three wires read into one meaning. Bounded, and with suspicion: servers of all kinds speak them."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from engine.models.model_call import Stop
from engine.models.settings import Wire

_CHAT_STOPS = {
    "stop": Stop.END,
    "eos": Stop.END,
    "end_turn": Stop.END,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "tool_calls": Stop.TOOL,
    "function_call": Stop.TOOL,
    "content_filter": Stop.FILTER,
}
_ANTHROPIC_STOPS = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.END,
    "max_tokens": Stop.LENGTH,
    "tool_use": Stop.TOOL,
    "refusal": Stop.REFUSAL,
    "model_context_window_exceeded": Stop.CONTEXT,
}
_INCOMPLETE = {"max_output_tokens": Stop.LENGTH, "content_filter": Stop.FILTER}


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer says. `stop_word` is the provider's own word for why it stopped, `tier` that for how it was served
    ("" where it says nothing, or that it was served as usual)."""

    text: str = ""
    reasoning: str = ""
    stop: Stop = Stop.OTHER
    stop_word: str = ""
    model: str = ""
    tier: str = ""
    usage: Mapping[str, object] = {}


def heard_in(wire: Wire, body: bytes) -> Heard:
    """An empty one for what is no answer of that wire."""
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        return Heard()
    return _READERS[wire](answer) if isinstance(answer, dict) else Heard()


def _heard_in_chat(answer: Mapping[str, object]) -> Heard:
    choice = next(iter(_records(answer.get("choices"))), {})
    message = _record(choice.get("message"))
    refusal = message.get("refusal")
    word = _text(choice.get("finish_reason"))
    stop = _CHAT_STOPS.get(word, Stop.OTHER)
    if isinstance(refusal, str) and refusal:
        stop = Stop.REFUSAL
    elif stop is Stop.END and message.get("tool_calls"):
        stop = Stop.TOOL
    return Heard(
        text=_text_of_parts(message.get("content")),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        stop=stop,
        stop_word=word,
        model=_text(answer.get("model")),
        tier=_tier(answer.get("service_tier")),
        usage=_record(answer.get("usage")),
    )


def _heard_in_responses(answer: Mapping[str, object]) -> Heard:
    items = _records(answer.get("output"))
    parts = [part for item in items if item.get("type") == "message" for part in _records(item.get("content"))]
    thoughts = [
        _text(part.get("text"))
        for item in items
        if item.get("type") == "reasoning"
        for part in (*_records(item.get("summary")), *_records(item.get("content")))
    ]
    status = _text(answer.get("status"))
    reason = _text(_record(answer.get("incomplete_details")).get("reason"))
    if status == "incomplete":
        stop = _INCOMPLETE.get(reason, Stop.OTHER)
    elif any(part.get("type") == "refusal" for part in parts):
        stop = Stop.REFUSAL
    elif any(item.get("type") in ("function_call", "custom_tool_call") for item in items):
        stop = Stop.TOOL
    else:
        stop = Stop.END if status == "completed" else Stop.OTHER
    return Heard(
        text="".join(_text(part.get("text")) for part in parts if part.get("type") == "output_text"),
        reasoning="\n\n".join(filter(None, thoughts)),
        stop=stop,
        stop_word=reason or status,
        model=_text(answer.get("model")),
        tier=_tier(answer.get("service_tier")),
        usage=_record(answer.get("usage")),
    )


def _heard_in_messages(answer: Mapping[str, object]) -> Heard:
    blocks = _records(answer.get("content"))
    word = _text(answer.get("stop_reason"))
    usage = _record(answer.get("usage"))
    return Heard(
        text="".join(_text(block.get("text")) for block in blocks if block.get("type") == "text"),
        reasoning="\n\n".join(
            filter(None, (_text(block.get("thinking")) for block in blocks if block.get("type") == "thinking"))
        ),
        stop=_ANTHROPIC_STOPS.get(word, Stop.OTHER),
        stop_word=word,
        model=_text(answer.get("model")),
        tier=_tier(usage.get("speed")) or _tier(usage.get("service_tier")),
        usage=usage,
    )


_AS_USUAL = frozenset({"auto", "default", "standard", "on_demand"})


def _tier(value: object) -> str:
    return "" if _text(value) in _AS_USUAL else _text(value)


_READERS = {
    Wire.OPENAI_CHAT: _heard_in_chat,
    Wire.OPENAI_RESPONSES: _heard_in_responses,
    Wire.ANTHROPIC: _heard_in_messages,
}


def _text_of_parts(content: object) -> str:
    """A text, or a list of parts that hold texts."""
    if isinstance(content, str):
        return content
    return "".join(_text(part.get("text")) for part in _records(content))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _record(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _records(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
