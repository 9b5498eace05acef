"""A scripted answer before it is put into a protocol's words: a turn, said in the way of the program that asks."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from engine.models.model_call import Stop
from engine.models.scripted.asked import Asked, Tool
from engine.models.scripted.dialect import as_text, broken_text, finish_command, finished_text
from engine.models.scripted.progress import call_id
from engine.models.scripted.script import (
    Break,
    CutOff,
    Done,
    Empty,
    Filter,
    Hang,
    Malformed,
    Refuse,
    Run,
    Say,
    Tokens,
    Turn,
    Use,
)
from engine.models.settings import Wire


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """`arguments` is text as it goes out: JSON, unless it is broken on purpose or the tool takes free text."""

    id: str
    tool: Tool
    arguments: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    stop: Stop = Stop.END
    tokens: Tokens | None = None
    cost_usd: float | None = None


SHELL_TOOLS = (
    "Bash",
    "bash",
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
    "container.exec",
    "execute_bash",
    "run_shell_command",
    "run_command",
    "execute_command",
    "terminal",
)


def answer_of(turn: Turn, asked: Asked, number: int, serial: int) -> Answer:
    """What an answering turn says, and what a cut one would have said. `serial` keeps ids of calls apart."""
    stop = Stop.END
    calls: tuple[Call, ...] = ()
    words = ""
    call = call_id(number, serial)
    match turn:
        case Say() | Break() | Hang():
            words = turn.text
        case CutOff():
            words, stop = turn.text, Stop.LENGTH
        case Refuse():
            words, stop = turn.text, Stop.REFUSAL
        case Filter():
            words, stop = turn.text, Stop.FILTER
        case Run():
            calls = _run(turn.command, asked, call)
            words = turn.say if calls else turn.raw or as_text(turn.command, turn.say, turn.seconds, asked)
        case Use():
            tool = _tool(turn.tool, asked)
            words = turn.say if tool else f"No tool named {turn.tool} is offered; there are: {_names(asked)}."
            calls = (Call(id=call, tool=tool, arguments=json.dumps(turn.arguments)),) if tool else ()
        case Done():
            command = finish_command(asked)
            calls = _run(command, asked, call) if command else ()
            words = turn.text if calls else turn.raw or finished_text(turn.text, asked)
        case Malformed():
            shell = shell_tool(asked)
            calls = (Call(id=call, tool=shell, arguments='{"command": "echo broken'),) if shell else ()
            words = turn.text if calls else turn.text or broken_text(asked)
        case Empty():
            pass
        case _:
            raise ValueError(f"{type(turn).__name__} is no answer")
    return Answer(
        text=words,
        reasoning=turn.reasoning,
        calls=calls,
        stop=Stop.TOOL if calls and stop is Stop.END else stop,
        tokens=(turn.tokens or _estimate(asked, words, turn.reasoning, calls)) if turn.told else None,
        cost_usd=turn.cost_usd,
    )


def shell_tool(asked: Asked) -> Tool | None:
    """The offered tool that runs commands."""
    by_name = {tool.name: tool for tool in asked.tools}
    for name in SHELL_TOOLS:
        if name in by_name:
            return by_name[name]
    return next(
        (
            tool
            for tool in asked.tools
            if tool.kind == "function" and {"command", "cmd"} & set(_properties(tool)) and not tool.space
        ),
        None,
    )


def _run(command: str, asked: Asked, call: str) -> tuple[Call, ...]:
    tool = shell_tool(asked)
    if tool is None:
        return ()
    return (Call(id=call, tool=tool, arguments=json.dumps(_arguments(tool, command))),)


def _arguments(tool: Tool, command: str) -> dict[str, Any]:
    """What the tool's schema wants, with the command in its place."""
    if tool.kind == "local_shell":
        return {"command": ["bash", "-lc", command]}
    properties = _properties(tool)
    key = next((name for name in ("command", "cmd", "script", "code") if name in properties), "command")
    takes_list = properties.get(key, {}).get("type") == "array"
    arguments: dict[str, Any] = {key: ["bash", "-lc", command] if takes_list else command}
    for name in tool.schema.get("required", ()):
        if name not in arguments:
            arguments[name] = _filler(properties.get(name, {}))
    return arguments


def _filler(schema: dict[str, Any]) -> object:
    if choices := schema.get("enum"):
        return choices[0]
    kind = schema.get("type")
    return {"string": "runs a command", "integer": 1, "number": 1, "boolean": False, "array": []}.get(str(kind), {})


def _properties(tool: Tool) -> dict[str, Any]:
    found = tool.schema.get("properties")
    return {name: value for name, value in found.items() if isinstance(value, dict)} if isinstance(found, dict) else {}


def _tool(name: str, asked: Asked) -> Tool | None:
    exact = (tool for tool in asked.tools if tool.name == name)
    ending = (tool for tool in asked.tools if tool.name.endswith(f"__{name}"))
    return next(exact, None) or next(ending, None)


def _names(asked: Asked) -> str:
    return ", ".join(tool.name for tool in asked.tools) or "none"


def _estimate(asked: Asked, words: str, reasoning: str, calls: tuple[Call, ...]) -> Tokens:
    """A quarter of the characters, as a rule of thumb has it."""
    thought = len(reasoning) // 4
    wrote = (len(words) + sum(len(call.arguments) for call in calls)) // 4 + 1
    return Tokens(tokens_in=asked.size // 4 + 1, tokens_out=wrote + thought, reasoning=thought)


def bad_request_alone(turn: Turn, asked: Asked) -> bool:
    """Whether a filter can only show itself as an error."""
    return isinstance(turn, Filter) and (not turn.midway or asked.wire is Wire.ANTHROPIC)
