"""What failed between an agent and its model, from the calls that the engine saw: facts, not words of the agent's.

They stand beside the verdict and never replace it: an agent that lost its model may have done its work before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import takewhile

import msgspec

from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.models.model_call import ModelCall, ModelCallFailed, ModelFailure, Stop
from engine.text import clean_line

_WHAT = {
    Code.MODEL_RATE_LIMITED: "rate limited",
    Code.MODEL_OVERLOADED: "overloaded",
    Code.MODEL_TIMEOUT: "not answered in time",
    Code.MODEL_UNREACHABLE: "not reached",
    Code.MODEL_UNTRUSTED: "the server's certificate is not trusted",
    Code.MODEL_AUTH_FAILED: "the key was not accepted",
    Code.MODEL_REFUSED: "refused",
    Code.MODEL_FILTERED: "blocked by the provider's content filter",
    Code.MODEL_CONTEXT_FULL: "the context was full",
    Code.MODEL_CUT_OFF: "cut off",
    Code.MODEL_CALL_MALFORMED: "not understood by the server",
    Code.MODEL_FAILED: "failed",
}
_NO_ANSWER = (Code.MODEL_UNTRUSTED, Code.MODEL_UNREACHABLE, Code.MODEL_TIMEOUT)
"""What keeps every answer away, that which says most about why first. With a status an answer came, of some kind."""
_STOPS = {
    Stop.REFUSAL: (Code.MODEL_REFUSED, "the model refused"),
    Stop.FILTER: (Code.MODEL_FILTERED, "the provider's content filter cut the answer off"),
    Stop.CONTEXT: (Code.MODEL_CONTEXT_FULL, "the context was full"),
}
_MESSAGE_CHARS = 500


class AgentOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent ended. `ended_well`: by itself, without an error. `gave_up`: what its client told it at last, where
    it works on the host. `raised`: codes of issues that it raised itself. `last_output`: the end of its log."""

    ended_well: bool
    gave_up: ModelCallFailed | None = None
    raised: Collection[Code] = ()
    last_output: Evidence | None = None


def model_issues(calls: Sequence[ModelCall], outcome: AgentOutcome) -> list[Issue]:
    """Of one stage of a trial, in the order of their weight: what ended the agent first."""
    answered = [call for call in calls if _is_answer(call)]
    until = max((place for place, call in enumerate(calls, 1) if _is_answer(call)), default=0)
    overcome = [call.failure for call in calls[:until] if call.failure is not None]
    final = [call.failure for call in calls[until:] if call.failure is not None]
    if not final and outcome.gave_up is not None:
        final = [outcome.gave_up.failure]
    found = [
        *_ended_by(answered, final, outcome),
        *_never_reached(calls, answered, final, outcome),
        *_stopped(answered, outcome),
        *_went_on(overcome, len(calls)),
        *_odd(answered),
    ]
    own = set(outcome.raised)
    return [issue for issue in found if issue.code not in own or issue.code is Code.MODEL_RETRIED]


def _is_answer(call: ModelCall) -> bool:
    """Also one that was left alone while it came: what was heard of it counts."""
    return call.failure is None and (not call.hung_up or call.answer_began)


def _ended_by(answered: Sequence[ModelCall], final: Sequence[ModelFailure], outcome: AgentOutcome) -> list[Issue]:
    """The failures after which no answer came. Where none came before either, the agent's good end is none (case 62),
    and the end of its log may say more."""
    if not final:
        return []
    last = final[-1]
    alike = len(list(takewhile(lambda failure: failure.code is last.code, reversed(final))))
    tries = max(alike, outcome.gave_up.tries if outcome.gave_up is not None else 0)
    message = f"the last call of the model: {_words(last)}" + (f" ({tries} tries)" if tries > 1 else "")
    facts = [Evidence(_who_says(last), last.words)]
    if last.status is not None:
        facts.append(Evidence("HTTP status", str(last.status)))
    facts.append(Evidence("tries", str(tries)))
    if not answered and _somebody_answered(final):
        message += "; nothing was ever answered"
        facts += _log_of(outcome)
    severity = Severity.WARNING if outcome.ended_well and answered else Severity.ERROR
    return [_issue(severity, last.code, message, *facts)]


def _never_reached(
    calls: Sequence[ModelCall], answered: Sequence[ModelCall], final: Sequence[ModelFailure], outcome: AgentOutcome
) -> list[Issue]:
    """Cases 62 and 65: nothing that the agent did had a model behind it, and the model's server said nothing about why:
    what it says has a code that tells more."""
    if _somebody_answered(final):
        return []
    facts: list[Evidence] = []
    if answered:
        if any(call.usage.tokens_out != 0 or call.stop in _STOPS for call in answered):  # some, or nobody knows
            return []
        message = f"{_many(len(answered), 'answer')} of the model's server, and not a token written by the model"
    elif final:
        asked = len(calls) or (outcome.gave_up.tries if outcome.gave_up is not None else 1)
        telling = next(one for code in _NO_ANSWER for one in reversed(final) if one.code is code)
        message = f"the model was never reached: {_words(telling)}; none of {_many(asked, 'call')} was answered"
        facts.append(Evidence(_who_says(telling), telling.words))
    elif calls:
        message = (
            f"the model was never reached: of {_many(len(calls), 'call')} none was answered before it was given up"
        )
    else:
        message = "the model was never reached: the agent ended without a call of it"
    return [_issue(Severity.ERROR, Code.MODEL_NEVER_REACHED, message, *facts, *_log_of(outcome))]


def _somebody_answered(failures: Sequence[ModelFailure]) -> bool:
    """Whether the model's server, or who stands before it, said anything."""
    return any(failure.status is not None or failure.code not in _NO_ANSWER for failure in failures)


def _who_says(failure: ModelFailure) -> str:
    return "the server says" if _somebody_answered([failure]) else "the connection says"


def _log_of(outcome: AgentOutcome) -> list[Evidence]:
    return [outcome.last_output] if outcome.last_output is not None and outcome.last_output.text.strip() else []


def _stopped(answered: Sequence[ModelCall], outcome: AgentOutcome) -> list[Issue]:
    found = []
    for stop, (code, words) in _STOPS.items():
        count = sum(call.stop is stop for call in answered)
        if count:
            last = answered[-1].stop is stop
            severity = Severity.ERROR if last and not outcome.ended_well else Severity.WARNING
            at_last = ", the last one among them" if last else ""
            found.append(_issue(severity, code, f"{words} in {count} of {_many(len(answered), 'answer')}{at_last}"))
    cut = sum(call.stop is Stop.LENGTH for call in answered)
    if cut:
        at_last = ", the last one among them" if answered[-1].stop is Stop.LENGTH else ""
        message = f"cut off by the limit of output in {cut} of {_many(len(answered), 'answer')}{at_last}"
        found.append(_issue(Severity.WARNING, Code.MODEL_CUT_OFF, message))
    broken = sum(call.stop is Stop.MALFORMED for call in answered)
    if broken:
        ends = answered[-1].stop is Stop.MALFORMED
        message = f"calls of tools whose arguments are no JSON in {broken} of {_many(len(answered), 'answer')}"
        facts = [Evidence("the last answer", "its call's arguments are no JSON")] if ends else []
        severity = Severity.ERROR if ends and not outcome.ended_well else Severity.WARNING
        found.append(_issue(severity, Code.MODEL_CALL_MALFORMED, message, *facts))
    return found


def _went_on(overcome: Sequence[ModelFailure], calls: int) -> list[Issue]:
    """Failures after which the agent had an answer all the same: those that a further try can mend in one issue."""
    again = [failure for failure in overcome if failure.retryable]
    found = []
    if again:
        kinds = Counter((failure.code, failure.status) for failure in again)
        parts = [f"{count} {_kind(code, status)}" for (code, status), count in kinds.most_common()]
        last = {(failure.code, failure.status): failure.words for failure in again}
        facts = [Evidence(_kind(*kind), last[kind]) for kind in kinds if last[kind]]
        verb = "was" if len(again) == 1 else "were"
        message = f"{len(again)} of {_many(calls, 'call')} of the model {verb} tried again: {', '.join(parts)}"
        found.append(_issue(Severity.WARNING, Code.MODEL_RETRIED, message, *facts))
    others: dict[Code, list[ModelFailure]] = {}
    for failure in overcome:
        if not failure.retryable:
            others.setdefault(failure.code, []).append(failure)
    for code, failures in others.items():
        message = f"{_many(len(failures), 'call')} of the model: {_words(failures[-1])}; the agent went on"
        found.append(_issue(Severity.WARNING, code, message, Evidence("the server says", failures[-1].words)))
    return found


def _odd(answered: Sequence[ModelCall]) -> list[Issue]:
    odd = [call.usage.odd for call in answered if call.usage.odd]
    if not odd:
        return []
    message = f"the counts of {len(odd)} of {_many(len(answered), 'answer')} can't be right: {odd[0]}"
    return [_issue(Severity.WARNING, Code.MODEL_USAGE_ODD, message)]


def _words(failure: ModelFailure) -> str:
    return _kind(failure.code, failure.status) + (f": {failure.words}" if failure.words else "")


def _kind(code: Code, status: int | None) -> str:
    shown = status is not None and status >= 400
    return _WHAT.get(code, "failed") + (f" ({status})" if shown else "")


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _issue(severity: Severity, code: Code, message: str, *facts: Evidence) -> Issue:
    return Issue(severity, Phase.AGENT, code, clean_line(message, _MESSAGE_CHARS), facts)
