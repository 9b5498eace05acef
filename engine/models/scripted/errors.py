"""The errors that providers give, in their own shapes."""

from __future__ import annotations

from typing import Any

from engine.models.scripted.script import ContextFull, Fail, Filter
from engine.models.settings import Wire

ANTHROPIC: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "messages: at least one message is required"),
    401: ("authentication_error", "invalid x-api-key"),
    403: ("permission_error", "Your API key does not have permission to use the specified resource."),
    404: ("not_found_error", "model: scripted"),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your organization's rate limit."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "Request timed out"),
    529: ("overloaded_error", "Overloaded"),
}
OPENAI: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "Invalid request."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "permission_denied", "You are not allowed to use this model."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."),
    413: ("invalid_request_error", None, "The request is too large."),
    429: ("rate_limit_exceeded", "rate_limit_exceeded", "Rate limit reached for requests per min. Try again in 1s."),
    500: ("server_error", None, "The server had an error while processing your request."),
    503: ("server_error", "server_is_overloaded", "The engine is currently overloaded, please try again later."),
}


def error_body(wire: Wire, status: int) -> dict[str, Any]:
    """What the provider says with that status; something that fits where it never gives it."""
    if wire is Wire.ANTHROPIC:
        kind, words = ANTHROPIC.get(status, ("api_error", f"The request failed with status {status}"))
        return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_scripted"}
    openai_kind, code, words = OPENAI.get(status, ("server_error", None, f"The request failed with status {status}."))
    return {"error": {"message": words, "type": openai_kind, "param": None, "code": code}}


def error_of(turn: Fail | Filter | ContextFull, wire: Wire) -> tuple[int, dict[str, Any] | str]:
    """Status and body of a turn that is an error."""
    if isinstance(turn, Fail):
        return turn.status, error_body(wire, turn.status) if turn.body is None else turn.body
    if isinstance(turn, ContextFull):
        words = "prompt is too long: 210000 tokens > 200000 maximum"
        code = "context_length_exceeded"
        if wire is Wire.OPENAI_RESPONSES:
            words = "Your input exceeds the context window of this model. Please adjust your input and try again."
        elif wire is Wire.OPENAI_CHAT:
            words = (
                "This model's maximum context length is 200000 tokens. However, your messages resulted in 210000 "
                "tokens. Please reduce the length of the messages."
            )
    else:
        words = "Output blocked by content filtering policy"
        code = "content_filter"
        if wire is not Wire.ANTHROPIC:
            words = "The response was filtered due to the prompt triggering the content management policy."
    body = error_body(wire, 400)
    body["error"]["message"] = words
    if wire is not Wire.ANTHROPIC:
        body["error"]["code"] = code
        if code == "content_filter":
            body["error"]["innererror"] = {"code": "ResponsibleAIPolicyViolation"}
    return 400, body
