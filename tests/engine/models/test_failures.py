"""How a call failed, from a provider's error, a gateway's words or a broken connection (cases 62, 64, 65)."""

from __future__ import annotations

import json
import socket
import ssl

import anthropic
import openai
import pytest

from engine.issues import Code
from engine.models.failures import MOST_WORDS, failure_in_answer, failure_of_answer, failure_of_error
from engine.models.model_call import ModelCallFailed, ModelFailure
from engine.models.settings import Wire

OVERLOADED = 'litellm.InternalServerError: AnthropicException - {"type":"error","error":{"type":"overloaded_error"}}'
TIMED_OUT = "Error code: 504 - upstream timeout after 120s"
GAVE_UP = (
    '{"status":"success","error":null,"tokens":{"input":0,"output":0},'
    '"output":"API call failed after 3 retries: HTTP 429: RateLimitError"}'
)


def of(status: int, body: str, headers: dict[str, str] | None = None, wire: Wire = Wire.OPENAI_CHAT) -> ModelFailure:
    return failure_of_answer(wire, status, headers or {}, body.encode())


def error(**values: object) -> str:
    return json.dumps({"error": values})


@pytest.mark.parametrize("wire", Wire)
@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (429, error(type="rate_limit_error", message="Number of requests has exceeded"), Code.MODEL_RATE_LIMITED),
        (429, error(message="Rate limit reached", type="tokens", code="rate_limit_exceeded"), Code.MODEL_RATE_LIMITED),
        (429, "", Code.MODEL_RATE_LIMITED),
        (429, error(code=429, message="You exceeded your current quota", status="RESOURCE_EXHAUSTED"),
         Code.MODEL_RATE_LIMITED),
        (529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', Code.MODEL_OVERLOADED),
        (500, OVERLOADED, Code.MODEL_OVERLOADED),
        (500, error(message=OVERLOADED, type=None, code="500"), Code.MODEL_OVERLOADED),
        (503, error(message="The engine is currently overloaded", type="server_error"), Code.MODEL_OVERLOADED),
        (503, "no healthy upstream", Code.MODEL_OVERLOADED),
        (504, TIMED_OUT, Code.MODEL_TIMEOUT),
        (500, TIMED_OUT, Code.MODEL_TIMEOUT),
        (408, "", Code.MODEL_TIMEOUT),
        (524, "<html><title>524: A timeout occurred</title></html>", Code.MODEL_TIMEOUT),
        (500, error(type="server_error", message="The server had an error"), Code.MODEL_FAILED),
        (500, '{"type":"error","error":{"type":"api_error","message":"Internal server error"}}', Code.MODEL_FAILED),
        (502, "<html><head><title>502 Bad Gateway</title></head></html>", Code.MODEL_FAILED),
        (500, error(message="litellm.RateLimitError: RateLimitError: quota of the team"), Code.MODEL_RATE_LIMITED),
    ],
)  # fmt: skip
def test_what_passes_by_itself_is_tried_again(wire: Wire, status: int, body: str, code: Code) -> None:
    """Case 62."""
    failure = of(status, body, wire=wire)
    assert (failure.code, failure.retryable, failure.status) == (code, True, status)
    assert failure.words


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (400, '{"error":{"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}',
         Code.MODEL_FILTERED),
        (400, '{"error":{"code":"invalid_prompt","message":"... violating our usage policy"}}', Code.MODEL_FILTERED),
        (400, '{"type":"error","error":{"type":"invalid_request_error",'
              '"message":"Output blocked by content filtering policy"}}', Code.MODEL_FILTERED),
        (403, error(code=403, message="Your chosen model requires moderation and your input was flagged"),
         Code.MODEL_FILTERED),
        (500, error(message="litellm.ContentPolicyViolationError: AzureException"), Code.MODEL_FILTERED),
        (401, error(type="authentication_error", message="invalid x-api-key"), Code.MODEL_AUTH_FAILED),
        (402, error(message="Insufficient credits", code=402), Code.MODEL_AUTH_FAILED),
        (403, error(type="permission_error", message="no"), Code.MODEL_AUTH_FAILED),
        (403, "", Code.MODEL_AUTH_FAILED),
        (429, error(message="You exceeded your current quota", type="insufficient_quota", code="insufficient_quota"),
         Code.MODEL_AUTH_FAILED),
        (429, error(message="litellm.RateLimitError: OpenAIException - insufficient_quota"), Code.MODEL_AUTH_FAILED),
        (400, error(type="invalid_request_error", message="Your credit balance is too low to access the API"),
         Code.MODEL_AUTH_FAILED),
        (400, error(code="context_length_exceeded", message="too long"), Code.MODEL_CONTEXT_FULL),
        (400, error(type="invalid_request_error", message="prompt is too long: 213462 tokens > 200000 maximum"),
         Code.MODEL_CONTEXT_FULL),
        (400, '{"object":"error","message":"This model\'s maximum context length is 32768 tokens.","code":400}',
         Code.MODEL_CONTEXT_FULL),
        (400, error(type="exceed_context_size_error", message="the request exceeds the available context size"),
         Code.MODEL_CONTEXT_FULL),
        (400, error(message="input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"),
         Code.MODEL_CONTEXT_FULL),
        (413, error(type="request_too_large", message="Request exceeds the maximum size"), Code.MODEL_CONTEXT_FULL),
        (400, error(type="invalid_request_error", message="messages.1: unexpected role"), Code.MODEL_CALL_MALFORMED),
        (404, error(code="model_not_found", message="The model `gpt-9` does not exist"), Code.MODEL_CALL_MALFORMED),
        (404, '{"detail":"Not Found"}', Code.MODEL_CALL_MALFORMED),
        (422, '{"detail":[{"loc":["body","messages"],"msg":"Field required","type":"missing"}]}',
         Code.MODEL_CALL_MALFORMED),
        (400, error(code="tool_use_failed", message="Failed to call a function"), Code.MODEL_CALL_MALFORMED),
        (500, error(message="litellm: SSLError CERTIFICATE_VERIFY_FAILED"), Code.MODEL_UNTRUSTED),
    ],
)  # fmt: skip
def test_what_stays_as_it_is_is_not_tried_again(status: int, body: str, code: Code) -> None:
    """Case 64: a filter is no rate limit, and nor are an empty account and a full context."""
    failure = of(status, body)
    assert (failure.code, failure.retryable, failure.retry_after_sec) == (code, False, None)


def test_a_bad_request_that_quotes_the_prompt_is_not_taken_for_a_passing_one() -> None:
    quoting = error(type="invalid_request_error", message="bad value 'HTTP 429: rate limit, 529 overloaded_error'")
    assert of(400, quoting).code == Code.MODEL_CALL_MALFORMED


def test_a_request_that_is_larger_than_a_minutes_allowance_is_not_tried_again() -> None:
    body = error(
        type="tokens", code="rate_limit_exceeded", message="Request too large for m on tokens per min: 30000, not 50000"
    )
    failure = of(429, body)
    assert (failure.code, failure.retryable) == (Code.MODEL_RATE_LIMITED, False)


def test_the_servers_own_word_that_no_other_try_helps_is_obeyed() -> None:
    assert not of(429, "", {"X-Should-Retry": "false"}).retryable
    assert of(429, "", {"x-should-retry": "true"}).retryable


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "7"}, "", 7.0),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "Mon, 30 Nov 2026 09:00:20 GMT", "date": "Mon, 30 Nov 2026 09:00:00 GMT"}, "", 20.0),
        ({"retry-after": "Mon, 30 Nov 2026 08:00:00 GMT", "date": "Mon, 30 Nov 2026 09:00:00 GMT"}, "", 0.0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-5"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({}, error(message="Rate limit reached. Please try again in 1m2.5s."), 62.5),
        ({}, error(message="Please try again in 350ms."), 0.35),
    ],
)
def test_how_long_the_server_asks_to_wait(headers: dict[str, str], body: str, seconds: float | None) -> None:
    assert of(429, body, headers).retry_after_sec == seconds


@pytest.mark.parametrize("body", [GAVE_UP, OVERLOADED, TIMED_OUT])
def test_a_gateways_last_word_told_as_an_answer_of_200_is_a_failure(body: str) -> None:
    """Case 62: status success, error null, and the 429 in the text."""
    failure = failure_in_answer(Wire.OPENAI_CHAT, body.encode())
    assert failure is not None
    assert (failure.code, failure.retryable) == (
        {GAVE_UP: Code.MODEL_RATE_LIMITED, OVERLOADED: Code.MODEL_OVERLOADED, TIMED_OUT: Code.MODEL_TIMEOUT}[body],
        True,
    )


def chat(text: str | None, usage: object, **more: object) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {"choices": [{"message": message, "finish_reason": "stop"} | more], "usage": usage, "error": None}
    ).encode()


def test_an_answer_that_quotes_an_error_is_an_answer() -> None:
    """Case 62: only where no token was written is it the gateway that speaks."""
    said = "API call failed after 3 retries: HTTP 429: RateLimitError"
    assert failure_in_answer(Wire.OPENAI_CHAT, chat(said, {"completion_tokens": 12})) is None
    failure = failure_in_answer(Wire.OPENAI_CHAT, chat(said, {"prompt_tokens": 0, "completion_tokens": 0}))
    assert failure is not None and failure.code == Code.MODEL_RATE_LIMITED
    assert failure_in_answer(Wire.OPENAI_CHAT, chat("I met RateLimitError 429 once.", None)) is None


@pytest.mark.parametrize(
    ("wire", "body", "code"),
    [
        (Wire.OPENAI_CHAT, {"error": {"code": 429, "message": "Provider returned error",
                                      "metadata": {"raw": "temporarily rate-limited"}}}, Code.MODEL_RATE_LIMITED),
        (Wire.OPENAI_CHAT, {"choices": [{"error": {"code": 502, "message": "Upstream failed"},
                                         "finish_reason": "error", "message": {}}]}, Code.MODEL_FAILED),
        (Wire.ANTHROPIC, {"type": "error", "error": {"type": "overloaded_error"}}, Code.MODEL_OVERLOADED),
        (Wire.OPENAI_RESPONSES, {"status": "failed", "output": [],
                                 "error": {"code": "rate_limit_exceeded", "message": "Slow"}}, Code.MODEL_RATE_LIMITED),
        (Wire.OPENAI_RESPONSES, {"status": "failed", "output": [],
                                 "error": {"code": "server_error", "message": "Oh"}}, Code.MODEL_FAILED),
    ],
)  # fmt: skip
def test_an_error_object_in_an_answer_of_200_is_a_failure(wire: Wire, body: object, code: Code) -> None:
    failure = failure_in_answer(wire, json.dumps(body).encode())
    assert failure is not None
    assert (failure.code, failure.retryable) == (code, True)


@pytest.mark.parametrize(
    ("wire", "body", "code"),
    [
        (Wire.ANTHROPIC, {"type": "message", "stop_reason": "refusal", "content": []}, Code.MODEL_REFUSED),
        (Wire.OPENAI_CHAT, {"choices": [{"finish_reason": "stop", "message": {"content": None, "refusal": "I won't"}}]},
         Code.MODEL_REFUSED),
        (Wire.OPENAI_CHAT, {"choices": [{"finish_reason": "content_filter", "message": {"content": "The"}}]},
         Code.MODEL_FILTERED),
        (Wire.OPENAI_RESPONSES, {"status": "completed", "output": [
            {"type": "message", "content": [{"type": "refusal", "refusal": "I won't"}]}]}, Code.MODEL_REFUSED),
        (Wire.OPENAI_RESPONSES, {"status": "incomplete", "output": [],
                                 "incomplete_details": {"reason": "content_filter"}}, Code.MODEL_FILTERED),
    ],
)  # fmt: skip
def test_a_model_that_declines_has_failed_for_good(wire: Wire, body: object, code: Code) -> None:
    """Case 64."""
    failure = failure_in_answer(wire, json.dumps(body).encode())
    assert failure is not None
    assert (failure.code, failure.retryable) == (code, False)


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (Wire.OPENAI_CHAT, {"choices": [{"finish_reason": "length", "message": {"content": "cut"}}], "error": None}),
        (Wire.OPENAI_CHAT, {"object": "list", "data": []}),
        (Wire.OPENAI_CHAT, []),
        (Wire.ANTHROPIC, {"type": "message", "stop_reason": "max_tokens", "content": [{"type": "text", "text": "a"}]}),
        (Wire.ANTHROPIC, {"input_tokens": 12}),
        (Wire.OPENAI_RESPONSES, {"status": "completed", "error": None, "output": []}),
        (Wire.OPENAI_RESPONSES, {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}),
    ],
)
def test_answers_and_other_good_bodies_are_no_failures(wire: Wire, body: object) -> None:
    assert failure_in_answer(wire, json.dumps(body).encode()) is None


def test_a_page_in_place_of_an_answer_is_a_failure_that_no_other_try_mends() -> None:
    failure = failure_in_answer(Wire.OPENAI_CHAT, b"<!DOCTYPE html><html><head><title>Sign in to Wi-Fi</title></head>")
    assert failure is not None
    assert (failure.code, failure.words, failure.retryable) == (Code.MODEL_FAILED, "Sign in to Wi-Fi", False)
    empty = failure_in_answer(Wire.OPENAI_CHAT, b"  ")
    assert empty is not None and empty.retryable and "empty" in empty.words


def test_an_error_inside_a_stream_is_found() -> None:
    stream = (
        b'event: message_start\ndata: {"type":"message_start","message":{"id":"m"}}\n\n'
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    )
    failure = failure_in_answer(Wire.ANTHROPIC, stream)
    assert failure is not None and (failure.code, failure.retryable) == (Code.MODEL_OVERLOADED, True)
    told = b'data: {"choices":[]}\n\ndata: {"error":{"message":"Rate limit","code":429}}\n\n'
    chat_failure = failure_in_answer(Wire.OPENAI_CHAT, told)
    assert chat_failure is not None and chat_failure.code == Code.MODEL_RATE_LIMITED
    good = b'data: {"choices":[{"delta":{"content":"error: \\"error\\""}}],"error":null}\n\ndata: [DONE]\n\n'
    assert failure_in_answer(Wire.OPENAI_CHAT, good) is None


def test_words_are_bounded_cleaned_and_without_keys() -> None:
    body = error(message="Incorrect API key provided: sk-ab***1234.\x1b[2J\x07 " + "x" * 9000, code="invalid_api_key")
    words = of(401, body).words
    assert len(words) <= MOST_WORDS
    assert "sk-ab" not in words and "\x1b" not in words and "Incorrect API key provided: ***" in words


def test_words_of_many_lines_stay_within_their_bound() -> None:
    words = of(500, "a\n" * 5000).words
    assert len(words) == MOST_WORDS and words.endswith("…")


@pytest.mark.parametrize("piece", ["<html><", "sk-", "-eyJ", '{"a":', "["])
def test_hostile_bodies_are_read_in_bounded_work(piece: str) -> None:
    assert of(502, piece * 200_000).code == Code.MODEL_FAILED


@pytest.mark.parametrize(
    "body",
    [b"\xff\xfe\x00", b"null", b"[[[", b'{"error": 7}', b'{"error": [1, {"code": {}}]}', b'"no"'],
)
def test_any_bytes_make_a_failure(body: bytes) -> None:
    failure = failure_of_answer(Wire.OPENAI_CHAT, 500, {}, body)
    assert (failure.code, failure.retryable) == (Code.MODEL_FAILED, True)
    assert failure.words


def test_a_status_without_words_says_what_it_means() -> None:
    assert of(502, "").words == "status 502 (Bad Gateway) and no words"
    assert of(599, "").words == "status 599 and no words"


def caused(outer: BaseException, cause: BaseException) -> BaseException:
    outer.__cause__ = cause
    return outer


@pytest.mark.parametrize(
    "thrown",
    [
        ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer certificate"),
        RuntimeError("curl: (60) SSL certificate problem: unable to get local issuer certificate"),
        RuntimeError("openai.APIConnectionError: Connection error. ... CERTIFICATE_VERIFY_FAILED"),
        RuntimeError("SELF_SIGNED_CERT_IN_CHAIN"),
        caused(OSError("Connection error."), ssl.SSLCertVerificationError(1, "self-signed certificate")),
    ],
)
def test_a_certificate_that_is_not_trusted_is_said_and_not_tried_again(thrown: BaseException) -> None:
    """Case 65."""
    failure = failure_of_error(thrown)
    assert (failure.code, failure.status, failure.retryable) == (Code.MODEL_UNTRUSTED, None, False)


@pytest.mark.parametrize(
    ("thrown", "code", "retryable"),
    [
        (ConnectionRefusedError(111, "Connection refused"), Code.MODEL_UNREACHABLE, True),
        (ConnectionResetError(104, "Connection reset by peer"), Code.MODEL_UNREACHABLE, True),
        (socket.gaierror(-2, "Name or service not known"), Code.MODEL_UNREACHABLE, True),
        (EOFError("end of stream"), Code.MODEL_UNREACHABLE, True),
        (TimeoutError(), Code.MODEL_TIMEOUT, True),
        (caused(RuntimeError("wrapped"), TimeoutError("timed out")), Code.MODEL_TIMEOUT, True),
        (ExceptionGroup("two", [ConnectionResetError("reset")]), Code.MODEL_UNREACHABLE, True),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"), Code.MODEL_UNREACHABLE, False),
        (ValueError("nobody's fault but ours"), Code.MODEL_UNREACHABLE, False),
    ],
)
def test_what_kept_an_answer_from_coming(thrown: BaseException, code: Code, retryable: bool) -> None:
    failure = failure_of_error(thrown)
    assert (failure.code, failure.retryable, failure.status) == (code, retryable, None)
    assert failure.words


def test_the_sdks_own_connection_errors_are_known_with_what_caused_them() -> None:
    request = openai.AsyncOpenAI(api_key="k")._client.build_request("POST", "http://h/v1")
    timeout = failure_of_error(openai.APITimeoutError(request=request))
    assert (timeout.code, timeout.retryable) == (Code.MODEL_TIMEOUT, True)
    refused = failure_of_error(
        caused(openai.APIConnectionError(request=request), ConnectionRefusedError(111, "Connection refused"))
    )
    assert (refused.code, refused.words) == (
        Code.MODEL_UNREACHABLE,
        "Connection error: [Errno 111] Connection refused",
    )
    other = anthropic.AsyncAnthropic(api_key="k")._client.build_request("POST", "http://h/v1")
    assert failure_of_error(anthropic.APIConnectionError(request=other)).retryable


def test_a_failure_that_is_known_already_stays_what_it_is() -> None:
    known = ModelFailure(code=Code.MODEL_REFUSED, words="no")
    assert failure_of_error(ExceptionGroup("around", [ModelCallFailed(known, 1)])) == known
