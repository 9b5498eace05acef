"""How a call failed, from what came back: an answer that is an error, an answer of 200 that holds one, or no answer.

Words in a failure are cleaned, bounded and free of everything that looks like a key; whoever knows the keys takes
these out as well (`scrubbed_failure`).
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from engine.issues import Code
from engine.models.error_object import ErrorObject, error_object, error_of_stream
from engine.models.failure_words import BEGINS_LIKE_AN_ERROR, code_of_names, code_of_text, distrusts
from engine.models.model_call import ModelCallFailed, ModelFailure
from engine.models.scrubbed import scrubbed as scrubbed
from engine.models.scrubbed import scrubbed_failure as scrubbed_failure
from engine.models.settings import Wire
from engine.text import clean_line

MOST_WORDS = 500
_MOST_BODY = 1 << 20
_MOST_READ = 20_000
_MOST_SAID = 2_000
"""A gateway's failure told as an answer is short."""
_MOST_CAUSES = 20

RETRYABLE = frozenset(
    {Code.MODEL_RATE_LIMITED, Code.MODEL_OVERLOADED, Code.MODEL_TIMEOUT, Code.MODEL_FAILED, Code.MODEL_UNREACHABLE}
)

_OF_STATUS: dict[int, Code] = {
    401: Code.MODEL_AUTH_FAILED,
    402: Code.MODEL_AUTH_FAILED,
    403: Code.MODEL_AUTH_FAILED,
    407: Code.MODEL_AUTH_FAILED,
    408: Code.MODEL_TIMEOUT,
    413: Code.MODEL_CONTEXT_FULL,
    429: Code.MODEL_RATE_LIMITED,
    499: Code.MODEL_TIMEOUT,
    503: Code.MODEL_OVERLOADED,
    504: Code.MODEL_TIMEOUT,
    524: Code.MODEL_TIMEOUT,
    529: Code.MODEL_OVERLOADED,
}
_EMPTY_ACCOUNT = re.compile(r"insufficient_quota|credit balance is too low|billing (?:hard )?limit", re.IGNORECASE)
_TOO_LARGE_EVER = re.compile(r"request too large\b", re.IGNORECASE)
_WAIT = re.compile(r"try again in (?:(\d+)m)?(\d+(?:\.\d+)?)(ms|s)\b", re.IGNORECASE)


def failure_of_answer(wire: Wire, status: int, headers: Mapping[str, str], body: bytes) -> ModelFailure:
    """What an answer says that is no success. Also for an error in the middle of a stream that began with 200."""
    found = error_object(body[:_MOST_BODY])
    told = found.status if status < 400 and found.status is not None else status
    code = _code(told, found)
    retryable = code in RETRYABLE and not _no_other_try_helps(told, code, found, headers)
    return ModelFailure(
        code=code,
        words=_words(found, status),
        status=status,
        retryable=retryable,
        retry_after_sec=_retry_after(headers, found.text) if retryable else None,
    )


def failure_in_answer(wire: Wire, body: bytes) -> ModelFailure | None:
    """The failure in an answer of 200, None where there is none: an error object, a refusal, a filter, or a gateway's
    words about a failure in place of an answer (only where no token was written). A stream's events are read too."""
    body = body[:_MOST_BODY] if len(body) > _MOST_BODY and not _is_stream(body) else body
    if not body.strip():
        return ModelFailure(
            code=Code.MODEL_FAILED, words="the answer was empty: status 200 and no content", status=200, retryable=True
        )
    if _is_stream(body):
        error = error_of_stream(body)
        return None if error is None else failure_of_answer(wire, 200, {}, error)
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        if len(body) == _MOST_BODY:
            return None
        return failure_of_answer(wire, 200, {}, body)
    if not isinstance(answer, dict):
        return None
    if answer.get("error") or answer.get("type") == "error" or answer.get("status") == "failed":
        return failure_of_answer(wire, 200, {}, body)
    return _declined(wire, answer) or _told_as_answer(wire, answer)


def failure_of_error(error: BaseException) -> ModelFailure:
    """What kept an answer from coming: a name, a connection, a certificate, a clock."""
    chain = list(_chain(error))
    for each in chain:
        if isinstance(each, ModelCallFailed):
            return each.failure
    texts = [f"{type(each).__name__}: {each}" if str(each) else type(each).__name__ for each in chain]
    words = _bounded(": ".join(_distinct([str(each) or type(each).__name__ for each in chain])))
    names = {base.__name__ for each in chain for base in type(each).__mro__}
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in chain) or any(map(distrusts, texts)):
        return ModelFailure(code=Code.MODEL_UNTRUSTED, words=words)
    if any(isinstance(each, TimeoutError) for each in chain) or names & _TIMEOUTS:
        return ModelFailure(code=Code.MODEL_TIMEOUT, words=words, retryable=True)
    broken = any(isinstance(each, ConnectionError | socket.gaierror | EOFError) for each in chain) or names & _BROKEN
    speaks_otherwise = any(isinstance(each, ssl.SSLError) and _NO_TLS.search(str(each)) for each in chain)
    return ModelFailure(
        code=Code.MODEL_UNREACHABLE, words=words, retryable=bool(broken) and not speaks_otherwise and not names & _WRONG
    )


_TIMEOUTS = frozenset({"APITimeoutError", "TimeoutException", "Timeout", "ServerTimeoutError", "ReadTimeoutError"})
_BROKEN = frozenset(
    {
        "APIConnectionError",
        "NetworkError",  # HTTPX: connecting, reading, writing, closing
        "RemoteProtocolError",
        "ClientConnectionError",  # aiohttp, and its servers that hang up
        "ClientPayloadError",
        "BrokenResourceError",
        "ClosedResourceError",
        "EndOfStream",
        "IncompleteRead",
        "SSLError",
    }
)
_WRONG = frozenset({"UnsupportedProtocol", "InvalidURL", "LocalProtocolError", "ProxyError"})
_NO_TLS = re.compile(r"WRONG_VERSION_NUMBER|HANDSHAKE_FAILURE|UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION")


def _code(status: int, found: ErrorObject) -> Code:
    vouched = status < 400 or status >= 500 or status in (408, 429)
    names = found.names + (found.names_in_text if vouched else [])
    if status == 429:
        empty = code_of_names(names) is Code.MODEL_AUTH_FAILED or _EMPTY_ACCOUNT.search(found.text)
        return Code.MODEL_AUTH_FAILED if empty else Code.MODEL_RATE_LIMITED
    if status in (401, 402):
        return Code.MODEL_AUTH_FAILED
    named = code_of_names(names)
    if named is not None and named is not Code.MODEL_FAILED:
        return named
    said = code_of_text(found.text, vouched=vouched)
    if said is not None and said is not Code.MODEL_FAILED:
        return said
    if status in _OF_STATUS:
        return _OF_STATUS[status]
    return Code.MODEL_CALL_MALFORMED if 400 <= status < 500 and named is None else Code.MODEL_FAILED


def _no_other_try_helps(status: int, code: Code, found: ErrorObject, headers: Mapping[str, str]) -> bool:
    if _header(headers, "x-should-retry").lower() == "false":
        return True
    if code is Code.MODEL_RATE_LIMITED and _TOO_LARGE_EVER.search(found.text):
        return True  # this request alone is more than a minute's allowance
    # A redirect, or a page in place of an answer: somebody else is speaking.
    return code is Code.MODEL_FAILED and status < 400 and not found.names and not found.names_in_text


def _declined(wire: Wire, answer: dict[str, object]) -> ModelFailure | None:
    """The model, or a filter before it, did not want to."""
    refused = ""
    if wire is Wire.ANTHROPIC:
        if answer.get("stop_reason") == "refusal":
            details = answer.get("stop_details")
            refused = (str(details.get("explanation") or "") if isinstance(details, dict) else "") or _text(answer)
            return _refusal(refused or "stop_reason: refusal")
        return None
    for choice in _dicts(answer.get("choices")):
        reason = choice.get("finish_reason")
        message = choice.get("message")
        said = message.get("refusal") if isinstance(message, dict) else None
        if choice.get("error") or reason == "error":
            return failure_of_answer(wire, 200, {}, json.dumps({"error": choice.get("error") or "error"}).encode())
        if isinstance(said, str) and said:
            return _refusal(said)
        if reason == "content_filter":
            return _filtered("finish_reason: content_filter")
    incomplete = answer.get("incomplete_details")
    if isinstance(incomplete, dict) and incomplete.get("reason") == "content_filter":
        return _filtered("incomplete_details: content_filter")
    parts = [part for item in _dicts(answer.get("output")) for part in _dicts(item.get("content"))]
    refused = " ".join(str(part.get("refusal")) for part in parts if part.get("type") == "refusal")
    return _refusal(refused) if refused else None


def _refusal(words: str) -> ModelFailure:
    return ModelFailure(code=Code.MODEL_REFUSED, words=_bounded(words), status=200)


def _filtered(words: str) -> ModelFailure:
    return ModelFailure(code=Code.MODEL_FILTERED, words=_bounded(words), status=200)


def _told_as_answer(wire: Wire, answer: dict[str, object]) -> ModelFailure | None:
    """A gateway that gave up and says so in the model's place (case 62)."""
    usage = answer.get("usage", answer.get("tokens"))
    counts = usage if isinstance(usage, dict) else {}
    if any(counts.get(name) for name in ("output_tokens", "completion_tokens", "output")):
        return None
    said = _text(answer)
    if len(said) > _MOST_SAID or not BEGINS_LIKE_AN_ERROR.match(said):
        return None
    return failure_of_answer(wire, 200, {}, said.encode())


def _text(answer: dict[str, object]) -> str:
    """The text of an answer of any of the wires."""
    found: list[str] = []
    if isinstance(whole := answer.get("output"), str):
        found.append(whole)
    for choice in _dicts(answer.get("choices")):
        message = choice.get("message")
        if isinstance(message, dict) and isinstance(message.get("content"), str):
            found.append(message["content"])
    parts = [part for item in _dicts(answer.get("output")) for part in _dicts(item.get("content"))]
    for part in (*_dicts(answer.get("content")), *parts):
        if isinstance(part.get("text"), str):
            found.append(str(part["text"]))
    return "\n".join(found)


def _dicts(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _is_stream(body: bytes) -> bool:
    return body.lstrip()[:6] in (b"event:", b"data: ") or body.lstrip()[:5] == b"data:"


def _chain(error: BaseException) -> Iterator[BaseException]:
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _MOST_CAUSES:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, BaseExceptionGroup):
            waiting.extend(each.exceptions)
        if each.__cause__ is not None:
            waiting.append(each.__cause__)
        elif each.__context__ is not None and not each.__suppress_context__:
            waiting.append(each.__context__)


def _distinct(texts: list[str]) -> list[str]:
    kept: list[str] = []
    for text in (text.strip().rstrip(".") for text in texts):
        if text and not any(text in other for other in kept):
            kept.append(text)
    return kept[:4]


def _words(found: ErrorObject, status: int) -> str:
    if found.text:
        name = next((name for name in found.names if name.lower() not in found.text.lower()), "")
        return _bounded(f"{name}: {found.text}" if name else found.text)
    if found.names:
        return _bounded(", ".join(found.names))
    try:
        return f"status {status} ({HTTPStatus(status).phrase}) and no words"
    except ValueError:
        return f"status {status} and no words"


def _bounded(words: str) -> str:
    # Keys go first: a key cut by the bound would no longer look like one.
    words = clean_line(scrubbed(words[:_MOST_READ], ()))
    return words if len(words) <= MOST_WORDS else words[: MOST_WORDS - 1] + "…"


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "").strip()


def _retry_after(headers: Mapping[str, str], text: str) -> float | None:
    """Seconds, from a header of either form, else from the words; a date counts from the server's own clock."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", value := _header(headers, name)):
            return float(value) / unit
    if (value := _header(headers, "retry-after")) and (now := _header(headers, "date")):
        try:
            return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(now)).total_seconds())
        except (ValueError, TypeError):
            pass
    if (found := _WAIT.search(text)) is not None:
        minutes, count, unit_name = found.groups()
        return int(minutes or 0) * 60 + float(count) / (1000 if unit_name.lower() == "ms" else 1)
    return None
