"""What Claude Code's own stream says beside its steps: servers that it can't reach, tries again, how it ended."""

from __future__ import annotations

from collections.abc import Mapping

from engine.agents.agent import AgentSession
from engine.agents.in_main.server_faults import servers_failed
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.models.failure_words import code_of_text
from engine.models.failures import failure_of_answer
from engine.models.model_call import CostSource
from engine.models.settings import Wire
from engine.trajectories.untyped import Record, items, number, record, text, whole

_UNKNOWN_TO_IT = "needs-auth"
_LIMITS = {"error_max_turns": "turns", "error_max_budget_usd": "money"}
_MOST_NAMED = 20
NOTHING_WRONG: Mapping[str, str] = {}


class ClaudeCodeEnd:
    """Takes each record of the stream with its line in the agent's log; `finish` raises issues of what they say.

    `log`: the log's path within the trial's folder, for evidence. `wrong`: what the task says of its servers that can't
    be right, by their names.
    """

    def __init__(self, session: AgentSession, log: str, wrong: Mapping[str, str] = NOTHING_WRONG) -> None:
        self._session = session
        self._wrong = wrong
        self._log = log
        self._result: Record = {}
        self._result_line = 0
        self._id = ""

    @property
    def session(self) -> str:
        """The id of its session, by which its own record is found; "" before it said so."""
        return self._id

    @property
    def ended(self) -> str:
        """Its own word for how it ended, "" where it didn't say."""
        word = text(self._result.get("subtype"))
        return text(self._result.get("terminal_reason")) or "error" if word == "success" and self._failed else word

    @property
    def cost_usd(self) -> float | None:
        """What it reckons that all of it cost; None where it knows no price for one of the models."""
        models = [record(each) for each in record(self._result.get("modelUsage")).values()]
        if not models or any(model.get("costBasis") == "unknown" for model in models):
            return None
        return number(self._result.get("total_cost_usd"))

    @property
    def cost_source(self) -> CostSource:
        return CostSource.AGENT

    @property
    def _failed(self) -> bool:
        return self._result.get("is_error") is True

    def take(self, line: int, found: Record) -> None:
        match found.get("type"), found.get("subtype"):
            case "system", "init":
                self._id = text(found.get("session_id"))
                self._servers(line, found)
            case "system", "api_retry":
                self._session.activity(_retry(found))
            case "result", _:
                self._result, self._result_line = found, line

    def finish(self) -> None:
        if not self._result:
            return
        kind = text(self._result.get("subtype"))
        if kind in _LIMITS:
            said = "; ".join(text(each) for each in items(self._result.get("errors"))) or kind
            self._issue(Severity.WARNING, Code.AGENT_LIMIT_REACHED, f"its limit of {_LIMITS[kind]}: {said}", said)
        elif self._failed:
            said = text(self._result.get("result")) or "; ".join(map(text, items(self._result.get("errors")))) or kind
            first = said.strip().partition("\n")[0]
            self._issue(Severity.ERROR, self._code(said), f"it ended in an error: {first}", said)
        if denied := items(self._result.get("permission_denials")):
            names = sorted({text(record(each).get("tool_name")) for each in denied} - {""})
            message = f"{len(denied)} calls of its tools were not permitted: {', '.join(names[:_MOST_NAMED])}"
            self._issue(Severity.WARNING, Code.HARNESS_FAILED, message, message)

    def _code(self, said: str) -> Code:
        if text(self._result.get("terminal_reason")) == "prompt_too_long":
            return Code.MODEL_CONTEXT_FULL
        if self._result.get("stop_reason") == "refusal":
            return Code.MODEL_REFUSED
        status = whole(self._result.get("api_error_status"))
        if status is not None and status >= 400:
            return failure_of_answer(Wire.ANTHROPIC, status, {}, said.encode("utf-8", "replace")).code
        if text(self._result.get("terminal_reason")) == "api_error":
            return code_of_text(said, vouched=True) or Code.MODEL_FAILED
        return Code.HARNESS_FAILED

    def _servers(self, line: int, found: Record) -> None:
        """A task whose tools are not there is another task."""
        wanted = {server.name: server for server in self._session.task.environment.mcp_servers}
        failed = {
            name: text(server.get("status"))
            for server in map(record, items(found.get("mcp_servers")))
            if (name := text(server.get("name"))) in wanted and server.get("status") in ("failed", _UNKNOWN_TO_IT)
        }
        if failed:
            said = ", ".join(f"{name} ({status})" for name, status in failed.items())
            unknown = {
                name: "it asks who is calling, and the task has no headers for it"
                for name, status in failed.items()
                if status == _UNKNOWN_TO_IT and not wanted[name].headers
            }
            self._session.issue(
                servers_failed(
                    f"Claude Code can't reach MCP servers of the task, and works without them: {said}",
                    Evidence("its first record", said, self._log, line),
                    list(failed),
                    {**unknown, **self._wrong},
                )
            )

    def _issue(self, severity: Severity, code: Code, message: str, said: str) -> None:
        evidence = Evidence("its last record", said, self._log, self._result_line)
        self._session.issue(Issue(severity, Phase.AGENT, code, f"Claude Code: {message}", (evidence,)))


def _retry(found: Record) -> str:
    status = whole(found.get("error_status"))
    attempt, of = whole(found.get("attempt")), whole(found.get("max_retries"))
    delay = number(found.get("retry_delay_ms"))
    words = ["model:", str(status or ""), text(found.get("error")).replace("_", " ")]
    words += [f"· try {attempt + 1} of {of + 1}"] if attempt is not None and of is not None else []
    words += [f"in {delay / 1000:.0f} s"] if delay is not None else []
    return " ".join(word for word in words if word)
