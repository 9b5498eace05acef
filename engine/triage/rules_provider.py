"""Rules about the model's API: errors that a session records, and words of the agent's own program about its provider.

Never from what a command printed, from the task's text, or from a number: a session's error objects count, and where
there is no session, lines that no one but the harness can have written at its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine.issues import Evidence
from engine.text import clean_line
from engine.trajectories.steps import Trajectory
from engine.triage.causes import Cause
from engine.triage.proposal import Finding, Strength
from engine.triage.rules_agent import LIMIT_WORDS
from engine.triage.trial_case import SHOWN, Line, TrialCase


class _Kind(msgspec.Struct, frozen=True):
    rule: str
    cause: Cause
    words: str
    pattern: re.Pattern[str]


def _kind(rule: str, cause: Cause, words: str, *patterns: str) -> _Kind:
    return _Kind(rule, cause, words, re.compile("|".join(patterns), re.IGNORECASE))


_KINDS = (
    _kind(
        "content_filter",
        Cause.PROVIDER,
        "the provider's content filter blocked the request",
        r"content[_ ]?filter",
        r"ResponsibleAIPolicyViolation",
        r"content (?:filtering|management) policy",
        r"violat\w+ (?:our|the|its) usage polic",
        r"usage policy",
        r"\binvalid_prompt\b",
        r"\bmoderation_blocked\b",
        r"rejected (?:as a result of|by) our safety system",
        r"\bPROHIBITED_CONTENT\b",
        r"finish_?reason\W{1,4}SAFETY\b",
        r"block_?reason\b",
    ),
    _kind("refusal", Cause.MODEL, "the model refused", r"stop_reason: refusal", r"\brefusal\b", r"\bmodel refused\b"),
    _kind(
        "context_full",
        Cause.BUDGET,
        "the model's context was full",
        r"context_length_exceeded",
        r"model_context_window_exceeded",
        r"ContextWindowExceeded",
        r"prompt is too long",
        r"maximum context length",
        r"context (?:window|length)[^.\n]{0,40}exceed",
        r"exceeds? (?:the )?(?:model's )?(?:maximum )?context",
        r"out of room in the model's context",
        r"exceeds the maximum number of tokens",
        r"input is too long for (?:the )?requested model",
    ),
    _kind(
        "authentication",
        Cause.PROVIDER,
        "the provider did not accept the key or its account",
        r"authentication_error",
        r"AuthenticationError",
        r"permission_error",
        r"invalid (?:x-)?api[- ]key",
        r"incorrect api key",
        r"api key (?:not valid|expired)",
        r"\b(?:HTTP|status|code|error)\D{0,3}401\b",
        r"\b401 (?:unauthorized|\{)",
        r"credit balance is too low",
        r"insufficient_quota",
        r"please run /login",
        r"\b(?:HTTP|status|code|error)\D{0,3}40[23]\b",
        r"\b40[23] (?:payment required|forbidden)",
        r"\bPERMISSION_DENIED\b",
        r"\bPermissionDeniedError\b",
        r"\bUNAUTHENTICATED\b",
        r"could not resolve authentication method",
        r"the api_key client option must be set",
        r"missing (?:authorization header|api[- ]key|bearer)",
        r"(?:oauth )?token has expired",
    ),
    _kind(
        "provider_rate_limit",
        Cause.PROVIDER,
        "the provider limited the rate (429)",
        r"rate_limit(?:_error|_exceeded)?\b",
        r"RateLimitError",
        r"\b(?:HTTP|status|code|error)\D{0,3}429\b",
        r"\b429 (?:too many requests|\{)",
        r"too many requests",
        r"usage limit reached",
        r"hit your (?:usage )?limit",
        r"\d-hour limit reached",
        r"\bRESOURCE_EXHAUSTED\b",
        r"\bThrottlingException\b",
        r"exceeded your current quota",
        r"temporarily limiting requests",
    ),
    _kind(
        "provider_overloaded",
        Cause.PROVIDER,
        "the provider was overloaded (529)",
        r"overloaded_error",
        r"\boverloaded\b",
        r"experiencing high demand",
        r"model is at capacity",
        r"\b(?:HTTP|status|code|error)\D{0,3}529\b",
    ),
    _kind(
        "tls",
        Cause.INFRASTRUCTURE,
        "the model's endpoint was not trusted: no CA certificates in the image, or a proxy's own",
        r"CERTIFICATE_VERIFY_FAILED",
        r"SELF_SIGNED_CERT",
        r"self[- ]signed certificate",
        r"unable to get (?:local )?issuer certificate",
        r"certificate verify failed",
        r"UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ),
    _kind(
        "model_never_reached",
        Cause.INFRASTRUCTURE,
        "the model's endpoint could not be reached",
        r"APIConnectionError",
        r"\bECONNREFUSED\b",
        r"\bENOTFOUND\b",
        r"\bEAI_AGAIN\b",
        r"\bETIMEDOUT\b",
        r"\bECONNRESET\b",
        r"connection error",
        r"unable to connect to (?:the )?api",
        r"fetch failed",
        r"name resolution",
        r"connection refused",
        r"error sending request for url",
        r"stream disconnected before completion",
        r"socket hang up",
        r"premature close",
    ),
    _kind(
        "provider_error",
        Cause.PROVIDER,
        "the provider failed",
        r"\b(?:HTTP|status|code|error)\D{0,3}5\d\d\b",
        r"\b5\d\d (?:internal server error|bad gateway|service unavailable|gateway time-?out|unavailable)",
        r"upstream connect error",
        r"server had an error while processing",
        r"request timed out",
        r"\blitellm\.(?:[\w.]*\.)?Timeout\b",
        r"InternalServerError",
        r"ServiceUnavailableError",
        r"\bapi_error\b",
        r"server_error",
        r"upstream timeout",
        r"APITimeoutError",
    ),
    _kind(
        "request_refused",
        Cause.AGENT,
        "the provider refused the request as wrong (400 or 404)",
        r"\binvalid_request_error\b",
        r"\bBadRequestError\b",
        r"\bNotFoundError\b",
        r"\bnot_found_error\b",
        r"\bmodel_not_found\b",
        r"\b(?:HTTP|status|code|API error)\D{0,3}4(?:00|04|22)\b",
    ),
)
"""In this order: the first that fits names the error."""

_RAISED_BY_CLIENT = re.compile(
    r"^\s*(?:(?:litellm|openai|anthropic|google\.genai|google\.api_core)\.[\w.]*(?:Error|Exception|Exceeded\w*|Timeout)\b"
    r"|botocore\.(?:errorfactory|exceptions)\.\w+:"
    r"|\[?API Error\b|API call failed\b|Error code: \d{3}\b"
    r"|(?:error|fatal|✖|x)?:?\s*unexpected status \d{3}\b|(?:error: )?stream (?:error: |disconnected before completion)"
    r"|Invalid API key · |Not logged in · |Claude (?:AI )?usage limit reached\||You've hit your (?:[\w-]+ )?limit · )",
    re.IGNORECASE,
)
"""How clients of providers begin what they say about an error; at the beginning of a line."""
_ERROR_OBJECT = re.compile(r'^\s*\{\s*"(?:type"\s*:\s*"error|error"\s*:)')
_LAST_LINES = 12
_WELL = frozenset({"success", "submitted", "completed", "task_complete", "result", "done"})


def session_errors(case: TrialCase) -> Iterator[Finding]:
    """Errors that the session records and that it did not get over."""
    if not case.asks_a_model:
        return
    for trajectory in case.trajectories:
        told: set[str] = set()
        for number, said in reversed(trajectory.errors):
            kind = classify(said) or _unknown(trajectory, said)
            if kind is None or kind.rule in told:
                continue
            is_the_end = bool(trajectory.ended) and said.startswith(trajectory.ended)
            got_over = not is_the_end and _got_over(trajectory, number)
            if kind is _UNKNOWN and (got_over or any(classify(each) for _, each in trajectory.errors)):
                continue
            told.add(kind.rule)
            count = sum(1 for _, each in trajectory.errors if (classify(each) or _UNKNOWN) is kind)
            words = kind.words if kind.rule != "model_never_reached" or not _answered(trajectory) else _CUT_OFF
            ending = ", and the session went on after it" if got_over else ", and the session ended with it"
            yield Finding(
                rule=kind.rule,
                cause=kind.cause,
                strength=Strength.WEAK if got_over or kind is _UNKNOWN else Strength.STRONG,
                text=f"{words}{f', {count} times' if count > 1 else ''}{ending}",
                source=f"{trajectory.format} session" + (f", step {number}" if number else ""),
                evidence=(case.step_evidence(trajectory, number, said, "recorded error"),),
                step=number,
            )


_UNKNOWN = _kind("session_error", Cause.AMBIGUOUS, "the session recorded an error that no rule knows", r"(?!)")


def _unknown(trajectory: Trajectory, said: str) -> _Kind | None:
    """An error in nobody's words, unless it is the agent's own word for a limit, which another rule tells."""
    return None if LIMIT_WORDS.search(said) or LIMIT_WORDS.search(trajectory.ended) else _UNKNOWN


_CUT_OFF = "the connection to the model's endpoint broke"


def agent_output(case: TrialCase) -> Iterator[Finding]:
    """The end of what the harness printed, where it left no session: a client's own error words at the beginning of a
    line, or an error object (case 62). Strong where besides no token was spent or the harness failed."""
    if not case.asks_a_model or case.session is not None:
        return
    for log in case.agent_texts:
        for line in reversed(case.tail(log.path, _LAST_LINES)):
            said, sure = _own_words(line.text)
            kind = classify(said) if said else None
            if kind is None:
                continue
            unspent = case.trial.tokens_in == 0 and not case.trial.tokens_out
            failed = case.trial.agent_exit not in (None, 0)
            yield Finding(
                rule=kind.rule,
                cause=kind.cause,
                strength=Strength.STRONG if sure or unspent or failed else Strength.WEAK,
                text=f"{kind.words}; it is the last that the agent said",
                source=f"{log.label}, its end",
                evidence=(_quoted(case, log.path, line, said),),
            )
            return


def classify(said: str) -> _Kind | None:
    """What an error of a provider is, by its own words; None for words of something else."""
    return next((kind for kind in _KINDS if kind.pattern.search(said[:4000])), None)


def _got_over(trajectory: Trajectory, number: int) -> bool:
    """Answers of the model came after the error, or the session says itself that it ended well."""
    answered = any(
        step.number > number and step.source == "agent" and (step.calls or step.tokens_out) for step in trajectory.steps
    )
    return answered or (trajectory.ended.lower() in _WELL and _answered(trajectory))


def _answered(trajectory: Trajectory) -> bool:
    return any(step.source == "agent" and (step.tokens_out or step.calls) for step in trajectory.steps)


def _own_words(text: str) -> tuple[str, bool]:
    """What a line says about a provider's error, "" where it is no such line; and whether the line itself proves that
    no token was spent."""
    if _RAISED_BY_CLIENT.search(text):
        return text, False
    if not text.lstrip().startswith("{") or len(text) > 1 << 20:
        return "", False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "", False
    if not isinstance(found, dict):
        return "", False
    if _ERROR_OBJECT.search(text) and found.get("error"):
        return json.dumps(found["error"]) if not isinstance(found["error"], str) else found["error"], False
    tokens = found.get("tokens", found.get("usage"))
    output = found.get("output", found.get("result"))
    if isinstance(tokens, dict) and isinstance(output, str) and tokens and not any(tokens.values()):
        return output, True
    return "", False


def _quoted(case: TrialCase, path: Path, line: Line, said: str) -> Evidence:
    return Evidence("agent's words", clean_line(said, SHOWN), case.relative(path), line.number)
