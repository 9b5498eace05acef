"""What the engine saw of the model's calls: stronger than words, and never told twice (cases 62, 64, 65)."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Severity
from engine.triage.causes import Cause
from engine.triage.proposal import Strength
from engine.triage.rules_model_issues import RULE_OF_CODE
from tests.engine.run_events import at
from tests.engine.triage.trials import Run, api_error, ends, issue, says

SAYS = Evidence("the server says", "slow down")
TRIES = Evidence("tries", "6")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def last_call(code: Code, severity: Severity = Severity.ERROR) -> Issue:
    evidence = (SAYS, Evidence("HTTP status", "429"), TRIES)
    return issue(code, "the last call of the model failed", severity=severity, evidence=evidence)


@pytest.mark.parametrize(
    ("code", "rule", "cause"),
    [
        (Code.MODEL_RATE_LIMITED, "provider_rate_limit", Cause.PROVIDER),
        (Code.MODEL_OVERLOADED, "provider_overloaded", Cause.PROVIDER),
        (Code.MODEL_FAILED, "provider_error", Cause.PROVIDER),
        (Code.MODEL_TIMEOUT, "provider_error", Cause.PROVIDER),
        (Code.MODEL_AUTH_FAILED, "authentication", Cause.PROVIDER),
        (Code.MODEL_FILTERED, "content_filter", Cause.PROVIDER),
        (Code.MODEL_REFUSED, "refusal", Cause.MODEL),
        (Code.MODEL_CONTEXT_FULL, "context_full", Cause.BUDGET),
        (Code.MODEL_UNTRUSTED, "tls", Cause.INFRASTRUCTURE),
        (Code.MODEL_UNREACHABLE, "model_never_reached", Cause.INFRASTRUCTURE),
        (Code.MODEL_CALL_MALFORMED, "request_refused", Cause.AGENT),
        (Code.MODEL_CUT_OFF, "answer_cut_off", Cause.BUDGET),
    ],
)
def test_the_call_that_ended_the_work_is_strong_and_brings_its_evidence(
    run: Run, code: Code, rule: str, cause: Cause
) -> None:
    proposal = run.trial(issues=[last_call(code)]).propose()
    first = proposal.findings[0]
    assert (proposal.cause, proposal.strength, first.rule) == (cause, Strength.STRONG, rule)
    assert (first.source, first.evidence[0]) == ("the model's calls", SAYS)


def test_every_code_of_a_model_is_known_to_the_rules() -> None:
    told_otherwise = {Code.MODEL_NEVER_REACHED, Code.MODEL_RETRIED, Code.MODEL_USAGE_ODD}
    assert {code for code in Code if code.name.startswith("MODEL_")} == set(RULE_OF_CODE) | told_otherwise


def test_an_answer_that_the_agent_could_not_read_is_the_models_doing(run: Run) -> None:
    unread = issue(
        Code.MODEL_CALL_MALFORMED, "3 answers could not be read", evidence=(Evidence("the last answer", "{"),)
    )
    proposal = run.trial(issues=[unread]).propose()
    assert (proposal.cause, proposal.findings[0].rule) == (Cause.MODEL, "answer_malformed")


def test_what_the_session_says_of_the_same_is_one_finding_with_the_evidence_of_both(run: Run) -> None:
    said = 'API Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}'
    run.trial(issues=[last_call(Code.MODEL_RATE_LIMITED)]).session(
        says(), api_error(said), ends("success", said, error=True)
    )
    found = [finding for finding in run.propose().findings if finding.rule == "provider_rate_limit"]
    assert len(found) == 1
    assert [item.label for item in found[0].evidence] == ["recorded error", "the server says", "HTTP status", "tries"]
    assert found[0].evidence[0].file == "agent/claude-code.txt"


def test_the_harnesss_last_words_of_the_same_are_one_finding_too(run: Run) -> None:
    run.trial(
        issues=[last_call(Code.MODEL_TIMEOUT)],
        events=[ev.AgentFinished(at=at(9), trial="t", exit_code=1, seconds=1)],
    ).file("agent/agent.log", "Error code: 504 - upstream timeout after 120s\n")
    findings = run.propose().findings
    assert [finding.rule for finding in findings].count("provider_error") == 1
    assert findings[0].evidence[0].file == "agent/agent.log"


def test_words_about_something_else_weigh_less_than_what_was_seen(run: Run) -> None:
    """The agent's program calls a provider's failure a broken stream."""
    said = "stream disconnected before completion"
    run.trial(issues=[last_call(Code.MODEL_OVERLOADED)]).session(api_error(said), ends("success", said, error=True))
    proposal = run.propose()
    assert (proposal.cause, proposal.findings[0].rule) == (Cause.PROVIDER, "provider_overloaded")
    words = run.found("model_never_reached")
    assert words is not None and words.strength is Strength.WEAK


def test_words_that_no_rule_knows_are_evidence_of_what_was_seen(run: Run) -> None:
    said = "API Error: the flux is inverted"
    run.trial(issues=[last_call(Code.MODEL_REFUSED)]).session(api_error(said), ends("success", said, error=True))
    first = run.propose().findings[0]
    assert first.rule == "refusal" and first.evidence[0].label == "recorded error"
    assert "session_error" not in run.rules()


def test_a_last_call_that_failed_beside_an_agent_that_ended_well_is_weak_unless_the_session_says_so(run: Run) -> None:
    warned = last_call(Code.MODEL_RATE_LIMITED, Severity.WARNING)
    run.trial("quiet", issues=[warned]).trial("said", issues=[warned])
    said = "API Error: 429 rate_limit_error"
    run.session(says(), api_error(said), ends("success", said, error=True), trial="said")
    quiet, told = run.propose("quiet"), run.propose("said")
    assert (quiet.cause, quiet.strength) == (Cause.PROVIDER, Strength.WEAK)
    assert (told.cause, told.strength) == (Cause.PROVIDER, Strength.STRONG)
    assert [finding.rule for finding in told.findings].count("provider_rate_limit") == 1


def test_calls_that_were_tried_again_and_answered_are_told_and_decide_nothing(run: Run) -> None:
    """Case 62: a limit that the agent got over is no reason for a loss."""
    again = issue(Code.MODEL_RETRIED, "3 of 9 calls were tried again: 3 rate limited (429)", severity=Severity.WARNING)
    refused = issue(
        Code.MODEL_REFUSED, "1 call: refused; the agent went on", severity=Severity.WARNING, evidence=(SAYS,)
    )
    proposal = run.trial(issues=[again, refused]).propose()
    assert (proposal.cause, proposal.findings[0].rule) == (Cause.MODEL, "tests_failed")
    assert {"model_retried", "refusal"} <= {finding.rule for finding in proposal.findings}


def test_a_model_that_was_never_reached_has_the_cause_of_what_kept_it_away(run: Run) -> None:
    """Case 65."""
    never = issue(Code.MODEL_NEVER_REACHED, "the model was never reached")
    run.trial(issues=[last_call(Code.MODEL_UNTRUSTED), never], tokens_in=0, tokens_out=0)
    proposal = run.propose()
    assert (proposal.cause, proposal.findings[0].rule) == (Cause.INFRASTRUCTURE, "tls")
    zero = [finding for finding in proposal.findings if finding.rule == "zero_tokens"]
    assert [finding.cause for finding in zero] == [Cause.INFRASTRUCTURE]


def test_an_agent_that_never_asked_is_suspected_itself_and_a_pass_of_it_is_suspicious(run: Run) -> None:
    """Case 62: no tokens, whatever the status says."""
    never = issue(Code.MODEL_NEVER_REACHED, "the model was never reached: the agent ended without a call of it")
    run.trial("failed", issues=[never]).trial("passed", 1.0, issues=[never])
    assert (run.propose("failed").cause, run.propose("failed").findings[0].rule) == (Cause.AGENT, "zero_tokens")
    assert run.propose("passed").cause is Cause.AGENT


def test_words_of_an_agent_that_never_asked_say_why(run: Run) -> None:
    never = issue(Code.MODEL_NEVER_REACHED, "the model was never reached: the agent ended without a call of it")
    run.trial(issues=[never], events=[ev.AgentFinished(at=at(9), trial="t", exit_code=1, seconds=1)])
    run.file("agent/agent.log", "openai.APIConnectionError: Connection error. [SSL: CERTIFICATE_VERIFY_FAILED]\n")
    proposal = run.propose()
    assert (proposal.cause, proposal.strength, proposal.findings[0].rule) == (
        Cause.INFRASTRUCTURE,
        Strength.STRONG,
        "tls",
    )


def test_counts_that_cannot_be_right_speak_for_no_cause(run: Run) -> None:
    run.trial(issues=[issue(Code.MODEL_USAGE_ODD, "counts", severity=Severity.WARNING)])
    assert run.rules() == {"tests_failed"}
