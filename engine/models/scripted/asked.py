"""What a request asks, brought to one shape from three protocols."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.models.settings import Wire
from engine.trajectories.untyped import Record, block_text, items, record, text

MODEL_MADE = frozenset(
    {"reasoning", "function_call", "custom_tool_call", "local_shell_call", "shell_call", "web_search_call"}
)


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the request offers. `kind`: function, custom (takes free text), or a provider's own, such as
    local_shell. `space` is the namespace that it stands in, "" where there is none."""

    name: str
    kind: str = "function"
    schema: dict[str, Any] = {}
    space: str = ""


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier answer, as the request's history holds it."""

    text: str = ""
    calls: tuple[str, ...] = ()


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    wire: Wire
    model: str = ""
    system: str = ""
    said: tuple[str, ...] = ()
    spoken: tuple[Spoken, ...] = ()
    tools: tuple[Tool, ...] = ()
    stream: bool = False
    stream_usage: bool = True
    session: str = ""
    size: int = 0

    @property
    def last(self) -> str:
        return self.said[-1] if self.said else ""


def read_asked(wire: Wire, body: Record, size: int) -> Asked:
    match wire:
        case Wire.OPENAI_CHAT:
            return _chat(body, size)
        case Wire.OPENAI_RESPONSES:
            return _responses(body, size)
        case Wire.ANTHROPIC:
            return _anthropic(body, size)


class _History:
    """Neighbouring things that the model made are one answer of it."""

    def __init__(self) -> None:
        self.system: list[str] = []
        self.said: list[str] = []
        self.spoken: list[Spoken] = []
        self._open = False

    def user(self, words: str) -> None:
        self.said.append(words)
        self._open = False

    def result(self) -> None:
        self._open = False

    def model(self, words: str, calls: tuple[str, ...] = ()) -> None:
        if self._open:
            before = self.spoken.pop()
            words, calls = "\n".join(filter(None, (before.text, words))), before.calls + calls
        self.spoken.append(Spoken(text=words, calls=calls))
        self._open = True


def _chat(body: Record, size: int) -> Asked:
    history = _History()
    for message in map(record, items(body.get("messages"))):
        words = block_text(message.get("content"))
        match message.get("role"):
            case "system" | "developer":
                history.system.append(words)
            case "user":
                history.user(words)
            case "assistant":
                calls = tuple(text(record(call).get("id")) for call in items(message.get("tool_calls")))
                history.model(words or text(message.get("refusal")), calls)
            case _:
                history.result()
    tools = []
    for tool in map(record, items(body.get("tools"))):
        function = record(tool.get("function"))
        tools.append(Tool(name=text(function.get("name")), schema=record(function.get("parameters"))))
    return Asked(
        wire=Wire.OPENAI_CHAT,
        model=text(body.get("model")),
        system="\n".join(history.system),
        said=tuple(history.said),
        spoken=tuple(history.spoken),
        tools=tuple(tools),
        stream=body.get("stream") is True,
        stream_usage=record(body.get("stream_options")).get("include_usage") is True,
        session=text(body.get("prompt_cache_key")) or text(body.get("user")),
        size=size,
    )


def _responses(body: Record, size: int) -> Asked:
    history = _History()
    given = body.get("input")
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else map(record, items(given)):
        kind = text(item.get("type")) or "message"
        if kind != "message":
            if kind in MODEL_MADE:
                call = text(item.get("call_id"))
                history.model("", (call,) if call else ())
            else:
                history.result()
            continue
        words = block_text(item.get("content"))
        match item.get("role"):
            case "system" | "developer":
                history.system.append(words)
            case "assistant":
                refusals = (text(record(part).get("refusal")) for part in items(item.get("content")))
                history.model(next(filter(None, refusals), words))
            case _:
                history.user(words)
    return Asked(
        wire=Wire.OPENAI_RESPONSES,
        model=text(body.get("model")),
        system="\n".join([text(body.get("instructions")), *history.system]),
        said=tuple(history.said),
        spoken=tuple(history.spoken),
        tools=tuple(_responses_tools(items(body.get("tools")))),
        stream=body.get("stream") is True,
        session=text(body.get("prompt_cache_key")),
        size=size,
    )


def _responses_tools(given: list[Any], space: str = "") -> list[Tool]:
    tools = []
    for tool in map(record, given):
        kind = text(tool.get("type")) or "function"
        name = text(tool.get("name"))
        if kind == "namespace":
            tools += _responses_tools(items(tool.get("tools")), name)
            continue
        tools.append(Tool(name=name or kind, kind=kind, schema=record(tool.get("parameters")), space=space))
    return tools


def _anthropic(body: Record, size: int) -> Asked:
    history = _History()
    for message in map(record, items(body.get("messages"))):
        content = message.get("content")
        blocks = [record(block) for block in items(content)]
        if message.get("role") == "assistant":
            calls = tuple(text(block.get("id")) for block in blocks if block.get("type") == "tool_use")
            words = [text(block.get("text")) for block in blocks if block.get("type") == "text"]
            history.model(text(content) if isinstance(content, str) else "\n".join(words), calls)
        elif blocks and all(block.get("type") == "tool_result" for block in blocks):
            history.result()
        else:
            words = [text(block.get("text")) for block in blocks if block.get("type") == "text"]
            history.user(text(content) if isinstance(content, str) else "\n".join(words))
    tools = [
        Tool(name=text(tool.get("name")), schema=record(tool.get("input_schema")))
        for tool in map(record, items(body.get("tools")))
    ]
    return Asked(
        wire=Wire.ANTHROPIC,
        model=text(body.get("model")),
        system=block_text(body.get("system")),
        said=tuple(history.said),
        spoken=tuple(history.spoken),
        tools=tuple(tools),
        stream=body.get("stream") is True,
        session=text(record(body.get("metadata")).get("user_id")),
        size=size,
    )
