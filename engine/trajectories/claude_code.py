"""Claude Code: what `--output-format stream-json` prints, and the session files that it keeps, both a record a line."""

from __future__ import annotations

from engine.trajectories.calls import call_text, exit_code_in, exit_code_of
from engine.trajectories.draft import Draft, Session
from engine.trajectories.steps import Call, Observation
from engine.trajectories.untyped import Record, as_json, block_text, items, moment, number, record, text, whole
from engine.trajectories.usage import Usage, anthropic_usage

_SYNTHETIC = "<synthetic>"  # messages that Claude Code wrote itself, such as an API error
_TELLING_STOPS = frozenset({"refusal", "model_context_window_exceeded"})


def is_claude_code(found: Record) -> bool:
    kind = found.get("type")
    if kind in ("assistant", "user"):
        return "role" in record(found.get("message"))
    return kind == "system" and found.get("subtype") == "init" and "session_id" in found


class ClaudeCodeFold:
    """Lines of one message share its id and its usage: they are one step, counted once."""

    def __init__(self) -> None:
        self.session = Session("claude-code")
        self.session.agent = "claude-code"
        self._by_message: dict[str, Draft] = {}
        self._by_call: dict[str, Draft] = {}
        self._results: dict[str, Record] = {}
        self._seen: set[str] = set()

    def take(self, line: int, found: Record) -> None:
        session = self.session
        if version := text(found.get("version")) or text(found.get("claude_code_version")):
            session.agent_version = version
        if uuid := text(found.get("uuid")):  # a resumed session repeats what came before
            if uuid in self._seen:
                return
            self._seen.add(uuid)
        match found.get("type"):
            case "assistant":
                self._assistant(line, found, record(found.get("message")))
            case "user":
                self._user(line, found, record(found.get("message")))
            case "system":
                self._system(line, found)
            case "result":
                self._result(found)

    def _assistant(self, line: int, found: Record, message: Record) -> None:
        session = self.session
        name = text(message.get("id"))
        at = moment(found.get("timestamp"))
        draft = self._by_message.get(name) if name else None
        if draft is None:
            draft = session.begin("agent", at, line)
            if name:
                self._by_message[name] = draft
        draft.changed()
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else items(content):
            self._block(draft, record(block))
        model = text(message.get("model"))
        error = found.get("error")
        if model == _SYNTHETIC or found.get("isApiErrorMessage") is True or error:
            said = block_text(content) or (error if isinstance(error, str) else as_json(error))
            if found.get("isApiErrorMessage") is True or error or said.startswith("API Error"):
                session.error(said, draft)
        if model == _SYNTHETIC:  # written by the program itself: no model was paid for it
            draft.counted = False
        elif model:
            draft.model = model
            if not session.model and not _aside(found):
                session.model = model
            _count(draft, anthropic_usage(record(message.get("usage"))))
        if (cost := number(found.get("costUSD"))) is not None:
            draft.cost_usd = cost
        if (stop := text(message.get("stop_reason"))) in _TELLING_STOPS:
            session.error(f"stop_reason: {stop}", draft)

    def _block(self, draft: Draft, block: Record) -> None:
        session = self.session
        match block.get("type"):
            case "text":
                if said := text(block.get("text")):
                    draft.messages.append(session.keep(said))
            case "thinking":
                if said := text(block.get("thinking")):
                    draft.thoughts.append(session.keep(said))
            case "redacted_thinking":
                draft.thoughts.append("[redacted by the provider]")
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                call = text(block.get("id"))
                ran = session.keep(call_text(block.get("input")))
                draft.calls.append(Call(tool=text(block.get("name")), text=ran, id=call))
                if call:
                    self._by_call[call] = draft
            case kind if text(kind).endswith("tool_result"):
                draft.observations.append(self._observation(block, None))

    def _user(self, line: int, found: Record, message: Record) -> None:
        session = self.session
        at = moment(found.get("timestamp"))
        content = message.get("content")
        said = []
        for block in [content] if isinstance(content, str) else items(content):
            result = record(block)
            if result.get("type") == "tool_result":
                draft = self._by_call.get(text(result.get("tool_use_id"))) or session.last
                if draft is None:
                    draft = session.begin("agent", at, line)
                extra = found.get("toolUseResult", found.get("tool_use_result"))
                draft.observations.append(self._observation(result, extra))
                draft.observed(at)
                draft.changed()
            elif words := block_text([block]):
                said.append(words)
        if said:
            told = found.get("isMeta") is True or _aside(found) or found.get("isCompactSummary") is True
            draft = session.begin("system" if told else "user", at, line)
            draft.messages.append(session.keep("\n".join(said)))

    def _observation(self, block: Record, extra: object) -> Observation:
        said = block_text(block.get("content"))
        failed = block.get("is_error") is True
        exit_code = exit_code_of(record(extra))
        if exit_code is None and failed:
            exit_code = exit_code_in(said)
        return Observation(
            text=self.session.keep(said),
            call=text(block.get("tool_use_id")),
            failed=failed or bool(exit_code),
            exit_code=exit_code,
        )

    def _system(self, line: int, found: Record) -> None:
        session = self.session
        kind = text(found.get("subtype"))
        if kind == "init":
            session.model = session.model or text(found.get("model"))
        elif kind in ("api_error", "api_retry"):
            session.error(_api_error(found))
        elif said := text(found.get("content")):
            if kind == "compact_boundary" or found.get("level") in ("error", "warning"):
                session.begin("system", moment(found.get("timestamp")), line).messages.append(session.keep(said))
        elif kind == "compact_boundary":
            session.begin("system", moment(found.get("timestamp")), line).messages.append("Conversation compacted")

    def _result(self, found: Record) -> None:
        """The last one of a session tells of all of it; a file may hold several sessions."""
        session = self.session
        self._results[text(found.get("session_id"))] = found
        session.ended = text(found.get("subtype")) or "result"
        if found.get("is_error") is True:
            said = text(found.get("result"))
            if session.ended == "success":
                session.ended = "error"
            session.error(said or session.ended)
        for each in items(found.get("errors")):
            session.error(text(each))
        costs = [number(each.get("total_cost_usd")) for each in self._results.values()]
        known = [cost for cost in costs if cost is not None]
        session.cost_usd = sum(known) if known and len(known) == len(costs) else None
        usages = [_of_result(each) for each in self._results.values()]
        for name in ("tokens_in", "tokens_cached", "tokens_out"):
            counts = [getattr(usage, name) for usage in usages]
            setattr(session, name, None if None in counts else sum(counts))


def _of_result(found: Record) -> Usage:
    """By model, which counts subagents too, or of the conversation."""
    models = [record(each) for each in record(found.get("modelUsage")).values()]
    if not models:
        return anthropic_usage(record(found.get("usage")))
    each = [
        anthropic_usage(
            {
                "input_tokens": model.get("inputTokens"),
                "cache_read_input_tokens": model.get("cacheReadInputTokens"),
                "cache_creation_input_tokens": model.get("cacheCreationInputTokens"),
                "output_tokens": model.get("outputTokens"),
            }
        )
        for model in models
    ]
    return Usage(
        sum(usage.tokens_in or 0 for usage in each),
        sum(usage.tokens_cached or 0 for usage in each),
        sum(usage.tokens_out or 0 for usage in each),
    )


def _count(draft: Draft, usage: Usage) -> None:
    """Each line of a message repeats its usage, a later one more of it."""
    if usage.tokens_in is not None:
        draft.tokens_in = max(draft.tokens_in or 0, usage.tokens_in)
    if usage.tokens_cached is not None:
        draft.tokens_cached = max(draft.tokens_cached or 0, usage.tokens_cached)
    if usage.tokens_out is not None:
        draft.tokens_out = max(draft.tokens_out or 0, usage.tokens_out)


def _aside(found: Record) -> bool:
    """Of a subagent, not of the conversation itself."""
    return found.get("isSidechain") is True or bool(found.get("parent_tool_use_id"))


def _api_error(found: Record) -> str:
    error = record(found.get("error"))
    status = whole(error.get("status")) or whole(found.get("error_status"))
    said = text(error.get("message")) or text(found.get("error")) or (as_json(error) if error else "")
    attempt, of = (
        whole(found.get("retryAttempt", found.get("attempt"))),
        whole(found.get("maxRetries", found.get("max_retries"))),
    )
    words = [f"API error {status}" if status else "API error", said]
    if attempt:
        words.append(f"(try {attempt}{f' of {of}' if of else ''})")
    return " ".join(word for word in words if word)
