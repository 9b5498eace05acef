"""Codex as `codex exec --json` prints it: items of a thread, an event a line, without times."""

from __future__ import annotations

import shlex

from engine.trajectories.calls import call_text, of_words
from engine.trajectories.draft import Draft, Session
from engine.trajectories.steps import Call, Observation
from engine.trajectories.untyped import Record, as_json, block_text, code, items, record, text
from engine.trajectories.usage import Usage, openai_usage

_SPOKEN = frozenset({"reasoning", "agent_message", "assistant_message"})
_EVENTS = ("thread.", "turn.", "item.")
HARMLESS = "Model metadata for"
"""Of a model that this version doesn't know; it works all the same."""


def is_codex_event(found: Record) -> bool:
    kind = text(found.get("type"))
    return kind.startswith(_EVENTS) and ("thread_id" in found or "item" in found or kind.startswith("turn."))


class CodexEventsFold:
    """The events don't say where one answer of the model ends: what it says after something came back is a new step."""

    def __init__(self) -> None:
        self.session = Session("codex")
        self.session.agent = "codex"
        self._open: dict[str, Draft] = {}
        self._thread = ""
        self._usage: dict[str, Usage] = {}

    def take(self, line: int, found: Record) -> None:
        session = self.session
        kind = text(found.get("type"))
        if kind == "thread.started":
            self._thread = text(found.get("thread_id"))
        elif kind == "turn.completed":
            session.ended = "completed"
            self._count(openai_usage(record(found.get("usage"))))
        elif kind == "turn.failed":
            session.ended = "failed"
            session.error(_message(found.get("error")) or "the turn failed")
        elif kind == "error":
            session.error(_message(found))
        elif kind.startswith("item."):
            self._item(line, kind.removeprefix("item."), record(found.get("item")))

    def _count(self, usage: Usage) -> None:
        """What a thread used so far."""
        self._usage[self._thread] = usage
        for name in ("tokens_in", "tokens_cached", "tokens_out"):
            counts = [getattr(each, name) for each in self._usage.values()]
            setattr(self.session, name, None if None in counts else sum(counts))

    def _item(self, line: int, stage: str, item: Record) -> None:
        session = self.session
        kind = text(item.get("type")) or text(item.get("item_type"))
        name = text(item.get("id"))
        if kind == "error":
            if stage == "completed" and not _message(item).startswith(HARMLESS):
                session.error(_message(item))
            return
        if kind in _SPOKEN:
            if stage != "completed":
                return
            said = text(item.get("text")) or block_text(item.get("summary")) or block_text(item.get("content"))
            said_in = self._draft(line, spoken=True)
            (said_in.thoughts if kind == "reasoning" else said_in.messages).append(session.keep(said))
            return
        if stage == "updated" or not kind:
            return
        draft: Draft | None = self._open.get(name)
        if draft is None:
            draft = self._draft(line, spoken=False)
            draft.calls.append(Call(tool=_tool(kind, item), text=session.keep(_call_text(kind, item)), id=name))
        draft.changed()
        if stage == "started":
            self._open[name] = draft
            return
        if name in self._open:
            del self._open[name]
        observation = _observation(session, kind, item, name)
        if kind == "web_search" or kind == "todo_list":  # what was looked for is told only when it is over
            draft.calls = [
                Call(tool=call.tool, text=session.keep(_call_text(kind, item)), id=name) if call.id == name else call
                for call in draft.calls
            ]
        if observation is not None:
            draft.observations.append(observation)

    def _draft(self, line: int, *, spoken: bool) -> Draft:
        last = self.session.last
        goes_on = last is not None and last.source == "agent" and not last.observations
        if goes_on and spoken:
            goes_on = last is not None and not last.calls and not last.messages
        if last is not None and goes_on:
            last.changed()
            return last
        return self.session.begin("agent", line=line)


def _tool(kind: str, item: Record) -> str:
    if kind == "mcp_tool_call":
        return ".".join(word for word in (text(item.get("server")), text(item.get("tool"))) if word)
    return "shell" if kind == "command_execution" else kind


def _call_text(kind: str, item: Record) -> str:
    match kind:
        case "command_execution":
            return _command(text(item.get("command")))
        case "file_change":
            changes = [record(each) for each in items(item.get("changes"))]
            return "\n".join(f"{_word(change.get('kind'))} {text(change.get('path'))}" for change in changes)
        case "mcp_tool_call":
            return call_text(item.get("arguments"))
        case "web_search":
            return text(item.get("query"))
        case "todo_list":
            todo = [record(each) for each in items(item.get("items"))]
            return "\n".join(f"[{'x' if each.get('completed') else ' '}] {text(each.get('text'))}" for each in todo)
    return as_json({key: value for key, value in item.items() if key not in ("id", "type", "status")})


def _command(line: str) -> str:
    """What a shell was given with `-c` stands for itself."""
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    return of_words(words) if len(words) == 3 and of_words(words) == words[2] else line


def _word(kind: object) -> str:
    return text(kind) or text(record(kind).get("type")) or "change"


def _observation(session: Session, kind: str, item: Record, call: str) -> Observation | None:
    status = text(item.get("status"))
    exit_code = code(item.get("exit_code"))
    failed = status in ("failed", "declined") or bool(exit_code)
    if kind == "command_execution":
        said = text(item.get("aggregated_output"))
    elif kind == "mcp_tool_call":
        said = _message(item.get("error")) or block_text(record(item.get("result")).get("content"))
    elif kind == "todo_list":
        return None
    else:
        said = status if kind == "file_change" else ""
    return Observation(text=session.keep(said), call=call, failed=failed, exit_code=exit_code)


def _message(value: object) -> str:
    return text(value) or text(record(value).get("message"))
