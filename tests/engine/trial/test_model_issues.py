"""What the calls of a model add up to: issues with codes, counts and evidence."""

from __future__ import annotations

from typing import Any

import pytest

from engine.issues import Code, Evidence, Severity
from engine.models.model_call import ModelCall, ModelCallFailed, ModelFailure, Stop, Usage
from engine.trial.model_issues import AgentOutcome, model_issues

WELL = AgentOutcome(ended_well=True)
BADLY = AgentOutcome(ended_well=False, last_output=Evidence("last output", "curl: (60) SSL", "agent/a.txt", 3))
LIMITED = ModelFailure(code=Code.MODEL_RATE_LIMITED, words="slow down", status=429, retryable=True)
BUSY = ModelFailure(code=Code.MODEL_OVERLOADED, words="overloaded_error", status=529, retryable=True)
KEY = ModelFailure(code=Code.MODEL_AUTH_FAILED, words="invalid x-api-key", status=401)
TLS = ModelFailure(code=Code.MODEL_UNTRUSTED, words="CERTIFICATE_VERIFY_FAILED: unable to get local issuer certificate")
GONE = ModelFailure(code=Code.MODEL_UNREACHABLE, words="Connection refused", retryable=True)
SLOW = ModelFailure(code=Code.MODEL_TIMEOUT, words="no answer in 600 s", retryable=True)
LATE = ModelFailure(code=Code.MODEL_TIMEOUT, words="upstream timeout after 120s", status=504, retryable=True)
BROKEN = ModelFailure(code=Code.MODEL_UNREACHABLE, words="broke in the middle", status=200, retryable=True)
FULL = ModelFailure(code=Code.MODEL_CONTEXT_FULL, words="prompt is too long", status=400)
FILTERED = ModelFailure(code=Code.MODEL_FILTERED, words="content_filter", status=400)


def ok(stop: Stop = Stop.END, **usage: Any) -> ModelCall:
    return ModelCall(number=1, seconds=1.0, usage=Usage(**{"tokens_out": 5, **usage}), stop=stop)


def bad(failure: ModelFailure) -> ModelCall:
    return ModelCall(number=1, seconds=1.0, failure=failure)


def left_alone(*, answer_began: bool = False) -> ModelCall:
    return ModelCall(number=1, seconds=1.0, hung_up=True, answer_began=answer_began)


def told(calls: list[ModelCall], outcome: AgentOutcome = WELL) -> list[tuple[Severity, Code, str]]:
    return [(issue.severity, issue.code, issue.message) for issue in model_issues(calls, outcome)]


def test_calls_that_went_well_say_nothing() -> None:
    assert told([ok(), ok(Stop.TOOL), ok()]) == []


def test_what_a_further_try_mended_is_one_warning_with_counts() -> None:
    """Case 62: bounded retries are listed."""
    calls = [bad(LIMITED), bad(LIMITED), ok(), bad(BUSY), ok()]
    assert told(calls, BADLY) == [
        (
            Severity.WARNING,
            Code.MODEL_RETRIED,
            "3 of 5 calls of the model were tried again: 2 rate limited (429), 1 overloaded (529)",
        )
    ]
    (issue,) = model_issues(calls, BADLY)
    assert [(fact.label, fact.text) for fact in issue.evidence] == [
        ("rate limited (429)", "slow down"),
        ("overloaded (529)", "overloaded_error"),
    ]


def test_a_failure_that_no_answer_followed_is_an_error_with_words_status_and_tries() -> None:
    issue = model_issues([ok(), bad(BUSY), *[bad(LIMITED)] * 3], BADLY)[0]
    assert (issue.severity, issue.code) == (Severity.ERROR, Code.MODEL_RATE_LIMITED)
    assert issue.message == "the last call of the model: rate limited (429): slow down (3 tries)"
    assert [(fact.label, fact.text) for fact in issue.evidence] == [
        ("the server says", "slow down"),
        ("HTTP status", "429"),
        ("tries", "3"),
    ]


def test_an_agent_that_ended_well_all_the_same_is_only_warned_of() -> None:
    assert [severity for severity, _, _ in told([ok(), bad(LIMITED)])] == [Severity.WARNING]


@pytest.mark.parametrize("failure", [TLS, GONE, SLOW])
def test_a_model_whose_server_said_nothing_was_never_reached(failure: ModelFailure) -> None:
    """Case 65: with the connection's own words, and the end of the agent's log."""
    found = model_issues([bad(failure), bad(failure)], BADLY)
    assert [(issue.severity, issue.code) for issue in found] == [
        (Severity.ERROR, failure.code),
        (Severity.ERROR, Code.MODEL_NEVER_REACHED),
    ]
    never = found[1]
    assert failure.words in never.message and "none of 2 calls was answered" in never.message
    assert [(fact.label, fact.text) for fact in never.evidence] == [
        ("the connection says", failure.words),
        ("last output", "curl: (60) SSL"),
    ]


@pytest.mark.parametrize("failure", [KEY, LIMITED, BUSY, FULL, FILTERED, LATE, BROKEN])
@pytest.mark.parametrize("outcome", [WELL, BADLY])
def test_a_server_that_said_why_was_reached(failure: ModelFailure, outcome: AgentOutcome) -> None:
    """Cases 62 and 64: its own code stands alone, and an agent's good end is none where nothing was ever answered."""
    (issue,) = model_issues([bad(GONE), bad(failure)], outcome)
    assert (issue.severity, issue.code) == (Severity.ERROR, failure.code)
    assert issue.message.endswith("; nothing was ever answered")
    assert issue.evidence[0] == Evidence("the server says", failure.words)
    assert (outcome.last_output in issue.evidence) is (outcome is BADLY)


def test_of_several_failures_the_most_telling_one_is_the_reason() -> None:
    never = model_issues([bad(TLS), bad(GONE), bad(GONE)], BADLY)[-1]
    assert never.code is Code.MODEL_NEVER_REACHED and "certificate is not trusted" in never.message


def test_a_call_that_was_left_alone_is_no_answer() -> None:
    """The agent's time was up while it waited."""
    assert told([left_alone()], BADLY) == [
        (
            Severity.ERROR,
            Code.MODEL_NEVER_REACHED,
            "the model was never reached: of 1 call none was answered before it was given up",
        )
    ]
    assert [code for _, code, _ in told([bad(LIMITED), left_alone()], BADLY)] == [Code.MODEL_RATE_LIMITED]
    assert told([left_alone(answer_began=True)], BADLY) == []
    assert told([ok(), left_alone()], BADLY) == []


def test_an_agent_that_never_called_its_model_was_no_agent_at_all() -> None:
    ((severity, code, message),) = told([], BADLY)
    assert (severity, code) == (Severity.ERROR, Code.MODEL_NEVER_REACHED)
    assert message == "the model was never reached: the agent ended without a call of it"
    assert model_issues([], BADLY)[0].evidence == (BADLY.last_output,)
    assert [code for _, code, _ in told([])] == [Code.MODEL_NEVER_REACHED]


def test_answers_without_a_token_are_no_answers_of_a_model() -> None:
    """Case 62: `status success`, zero tokens, the 429 in the text."""
    assert [code for _, code, _ in told([ok(tokens_out=0), ok(tokens_out=0)])] == [Code.MODEL_NEVER_REACHED]
    assert told([ok(tokens_out=0), ok(tokens_out=None)]) == []
    assert told([ok(tokens_out=0), ok()]) == []


def test_a_refusal_without_a_token_is_an_answer() -> None:
    """Case 64."""
    assert [code for _, code, _ in told([ok(Stop.FILTER, tokens_out=0)], BADLY)] == [Code.MODEL_FILTERED]
    assert [code for _, code, _ in told([ok(tokens_out=0), bad(LIMITED)], BADLY)] == [Code.MODEL_RATE_LIMITED]


@pytest.mark.parametrize(
    ("stop", "code"),
    [
        (Stop.REFUSAL, Code.MODEL_REFUSED),
        (Stop.FILTER, Code.MODEL_FILTERED),
        (Stop.CONTEXT, Code.MODEL_CONTEXT_FULL),
    ],
)
def test_refusals_and_filters_are_counted_and_an_error_where_they_ended_the_agent(stop: Stop, code: Code) -> None:
    """Case 64."""
    ((severity, found, message),) = told([ok(), ok(stop), ok()], BADLY)
    assert (severity, found) == (Severity.WARNING, code) and "1 of 3 answers" in message
    ((severity, _, message),) = told([ok(stop), ok(stop)], BADLY)
    assert severity is Severity.ERROR and message.endswith("in 2 of 2 answers, the last one among them")


def test_answers_cut_off_and_counts_that_can_t_be_are_warned_of() -> None:
    assert told([ok(Stop.LENGTH), ok(odd="more cached (9) than read (3)")]) == [
        (Severity.WARNING, Code.MODEL_CUT_OFF, "cut off by the limit of output in 1 of 2 answers"),
        (
            Severity.WARNING,
            Code.MODEL_USAGE_ODD,
            "the counts of 1 of 2 answers can't be right: more cached (9) than read (3)",
        ),
    ]


def test_calls_of_tools_that_nobody_can_read_are_counted_and_are_the_models() -> None:
    message = "calls of tools whose arguments are no JSON in 1 of 2 answers"
    assert told([ok(Stop.MALFORMED), ok()]) == [(Severity.WARNING, Code.MODEL_CALL_MALFORMED, message)]
    (issue,) = model_issues([ok(), ok(Stop.MALFORMED)], BADLY)
    assert issue.severity is Severity.ERROR and [fact.label for fact in issue.evidence] == ["the last answer"]


def test_a_failure_that_is_not_tried_again_and_was_overcome_keeps_its_code() -> None:
    assert told([bad(FULL), ok()]) == [
        (
            Severity.WARNING,
            Code.MODEL_CONTEXT_FULL,
            "1 call of the model: the context was full (400): prompt is too long; the agent went on",
        )
    ]


def test_what_the_agent_said_itself_is_not_said_again() -> None:
    outcome = AgentOutcome(ended_well=False, raised={Code.MODEL_AUTH_FAILED})
    assert [code for _, code, _ in told([ok(), bad(KEY)], outcome)] == []


def test_what_a_client_on_the_host_gave_up_on_counts_its_tries() -> None:
    gave_up = AgentOutcome(ended_well=False, gave_up=ModelCallFailed(LIMITED, tries=6))
    assert model_issues([ok()], gave_up)[0].evidence[-1] == Evidence("tries", "6")
