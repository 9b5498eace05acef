"""mini-swe-agent's `….traj.json`: a conversation's messages, of version 1 (commands in text) and 2 (tool calls).

Also the same in parts, as they come while it works.
"""

from __future__ import annotations

import re
from typing import Any

from engine.trajectories.calls import call_text, exit_code_in, exit_code_of
from engine.trajectories.draft import Draft, Session
from engine.trajectories.object_walk import ObjectWalk
from engine.trajectories.steps import Call, Observation
from engine.trajectories.untyped import Record, block_text, items, moment, number, record, text, whole
from engine.trajectories.usage import openai_usage

_BLOCK = re.compile(r"```(?:bash|sh|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)


def read_mini_swe_agent(content: str) -> Session | None:
    """None where it is none of its files. What is half-written gives the messages that are whole."""
    session = Session("mini-swe-agent")
    session.agent = "mini-swe-agent"
    reading = _Messages(session)
    walk = ObjectWalk(content, ("messages",))
    known = False
    for key, value in walk:
        if key == "info" and isinstance(value, dict):
            known = known or not {"mini_version", "exit_status", "model_stats"}.isdisjoint(value)
            _info(session, value)
        elif key == "trajectory_format":
            known = known or text(value).startswith("mini-swe-agent")
        elif key == "messages" and isinstance(value, dict):
            reading.take(value)
    if walk.problem:
        session.problem(f"the file {walk.problem}; what stands before it is shown")
        known = known or any(draft.source == "agent" for draft in session.drafts)
    if not known:
        return None
    for draft in session.drafts:
        if draft.source == "agent":
            draft.model = draft.model or session.model
    return session


class MiniSweAgentFold:
    """Records with some of the `messages`, in their order, or with the `info` as it stands then."""

    def __init__(self) -> None:
        self.session = Session("mini-swe-agent")
        self.session.agent = "mini-swe-agent"
        self._reading = _Messages(self.session)

    def take(self, line: int, found: Record) -> None:
        before = len(self.session.drafts)
        for message in items(found.get("messages")):
            self._reading.take(record(message))
        for draft in self.session.drafts[before:]:
            draft.line = line
        if isinstance(info := found.get("info"), dict):
            _info(self.session, info)


def _info(session: Session, info: Record) -> None:
    session.agent_version = text(info.get("mini_version"))
    session.ended = text(info.get("exit_status"))
    session.model = text(record(record(info.get("config")).get("model")).get("model_name"))
    stats = record(info.get("model_stats"))
    cost = number(stats.get("instance_cost"))
    if cost or not whole(stats.get("api_calls")):  # 0 after calls means that nobody knows the price
        session.cost_usd = cost
    if session.ended and session.ended.lower() not in ("submitted", "limitsexceeded"):
        session.error(" ".join(word for word in (session.ended, text(info.get("exception_str"))) if word))


class _Messages:
    def __init__(self, session: Session) -> None:
        self.session = session
        self._answer: Draft | None = None

    def take(self, message: Record) -> None:
        role = message.get("role")
        if role == "assistant" or message.get("object") == "response":
            self._assistant(message)
        elif (
            role == "tool"
            or message.get("type") == "function_call_output"
            or (role == "user" and self._answer is not None)
        ):
            self._came_back(message)
        elif role == "exit":
            self.session.begin("system", _at(message)).messages.append(self._text(message) or "exit")
        elif said := self._text(message):
            source = "user" if role == "user" else "system"
            self.session.begin(source, _at(message)).messages.append(said)

    def _text(self, message: Record) -> str:
        return self.session.keep(block_text(message.get("content")))

    def _assistant(self, message: Record) -> None:
        session = self.session
        draft = self._answer = session.begin("agent", _at(message))
        extra = record(message.get("extra"))
        if thought := text(message.get("reasoning_content")):
            draft.thoughts.append(session.keep(thought))
        said = block_text(message.get("content"))
        calls = [_chat_call(each) for each in items(message.get("tool_calls"))]
        for part in items(message.get("output")):  # the message is an answer of the Responses API
            found = record(part)
            if found.get("type") == "message":
                said = "\n".join(word for word in (said, block_text(found.get("content"))) if word)
            elif found.get("type") == "reasoning":
                if thought := block_text(found.get("summary")) or block_text(found.get("content")):
                    draft.thoughts.append(session.keep(thought))
            elif found.get("type") == "function_call":
                name = text(found.get("call_id")) or text(found.get("id"))
                calls.append((text(found.get("name")), call_text(found.get("arguments")), name))
        if not calls:
            actions = [record(each) for each in items(extra.get("actions"))]
            told = [(text(each.get("command")), text(each.get("tool_call_id"))) for each in actions]
            if not told:
                told = [(command, "") for command in _BLOCK.findall(said)]
            calls = [("bash", command, name) for command, name in told if command]
            said = _BLOCK.sub("", said)
        said = said.strip()
        if said.startswith("THOUGHT:"):
            draft.thoughts.append(session.keep(said.removeprefix("THOUGHT:").strip()))
        elif said:
            draft.messages.append(session.keep(said))
        draft.calls = [Call(tool=tool, text=session.keep(ran), id=name) for tool, ran, name in calls]
        response = record(extra.get("response"))
        usage = openai_usage(record(response.get("usage") or message.get("usage")))
        draft.tokens_in, draft.tokens_cached, draft.tokens_out = usage.tokens_in, usage.tokens_cached, usage.tokens_out
        draft.model = text(response.get("model"))
        draft.cost_usd = number(extra.get("cost")) or None

    def _came_back(self, message: Record) -> None:
        """Version 1 gives outputs in the user's place, and complaints about an answer without a command as well."""
        session = self.session
        draft = self._answer or session.last
        if draft is None:
            return
        extra = record(message.get("extra"))
        output: Any = message.get("output") if message.get("type") == "function_call_output" else message.get("content")
        said = block_text(output) or text(extra.get("raw_output"))
        exit_code = exit_code_of(extra)
        if exit_code is None:
            exit_code = exit_code_in(said)
        draft.observations.append(
            Observation(
                text=session.keep(said),
                call=text(message.get("tool_call_id")) or text(message.get("call_id")),
                failed=bool(exit_code) or bool(extra.get("exception_info")),
                exit_code=exit_code,
            )
        )
        draft.observed(_at(message))
        draft.changed()


def _chat_call(each: object) -> tuple[str, str, str]:
    call = record(each)
    function = record(call.get("function"))
    return text(function.get("name")), call_text(function.get("arguments")), text(call.get("id"))


def _at(message: Record) -> Any:
    extra = record(message.get("extra"))
    response = record(extra.get("response"))
    for value in (extra.get("timestamp"), message.get("timestamp"), message.get("created_at"), response.get("created")):
        if (found := moment(value)) is not None:
            return found
    return None
