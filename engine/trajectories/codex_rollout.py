"""Codex's own session files (`sessions/…/rollout-….jsonl`): a time, a type and a payload a line."""

from __future__ import annotations

import re
from datetime import datetime

from engine.trajectories.calls import call_text, exit_code_in, exit_code_of
from engine.trajectories.draft import Draft, Session
from engine.trajectories.steps import Call, Observation
from engine.trajectories.untyped import Record, block_text, moment, parsed, record, text
from engine.trajectories.usage import openai_usage

_ITEMS = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    }
)
_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_TOLD = re.compile(r"\s*(?:<[a-z_]+>|# AGENTS\.md)")  # what Codex says in the user's place: environment, instructions


def is_codex_rollout(found: Record) -> bool:
    if "payload" in found:
        return text(found.get("type")) in _KINDS
    return (found.get("type") in ("function_call", "function_call_output", "local_shell_call")) or (
        "timestamp" in found and "instructions" in found and "id" in found and "type" not in found
    )


class CodexRolloutFold:
    """A step is one answer of the model, which ends where its tokens are counted or something comes back."""

    def __init__(self) -> None:
        self.session = Session("codex")
        self.session.agent = "codex"
        self._by_call: dict[str, Draft] = {}
        self._answer: Draft | None = None
        self._totals: Record = {}

    def take(self, line: int, found: Record) -> None:
        session = self.session
        at = moment(found.get("timestamp"))
        kind, payload = text(found.get("type")), record(found.get("payload"))
        if "payload" not in found:  # the oldest files have no envelope
            kind, payload = ("response_item" if kind in _ITEMS else "session_meta"), found
        match kind:
            case "session_meta":
                session.agent_version = text(payload.get("cli_version")) or session.agent_version
            case "turn_context":
                session.model = text(payload.get("model")) or session.model
            case "response_item":
                self._item(line, at, payload)
            case "event_msg":
                self._event(payload)
            case "compacted":
                session.begin("system", at, line).messages.append("Conversation compacted")
                self._answer = None

    def _item(self, line: int, at: datetime | None, item: Record) -> None:
        session = self.session
        match item.get("type"):
            case "message":
                self._message(line, at, item)
            case "reasoning":
                said = block_text(item.get("summary")) or block_text(item.get("content"))
                draft = self._agent(line, at)
                if said:
                    draft.thoughts.append(session.keep(said))
            case "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call":
                draft = self._agent(line, at)
                name = text(item.get("call_id")) or text(item.get("id"))
                draft.calls.append(Call(tool=_tool(item), text=session.keep(_call_text(item)), id=name))
                if name:
                    self._by_call[name] = draft
            case "function_call_output" | "custom_tool_call_output":
                name = text(item.get("call_id"))
                found = self._by_call.get(name) or self._answer or session.last
                if found is None:
                    found = session.begin("agent", at, line)
                found.observations.append(_observation(session, item.get("output"), name))
                found.observed(at)
                found.changed()
                self._answer = None

    def _message(self, line: int, at: datetime | None, item: Record) -> None:
        session = self.session
        said = session.keep(block_text(item.get("content")))
        if item.get("role") == "assistant":
            self._agent(line, at).messages.append(said)
            return
        self._answer = None
        user = item.get("role") == "user" and not _TOLD.match(said)
        session.begin("user" if user else "system", at, line).messages.append(said)

    def _agent(self, line: int, at: datetime | None) -> Draft:
        if self._answer is None:
            self._answer = self.session.begin("agent", at, line)
            self._answer.model = self.session.model
        self._answer.changed()
        return self._answer

    def _event(self, event: Record) -> None:
        session = self.session
        match event.get("type"):
            case "token_count":
                self._count(record(event.get("info")))
            case "error" | "stream_error":
                session.error(text(event.get("message")))
            case "turn_aborted":
                session.ended = text(event.get("reason")) or "aborted"
            case "task_complete" | "turn_complete":
                session.ended = "completed"

    def _count(self, info: Record) -> None:
        """Counts are told again when only the rate limits changed."""
        totals = record(info.get("total_token_usage"))
        if not totals or totals == self._totals:
            return
        self._totals = totals
        session = self.session
        usage = openai_usage(totals)
        session.tokens_in, session.tokens_cached, session.tokens_out = (
            usage.tokens_in,
            usage.tokens_cached,
            usage.tokens_out,
        )
        answer = self._answer or next((draft for draft in reversed(session.drafts) if draft.source == "agent"), None)
        if answer is not None and answer.tokens_in is None:
            last = openai_usage(record(info.get("last_token_usage")))
            answer.tokens_in, answer.tokens_cached, answer.tokens_out = (
                last.tokens_in,
                last.tokens_cached,
                last.tokens_out,
            )
            answer.changed()
        self._answer = None


def _tool(item: Record) -> str:
    kind = text(item.get("type"))
    return text(item.get("name")) or ("shell" if kind == "local_shell_call" else kind.removesuffix("_call"))


def _call_text(item: Record) -> str:
    for key in ("arguments", "input", "action"):
        if key in item:
            value = parsed(item[key])
            query = text(record(value).get("query"))
            return query if query and key == "action" else call_text(value)
    return ""


def _observation(session: Session, output: object, call: str) -> Observation:
    """Outputs come as text with a header, as JSON in text, or as content with a word about success."""
    value = parsed(output)
    failed = False
    exit_code = None
    if isinstance(value, dict):
        exit_code = exit_code_of(record(value.get("metadata")))
        failed = value.get("success") is False
        said = text(value.get("output")) or block_text(value.get("content"))
    elif isinstance(value, list):
        said = block_text(value)
    else:
        said = text(value)
    if exit_code is None:
        exit_code = exit_code_in(said)
    return Observation(text=session.keep(said), call=call, failed=failed or bool(exit_code), exit_code=exit_code)
