"""What providers, gateways and their clients write about a failure, in whichever of their dialects.

A code or a type is a provider's own word and counts alone. Free text counts only where the code says nothing, and
text that may quote the request (a 4xx) never makes a failure one that is worth another try.
"""

from __future__ import annotations

import re

from engine.issues import Code

_CODES: dict[str, Code] = {
    # filters
    "content_filter": Code.MODEL_FILTERED,
    "responsibleaipolicyviolation": Code.MODEL_FILTERED,
    "content_policy_violation": Code.MODEL_FILTERED,
    "contentpolicyviolationerror": Code.MODEL_FILTERED,
    "invalid_prompt": Code.MODEL_FILTERED,
    "moderation_blocked": Code.MODEL_FILTERED,
    "cyber_policy_violation": Code.MODEL_FILTERED,
    "bio_policy_violation": Code.MODEL_FILTERED,
    "image_content_policy_violation": Code.MODEL_FILTERED,
    "safety": Code.MODEL_FILTERED,
    "prohibited_content": Code.MODEL_FILTERED,
    "refusal": Code.MODEL_REFUSED,
    # accounts and keys
    "insufficient_quota": Code.MODEL_AUTH_FAILED,
    "billing_error": Code.MODEL_AUTH_FAILED,
    "billing_hard_limit_reached": Code.MODEL_AUTH_FAILED,
    "billing_not_active": Code.MODEL_AUTH_FAILED,
    "account_deactivated": Code.MODEL_AUTH_FAILED,
    "invalid_api_key": Code.MODEL_AUTH_FAILED,
    "expired_api_key": Code.MODEL_AUTH_FAILED,
    "invalid_authentication": Code.MODEL_AUTH_FAILED,
    "authentication_error": Code.MODEL_AUTH_FAILED,
    "authenticationerror": Code.MODEL_AUTH_FAILED,
    "permission_error": Code.MODEL_AUTH_FAILED,
    "permission_denied": Code.MODEL_AUTH_FAILED,
    "permissiondeniederror": Code.MODEL_AUTH_FAILED,
    "unauthenticated": Code.MODEL_AUTH_FAILED,
    "unauthorized": Code.MODEL_AUTH_FAILED,
    "budget_exceeded": Code.MODEL_AUTH_FAILED,
    "unsupported_country_region_territory": Code.MODEL_AUTH_FAILED,
    # the context
    "context_length_exceeded": Code.MODEL_CONTEXT_FULL,
    "model_context_window_exceeded": Code.MODEL_CONTEXT_FULL,
    "contextwindowexceedederror": Code.MODEL_CONTEXT_FULL,
    "string_above_max_length": Code.MODEL_CONTEXT_FULL,
    "request_too_large": Code.MODEL_CONTEXT_FULL,
    # worth another try
    "overloaded_error": Code.MODEL_OVERLOADED,
    "overloaded": Code.MODEL_OVERLOADED,
    "server_is_overloaded": Code.MODEL_OVERLOADED,
    "engine_overloaded": Code.MODEL_OVERLOADED,
    "engine_overloaded_error": Code.MODEL_OVERLOADED,
    "slow_down": Code.MODEL_OVERLOADED,
    "unavailable": Code.MODEL_OVERLOADED,
    "service_unavailable": Code.MODEL_OVERLOADED,
    "serviceunavailableerror": Code.MODEL_OVERLOADED,
    "rate_limit_error": Code.MODEL_RATE_LIMITED,
    "rate_limit_exceeded": Code.MODEL_RATE_LIMITED,
    "rate_limit_reached_error": Code.MODEL_RATE_LIMITED,
    "ratelimiterror": Code.MODEL_RATE_LIMITED,
    "too_many_requests": Code.MODEL_RATE_LIMITED,
    "resource_exhausted": Code.MODEL_RATE_LIMITED,
    "throttlingexception": Code.MODEL_RATE_LIMITED,
    "timeout_error": Code.MODEL_TIMEOUT,
    "timeout": Code.MODEL_TIMEOUT,
    "deadline_exceeded": Code.MODEL_TIMEOUT,
    "api_error": Code.MODEL_FAILED,
    "server_error": Code.MODEL_FAILED,
    "internal_error": Code.MODEL_FAILED,
    "internal_server_error": Code.MODEL_FAILED,
    "internalservererror": Code.MODEL_FAILED,
    # the request
    "not_found_error": Code.MODEL_CALL_MALFORMED,
    "model_not_found": Code.MODEL_CALL_MALFORMED,
    "deploymentnotfound": Code.MODEL_CALL_MALFORMED,
    "unsupported_parameter": Code.MODEL_CALL_MALFORMED,
    "unsupported_value": Code.MODEL_CALL_MALFORMED,
    "tool_use_failed": Code.MODEL_CALL_MALFORMED,
    "invalid_function_parameters": Code.MODEL_CALL_MALFORMED,
    "invalid_image": Code.MODEL_CALL_MALFORMED,
}
"""`invalid_request_error` isn't here: it stands over filters, full contexts and empty accounts as well."""

_ORDER = (
    Code.MODEL_FILTERED,
    Code.MODEL_REFUSED,
    Code.MODEL_CONTEXT_FULL,
    Code.MODEL_AUTH_FAILED,
    Code.MODEL_CALL_MALFORMED,
    Code.MODEL_UNTRUSTED,
    Code.MODEL_OVERLOADED,
    Code.MODEL_RATE_LIMITED,
    Code.MODEL_TIMEOUT,
    Code.MODEL_UNREACHABLE,
    Code.MODEL_FAILED,
)
"""Which of several codes counts: the most particular, and before all those that another try can't mend."""


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_FINAL_WORDS: tuple[tuple[Code, re.Pattern[str]], ...] = (
    (
        Code.MODEL_FILTERED,
        _words(
            r"content[_ ]filter(?:ing)?\b",
            r"ResponsibleAIPolicyViolation",
            r"ContentPolicyViolation",
            r"content (?:management|moderation) policy",
            r"usage polic(?:y|ies)\b",
            r"\bsafety system\b",
            r"\binvalid_prompt\b",
            r"\bmoderation_blocked\b",
            r"(?:input|prompt|request|output) (?:was |has been )?(?:flagged|blocked)",
            r"\bPROHIBITED_CONTENT\b",
        ),
    ),
    (
        Code.MODEL_CONTEXT_FULL,
        _words(
            r"context_length_exceeded",
            r"model_context_window_exceeded",
            r"ContextWindowExceeded",
            r"prompt is too long",
            r"maximum (?:context|prompt|input) length",
            r"context (?:window|length|size|limit)[^.\n]{0,60}exceed",
            r"exceeds?[^.\n]{0,60}\bcontext (?:window|length|size|limit)",
            r"exceed context limit",
            r"exceeds? the (?:available|model's) context",
            r"(?:input )?token count[^.\n]{0,60}exceeds",
            r"exceeds the maximum number of tokens",
            r"input is too long for (?:the )?requested model",
            r"request exceeds the maximum (?:allowed )?(?:number of bytes|size)",
        ),
    ),
    (
        Code.MODEL_AUTH_FAILED,
        _words(
            r"insufficient_quota",
            r"insufficient (?:credits?|balance|funds)",
            r"requires more credits",
            r"credit balance is too low",
            r"billing (?:hard )?limit",
            r"authentication_error",
            r"AuthenticationError",
            r"permission_error",
            r"PermissionDeniedError",
            r"\binvalid (?:x-)?api[- _]key",
            r"\bincorrect api key",
            r"\bapi key (?:not valid|expired|is invalid)",
            r"\bno auth credentials",
            r"missing (?:authorization header|api[- ]key|bearer)",
            r"invalid (?:bearer|access) token",
        ),
    ),
)
"""Read in every failure's text."""

_TRUST_WORDS = _words(
    r"CERTIFICATE_VERIFY_FAILED",
    r"certificate verify failed",
    r"SELF_SIGNED_CERT",
    r"self[- ]signed certificate",
    r"unable to get (?:local )?issuer certificate",
    r"UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)",
    r"SSL certificate problem",
    r"CERT_HAS_EXPIRED",
    r"certificate has expired",
    r"hostname mismatch, certificate",
    r"ERR_TLS_CERT_ALTNAME_INVALID",
    r"x509: certificate",
    r"tls: failed to verify",
)

_PASSING_WORDS: tuple[tuple[Code, re.Pattern[str]], ...] = (
    (Code.MODEL_UNTRUSTED, _TRUST_WORDS),
    (
        Code.MODEL_OVERLOADED,
        _words(
            r"overloaded_error",
            r"\boverloaded\b",
            r"\bat capacity\b",
            r"experiencing high demand",
            r"ServiceUnavailableError",
            r"service (?:is )?(?:temporarily )?unavailable",
            r"no healthy upstream",
            r"(?:HTTP|status|code|error)\D{0,3}(?:529|503)\b",
        ),
    ),
    (
        Code.MODEL_RATE_LIMITED,
        _words(
            r"rate[_ -]?limit",
            r"RateLimitError",
            r"too many requests",
            r"exceeded your current quota",
            r"\bRESOURCE_EXHAUSTED\b",
            r"\bThrottl",
            r"(?:HTTP|status|code|error)\D{0,3}429\b",
        ),
    ),
    (
        Code.MODEL_TIMEOUT,
        _words(
            r"\b(?:request|read|connect|gateway|upstream|connection)(?:ion)?[ -]?time(?:d)?[ -]?out",
            r"\btimed out\b",
            r"\blitellm\.(?:[\w.]*\.)?Timeout\b",
            r"APITimeoutError",
            r"deadline exceeded",
            r"(?:HTTP|status|code|error)\D{0,3}(?:408|504|524)\b",
        ),
    ),
    (
        Code.MODEL_UNREACHABLE,
        _words(
            r"APIConnectionError",
            r"\bECONN(?:REFUSED|RESET)\b",
            r"\bENOTFOUND\b",
            r"connection (?:error|refused|reset)",
            r"name (?:or service not known|resolution)",
            r"upstream connect error",
            r"cannot connect to",
        ),
    ),
    (
        Code.MODEL_FAILED,
        _words(
            r"InternalServerError",
            r"internal server error",
            r"bad gateway",
            r"\bapi_error\b",
            r"server_error",
            r"(?:HTTP|status|code|error)\D{0,3}5\d\d\b",
        ),
    ),
)
"""Read where the status or the sender vouch that the text speaks of a failure: never in a 4xx but 408 and 429."""

BEGINS_LIKE_AN_ERROR = re.compile(
    r"\s*(?:(?:litellm|openai|anthropic|google\.genai|botocore)\.[\w.]*(?:Error|Exception|Exceeded\w*|Timeout)\b"
    r"|\[?API Error\b|API call failed\b|Error code: \d{3}\b|HTTP(?: error)?:? \d{3}\b|upstream (?:connect )?error\b"
    r"|(?:error: )?unexpected status \d{3}\b|(?:error: )?stream error: |curl: \(\d+\) )",
    re.IGNORECASE,
)
"""How clients of providers begin what they say about a failure."""


def code_of_names(names: list[str]) -> Code | None:
    """From codes and types as providers set them into an error object."""
    found = {code for name in names if (code := _CODES.get(name.strip().lower())) is not None}
    return next((code for code in _ORDER if code in found), None)


def code_of_text(text: str, *, vouched: bool) -> Code | None:
    """From free text. `vouched`: it is known to speak of a failure of the server, not of the request."""
    for code, pattern in (*_FINAL_WORDS, *(_PASSING_WORDS if vouched else ())):
        if pattern.search(text):
            return code
    return None


def distrusts(text: str) -> bool:
    """It speaks of a certificate that was not accepted."""
    return bool(_TRUST_WORDS.search(text))
