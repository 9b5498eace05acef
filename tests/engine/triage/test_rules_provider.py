"""The model's API: errors that a session records, and a harness's own last words where it left no session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import events as ev
from engine.triage.causes import Cause
from engine.triage.proposal import Strength
from tests.engine.run_events import at
from tests.engine.triage.trials import Run, api_error, ends, prints, runs, says


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


@pytest.mark.parametrize(
    ("said", "rule", "cause"),
    [
        ('API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}', "provider_rate_limit", Cause.PROVIDER),
        ('API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}', "provider_overloaded", Cause.PROVIDER),
        ("API Error: 500 Internal server error", "provider_error", Cause.PROVIDER),
        ('API Error: 401 {"error":{"type":"authentication_error"}}', "authentication", Cause.PROVIDER),
        ("API Error: Invalid API key · Please run /login", "authentication", Cause.PROVIDER),
        ("API Error: 400 Output blocked by content filtering policy", "content_filter", Cause.PROVIDER),
        ("API Error: 400 input length and `max_tokens` exceed context limit", "context_full", Cause.BUDGET),
        ("The input token count (9) exceeds the maximum number of tokens allowed", "context_full", Cause.BUDGET),
        ("Codex ran out of room in the model's context window", "context_full", Cause.BUDGET),
        ('{"code":"invalid_prompt","message":"x"}', "content_filter", Cause.PROVIDER),
        ("finishReason: SAFETY", "content_filter", Cause.PROVIDER),
        ("API Error: 403 Forbidden", "authentication", Cause.PROVIDER),
        ("The api_key client option must be set by OPENAI_API_KEY", "authentication", Cause.PROVIDER),
        ('{"error":{"status":"RESOURCE_EXHAUSTED"}}', "provider_rate_limit", Cause.PROVIDER),
        ("You've hit your usage limit. Upgrade", "provider_rate_limit", Cause.PROVIDER),
        ("ThrottlingException: slow down", "provider_rate_limit", Cause.PROVIDER),
        ("We're currently experiencing high demand", "provider_overloaded", Cause.PROVIDER),
        ("API Error: Request timed out.", "provider_error", Cause.PROVIDER),
        ("upstream connect error or disconnect/reset", "provider_error", Cause.PROVIDER),
        ("stream disconnected before completion", "model_never_reached", Cause.INFRASTRUCTURE),
        ("Error code: 404 - model_not_found", "request_refused", Cause.AGENT),
        ('API Error: 400 {"error":{"type":"invalid_request_error"}}', "request_refused", Cause.AGENT),
        ("API Error: prompt is too long: 213462 tokens > 200000 maximum", "context_full", Cause.BUDGET),
        ("API Error: Connection error. CERTIFICATE_VERIFY_FAILED", "tls", Cause.INFRASTRUCTURE),
        ("API Error: getaddrinfo ENOTFOUND api.example", "model_never_reached", Cause.INFRASTRUCTURE),
    ],
)
def test_an_error_that_ended_the_session_is_strong(run: Run, said: str, rule: str, cause: Cause) -> None:
    """Cases 62, 64 and 65."""
    run.trial().session(api_error(said), ends("success", said, error=True, tokens=0))
    proposal = run.propose()
    assert (proposal.cause, proposal.strength, proposal.findings[0].rule) == (cause, Strength.STRONG, rule)
    item = proposal.findings[0].evidence[0]
    assert (item.file, item.line) == ("agent/claude-code.txt", 2)


def test_an_error_that_the_session_got_over_decides_nothing(run: Run) -> None:
    retry = {"type": "system", "subtype": "api_error", "error": {"status": 529, "message": "Overloaded"}}
    run.trial().session(says(message="m1"), retry, runs("make", "m2"), prints("ok", "m2"), ends())
    proposal = run.propose()
    found = run.found("provider_overloaded")
    assert found is not None
    assert found.strength is Strength.WEAK
    assert proposal.strength is Strength.WEAK


def test_time_that_ran_out_in_retries_is_the_providers(run: Run) -> None:
    """The agent never got its answer: that is no spent budget."""
    retry = {"type": "system", "subtype": "api_error", "error": {"status": 529, "message": "Overloaded"}}
    run.trial(timed_out=True).session(says(), retry, retry, retry)
    proposal = run.propose()
    assert (proposal.cause, proposal.findings[0].rule) == (Cause.PROVIDER, "provider_overloaded")
    assert "3 times" in proposal.findings[0].text
    assert run.found("time_limit") is not None


def test_a_refusal_of_the_model_is_its_own(run: Run) -> None:
    refusal = says("I can't help with that", message="m1")
    refusal["message"]["stop_reason"] = "refusal"
    run.trial().session(refusal, ends())
    found = run.found("refusal")
    assert found is not None
    assert found.cause is Cause.MODEL


def test_codex_records_what_ended_its_turn(run: Run) -> None:
    lines = [
        {"type": "thread.started", "thread_id": "1"},
        {"type": "turn.started"},
        {"type": "error", "message": "unexpected status 429 Too Many Requests: rate_limit_exceeded"},
        {"type": "turn.failed", "error": {"message": "unexpected status 429 Too Many Requests"}},
    ]
    run.trial(arm="b").file("agent/codex.txt", "\n".join(map(json.dumps, lines)) + "\n")
    assert run.propose().findings[0].rule == "provider_rate_limit"


def _mini(exit_status: str, said: str = "") -> str:
    answer = {"role": "assistant", "content": "```bash\nmake\n```"}
    info = {"mini_version": "1.9", "exit_status": exit_status, "exception_str": said}
    return json.dumps({"info": info, "messages": [{"role": "user", "content": "fix 429"}, answer]})


@pytest.mark.parametrize(
    ("exit_status", "said", "rule", "cause"),
    [
        ("LimitsExceeded", "", "limit_reached", Cause.BUDGET),
        ("RateLimitError", "litellm.RateLimitError: 429", "provider_rate_limit", Cause.PROVIDER),
        ("ContextWindowExceededError", "too long", "context_full", Cause.BUDGET),
        ("AuthenticationError", "no key", "authentication", Cause.PROVIDER),
    ],
)
def test_mini_swe_agent_names_its_own_end(run: Run, exit_status: str, said: str, rule: str, cause: Cause) -> None:
    run.trial().file("agent/trial.traj.json", _mini(exit_status, said))
    proposal = run.propose()
    assert (proposal.findings[0].rule, proposal.cause, proposal.strength) == (rule, cause, Strength.STRONG)


@pytest.mark.parametrize("exit_status", ["Submitted", "submitted"])
def test_a_submission_is_no_error(run: Run, exit_status: str) -> None:
    run.trial().file("agent/trial.traj.json", _mini(exit_status))
    assert run.rules() == {"tests_failed"}


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('{"status":"success","error":null,"tokens":{"input":0,"output":0},'
         '"output":"API call failed after 3 retries: HTTP 429: RateLimitError"}', "provider_rate_limit"),
        ('litellm.InternalServerError: AnthropicException - {"type":"error","error":{"type":"overloaded_error"}}',
         "provider_overloaded"),
        ("Error code: 504 - upstream timeout after 120s", "provider_error"),
        ('{"error":{"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}', "content_filter"),
        ('{"error":{"code":"invalid_prompt","message":"... violating our usage policy"}}', "content_filter"),
        ('{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering '
         'policy"}}', "content_filter"),
        ("litellm.Timeout: after 600 s", "provider_error"),
        ("ERROR: stream disconnected before completion: error sending request", "model_never_reached"),
        ("[API Error: You exceeded your current quota]", "provider_rate_limit"),
        ("Claude AI usage limit reached|1764500000", "provider_rate_limit"),
        ("Invalid API key · Please run /login", "authentication"),
        ("openai.APIConnectionError: Connection error. [SSL: CERTIFICATE_VERIFY_FAILED]", "tls"),
    ],
)  # fmt: skip
def test_the_harness_s_last_words_name_the_provider(run: Run, line: str, rule: str) -> None:
    """The recipes of cases 62, 64 and 65."""
    run.trial(events=[ev.AgentFinished(at=at(9), trial="t", exit_code=1, seconds=1)])
    run.file("agent/agent.log", f"starting\n{line}\n")
    proposal = run.propose()
    assert (proposal.findings[0].rule, proposal.strength) == (rule, Strength.STRONG)
    item = proposal.findings[0].evidence[0]
    assert (item.file, item.line) == ("agent/agent.log", 2)


def test_a_429_in_an_answer_without_tokens_needs_no_exit_code(run: Run) -> None:
    """Case 62: status success, error null."""
    line = '{"status":"success","error":null,"tokens":{"input":0,"output":0},"output":"HTTP 429: RateLimitError"}'
    run.trial().file("agent/agent.log", line + "\n")
    assert (run.propose().cause, run.propose().strength) == (Cause.PROVIDER, Strength.STRONG)


@pytest.mark.parametrize(
    "line",
    [
        "429",
        "line 429 of 529",
        "GET /limits 429",
        "tests/test_http.py::test_429_is_retried FAILED",
        "assert response.status_code == 429",
        "Request timed out.",
        "I wrote a handler for RESOURCE_EXHAUSTED and usage limit reached",
        "403 Forbidden",
        "I will now handle HTTP 429 (rate limit) in client.py",
        '{"tokens":{"input":100,"output":5},"output":"the server answers HTTP 429: RateLimitError"}',
        '{"level":"info","msg":"HTTP 529 overloaded_error"}',
    ],
)
def test_numbers_and_words_that_are_not_its_own_prove_nothing(run: Run, line: str) -> None:
    run.trial(events=[ev.AgentFinished(at=at(9), trial="t", exit_code=1, seconds=1)])
    run.file("agent/agent.log", f"starting\n{line}\n")
    assert run.rules() == {"tests_failed"}


def test_error_objects_that_a_command_printed_prove_nothing(run: Run) -> None:
    said = '{"type":"error","error":{"type":"overloaded_error"}}\nError code: 529 - overloaded'
    run.trial().session(runs("curl api"), prints(said, failed=True), says("It is overloaded (529).", "m2"), ends())
    assert run.rules() == {"tests_failed"}


def test_an_agent_that_asks_no_model_has_no_provider(run: Run) -> None:
    run.trial(arm="o", events=[ev.AgentFinished(at=at(9), trial="t", exit_code=1, seconds=1)])
    run.file("agent/oracle.txt", "Error code: 504 - upstream timeout after 120s\n")
    assert "provider_error" not in run.rules()


def test_an_error_in_nobodys_words_that_ended_the_session_is_shown_and_decides_nothing_strongly(run: Run) -> None:
    """Case 62: an error object that no rule knows is no loss of the model without a word."""
    run.trial().session(api_error("API Error: the flux is inverted"), ends("success", "x", error=True, tokens=0))
    proposal = run.propose()
    assert (proposal.findings[0].rule, proposal.cause) == ("session_error", Cause.AMBIGUOUS)
    assert proposal.strength is Strength.WEAK
    assert proposal.findings[0].evidence[0].line in (2, 3)


def test_an_unknown_error_that_the_session_got_over_is_not_told(run: Run) -> None:
    run.trial().session(api_error("API Error: the flux is inverted"), says("on we go", "m2"), ends())
    assert run.rules() == {"tests_failed"}
