"""What Claude Code's stream says of how it went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.agents.arms import parse_arm
from engine.agents.claude_code_end import ClaudeCodeEnd
from engine.agents.in_main.server_faults import DEFINITION
from engine.issues import Code, Issue, Severity
from tests.engine.agents.sessions import Session

SERVER = '[[environment.mcp_servers]]\nname = "sums"\ntransport = "sse"\nurl = "http://sums:1/sse"\n'


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, parse_arm("claude_code:model=x"), toml=SERVER)


def issues(session: Session, *records: dict[str, Any]) -> list[Issue]:
    end = ClaudeCodeEnd(session.given, "agent/claude_code.txt")
    for line, record in enumerate(records, 5):
        end.take(line, record)
    end.finish()
    return session.issues


def result(**more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "result": "done", **more}


def failed(said: str, **more: Any) -> dict[str, Any]:
    return result(is_error=True, result=said, **more)


def test_a_good_end_is_no_issue(session: Session) -> None:
    assert issues(session, result()) == []


def test_a_stream_that_breaks_off_says_nothing_of_its_end(session: Session) -> None:
    end = ClaudeCodeEnd(session.given, "log")
    end.finish()
    assert session.issues == [] and end.ended == "" and end.cost_usd is None and end.session == ""


@pytest.mark.parametrize(
    ("subtype", "words"),
    [
        ("error_max_turns", "Reached maximum number of turns (1)"),
        ("error_max_budget_usd", "Reached maximum budget ($0.01)"),
    ],
)
def test_a_limit_of_its_own_is_a_limit(session: Session, subtype: str, words: str) -> None:
    """Case 71."""
    [issue] = issues(session, result(subtype=subtype, is_error=True, errors=[words]))
    assert (issue.code, issue.severity) == (Code.AGENT_LIMIT_REACHED, Severity.WARNING)
    assert words in issue.message and issue.evidence[0].line == 5


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (failed("API Error: 529 Overloaded.", api_error_status=529), Code.MODEL_OVERLOADED),
        (failed("API Error: Request rejected (429) · x", api_error_status=429), Code.MODEL_RATE_LIMITED),
        (failed("Invalid API key · Fix external API key", api_error_status=401), Code.MODEL_AUTH_FAILED),
        (failed("whatever", api_error_status=403), Code.MODEL_AUTH_FAILED),
        (
            failed("Prompt is too long", api_error_status=400, terminal_reason="prompt_too_long"),
            Code.MODEL_CONTEXT_FULL,
        ),
        (
            failed("API Error: 400 Output blocked by content filtering policy", api_error_status=400),
            Code.MODEL_FILTERED,
        ),
        (failed("API Error: it can't help", stop_reason="refusal", terminal_reason="api_error"), Code.MODEL_REFUSED),
        (failed("API Error: Connection error.", terminal_reason="api_error"), Code.MODEL_UNREACHABLE),
        (failed("API Error: the request timed out", terminal_reason="api_error"), Code.MODEL_TIMEOUT),
        (failed("API Error: 500 strange", api_error_status=500), Code.MODEL_FAILED),
        (failed("ENOSPC: something of its own broke on a rate limit"), Code.HARNESS_FAILED),
        (result(subtype="error_during_execution", is_error=True, errors=["TypeError: x"]), Code.HARNESS_FAILED),
    ],
)
def test_an_error_at_its_end_has_a_code(session: Session, record: dict[str, Any], code: Code) -> None:
    """Cases 62 and 64."""
    [issue] = issues(session, record)
    assert (issue.code, issue.severity) == (code, Severity.ERROR)
    assert (issue.evidence[0].file, issue.evidence[0].line) == ("agent/claude_code.txt", 5)


def test_a_request_that_is_wrong_is_no_rate_limit_whatever_it_quotes(session: Session) -> None:
    """Case 64: an unknown 400 is not worth another try."""
    [issue] = issues(session, failed("API Error: 400 tools.0: too many requests, rate limit", api_error_status=400))
    assert issue.code is Code.MODEL_CALL_MALFORMED


def test_calls_that_were_not_permitted_are_named(session: Session) -> None:
    denials = [{"tool_name": "Bash"}, {"tool_name": "Read"}, {"tool_name": "Bash"}]
    [issue] = issues(session, result(permission_denials=denials))
    assert "3 calls" in issue.message and "Bash, Read" in issue.message
    assert (issue.code, issue.severity) == (Code.HARNESS_FAILED, Severity.WARNING)


def test_a_server_of_the_task_that_cant_be_reached_is_told_others_are_not(session: Session) -> None:
    servers = [{"name": "sums", "status": "failed"}, {"name": "elsewhere", "status": "failed"}]
    [issue] = issues(session, {"type": "system", "subtype": "init", "mcp_servers": servers})
    assert (issue.code, issue.severity) == (Code.MCP_SERVER_FAILED, Severity.ERROR)
    assert "sums (failed)" in issue.message and "elsewhere" not in issue.message and len(issue.evidence) == 1


def test_what_the_task_says_wrong_of_a_server_that_failed_is_evidence(session: Session) -> None:
    end = ClaudeCodeEnd(session.given, "log", {"sums": "no such service", "quiet": "never asked"})
    end.take(1, {"type": "system", "subtype": "init", "mcp_servers": [{"name": "sums", "status": "failed"}]})
    [issue] = session.issues
    assert [(item.label, item.text) for item in issue.evidence[1:]] == [(DEFINITION, "sums: no such service")]


def test_a_server_that_asks_who_is_calling_was_given_no_header_by_the_task(session: Session) -> None:
    servers = [{"name": "sums", "status": "needs-auth"}]
    [issue] = issues(session, {"type": "system", "subtype": "init", "mcp_servers": servers})
    assert issue.evidence[1].label == DEFINITION and "no headers" in issue.evidence[1].text


def test_a_server_that_answers_is_no_issue(session: Session) -> None:
    servers = [{"name": "sums", "status": "connected"}]
    assert issues(session, {"type": "system", "subtype": "init", "mcp_servers": servers}) == []


def test_a_cost_that_the_cli_only_guesses_is_unknown(session: Session) -> None:
    """Case 68."""
    end = ClaudeCodeEnd(session.given, "log")
    end.take(1, result(total_cost_usd=0.5, modelUsage={"a": {"costBasis": "list"}}))
    assert end.cost_usd == 0.5
    end.take(2, result(total_cost_usd=0.5, modelUsage={"a": {"costBasis": "list"}, "b": {"costBasis": "unknown"}}))
    assert end.cost_usd is None
    end.take(3, result(total_cost_usd=0))
    assert end.cost_usd is None


@pytest.mark.parametrize(
    "record",
    [
        {"type": "result"},
        {"type": "result", "is_error": True, "errors": "x", "permission_denials": 3, "api_error_status": "many"},
        {"type": "system", "subtype": "init", "mcp_servers": ["x", None, {"name": 3}], "session_id": 5},
        {"type": "system", "subtype": "api_retry", "attempt": "x", "error_status": None, "error": []},
        {"type": "result", "modelUsage": [], "total_cost_usd": "much"},
    ],
)
def test_records_of_any_shape_are_taken(session: Session, record: dict[str, Any]) -> None:
    end = ClaudeCodeEnd(session.given, "log")
    end.take(1, record)
    end.finish()
    assert isinstance(end.ended, str)
