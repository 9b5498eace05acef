"""How a Harbor agent failed: Harbor's and LiteLLM's own exceptions as codes of ours, by their names."""

from __future__ import annotations

import re
import traceback

from engine.agents.harbor.secrets import Secrets
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.text import clean_line

CODES: dict[str, Code] = {
    "ApiRateLimitError": Code.MODEL_RATE_LIMITED,
    "ApiUsageLimitError": Code.MODEL_AUTH_FAILED,
    "ApiInternalServerError": Code.MODEL_FAILED,
    "ApiOverloadedError": Code.MODEL_OVERLOADED,
    "ApiConnectionClosedError": Code.MODEL_UNREACHABLE,
    "ApiResponseStalledError": Code.MODEL_TIMEOUT,
    "ApiProviderResourceNotFoundError": Code.MODEL_FAILED,
    "OutputTokenExceededError": Code.MODEL_CUT_OFF,
    "OutputLengthExceededError": Code.MODEL_CUT_OFF,
    "ContextWindowExceededError": Code.MODEL_CONTEXT_FULL,
    "ContextLengthExceededError": Code.MODEL_CONTEXT_FULL,
    "AgentSafetyRefusalError": Code.MODEL_REFUSED,
    "AgentAuthenticationError": Code.MODEL_AUTH_FAILED,
    "ModelNotFoundError": Code.MODEL_FAILED,
    "UnsupportedModelParametersError": Code.MODEL_CALL_MALFORMED,
    "NetworkConnectionError": Code.MODEL_UNREACHABLE,
    "UnknownApiError": Code.MODEL_FAILED,
    # LiteLLM's
    "RateLimitError": Code.MODEL_RATE_LIMITED,
    "AuthenticationError": Code.MODEL_AUTH_FAILED,
    "PermissionDeniedError": Code.MODEL_AUTH_FAILED,
    "ContentPolicyViolationError": Code.MODEL_FILTERED,
    "ServiceUnavailableError": Code.MODEL_OVERLOADED,
    "Timeout": Code.MODEL_TIMEOUT,
    "APIConnectionError": Code.MODEL_UNREACHABLE,
    "UnsupportedParamsError": Code.MODEL_CALL_MALFORMED,
    "BadRequestError": Code.MODEL_CALL_MALFORMED,
    "NotFoundError": Code.MODEL_FAILED,
    "InternalServerError": Code.MODEL_FAILED,
    "APIError": Code.MODEL_FAILED,
    "ApiError": Code.MODEL_FAILED,
}
OVERLOADED = re.compile(r"\b529\b|overloaded", re.IGNORECASE)
_EXIT = re.compile(r"Command failed \(exit (-?\d+)\)")
_MESSAGE_CHARS = 400
_EVIDENCE_CHARS = 4000


def cause_of(error: BaseException) -> BaseException:
    """Retrying code wraps what it met."""
    for _ in range(5):
        attempt = getattr(error, "last_attempt", None)
        inner = attempt.exception() if attempt is not None else None
        if inner is None:
            return error
        error = inner
    return error


def code_of(error: BaseException) -> Code | None:
    """None: it says nothing about the model."""
    for one in type(error).__mro__:
        if one.__module__.split(".")[0] in ("harbor", "litellm", "openai", "anthropic") and one.__name__ in CODES:
            code = CODES[one.__name__]
            return Code.MODEL_OVERLOADED if code is Code.MODEL_FAILED and OVERLOADED.search(str(error)) else code
    return None


def exit_code_of(error: BaseException) -> int | None:
    """That of the program in `main`, where the failure is one of it."""
    found = _EXIT.search(str(error))
    return int(found.group(1)) if found else None


def is_exit(error: BaseException) -> bool:
    """The agent's program ended with an exit code other than 0: its end, and no failure of Harbor's code."""
    return any(one.__name__ == "NonZeroAgentExitCodeError" for one in type(error).__mro__)


def issue_of(error: BaseException, name: str, secrets: Secrets, *, in_main: bool) -> Issue | None:
    """What to tell beside the verdict; None where the exit code says it all.

    What an agent's program in `main` printed is text that the model could write, too: what Harbor reads in it is a
    warning.
    """
    code = code_of(error)
    if code is None and is_exit(error):
        return None
    words = secrets.out_of(str(error).strip())
    kind = type(error).__name__
    if code is None:
        return Issue(
            Severity.ERROR,
            Phase.AGENT,
            Code.HARNESS_FAILED,
            f"Harbor's {name} failed: {kind}: {clean_line(words, _MESSAGE_CHARS)}",
            (
                Evidence(
                    "in Harbor's code", secrets.out_of("".join(traceback.format_exception(error)))[-_EVIDENCE_CHARS:]
                ),
            ),
        )
    if in_main:
        message = f"Harbor read {kind} in what {name} printed before it ended"
        return Issue(Severity.WARNING, Phase.AGENT, code, message, (Evidence("Harbor says", words[-_EVIDENCE_CHARS:]),))
    return Issue(
        Severity.ERROR,
        Phase.AGENT,
        code,
        f"the model's call failed: {kind}: {clean_line(words, _MESSAGE_CHARS)}",
        (Evidence("LiteLLM says", words[-_EVIDENCE_CHARS:]),),
    )
