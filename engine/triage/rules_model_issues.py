"""Rules about what failed between the agent and its model, from issues that the engine raised of calls that it saw.

They are records and not words: where one speaks, what the agent's own program wrote about the same is no finding of its
own, and what it wrote about something else weighs less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from engine.issues import Code, Issue, Severity
from engine.text import clean_line
from engine.triage.causes import Cause
from engine.triage.proposal import Finding, Strength
from engine.triage.trial_case import SHOWN, TrialCase

_SOURCE = "the model's calls"
_MOST_EVIDENCE = 4

RULE_OF_CODE: dict[Code, tuple[str, Cause]] = {
    Code.MODEL_FILTERED: ("content_filter", Cause.PROVIDER),
    Code.MODEL_REFUSED: ("refusal", Cause.MODEL),
    Code.MODEL_CONTEXT_FULL: ("context_full", Cause.BUDGET),
    Code.MODEL_AUTH_FAILED: ("authentication", Cause.PROVIDER),
    Code.MODEL_RATE_LIMITED: ("provider_rate_limit", Cause.PROVIDER),
    Code.MODEL_OVERLOADED: ("provider_overloaded", Cause.PROVIDER),
    Code.MODEL_UNTRUSTED: ("tls", Cause.INFRASTRUCTURE),
    Code.MODEL_UNREACHABLE: ("model_never_reached", Cause.INFRASTRUCTURE),
    Code.MODEL_TIMEOUT: ("provider_error", Cause.PROVIDER),
    Code.MODEL_FAILED: ("provider_error", Cause.PROVIDER),
    Code.MODEL_CALL_MALFORMED: ("request_refused", Cause.AGENT),
    Code.MODEL_CUT_OFF: ("answer_cut_off", Cause.BUDGET),
}
"""Rules of the same names as those that read words, so that neither says again what the other said."""

_OF_WORDS = frozenset(rule for rule, _ in RULE_OF_CODE.values())
"""Rules that go by what the agent's program wrote of its provider."""
_UNKNOWN = "session_error"
"""The one for words that none of these knows."""

_LAST_CALL = "tries"
"""Evidence that only an issue about the agent's last call has: with it the work ended."""
_OF_ANSWER = "the last answer"
"""Evidence that only an issue about an answer has, which nobody could read."""


def model_issues(case: TrialCase) -> Iterator[Finding]:
    """The call with which the work ended, and that the model never answered (cases 62, 64 and 65)."""
    cause = Cause.AGENT  # which never asked, as far as is known
    for issue in case.issues(*RULE_OF_CODE):
        if _ended_the_work(issue):
            rule, cause = _rule(issue)
            yield _finding(rule, cause, issue, strong=issue.severity is not Severity.WARNING)
    for issue in case.issues(Code.MODEL_NEVER_REACHED):
        yield _finding("zero_tokens", cause, issue, strong=False)


def model_troubles(case: TrialCase) -> Iterator[Finding]:
    """What the agent got over: it is told, and decides nothing where the verifier had its say."""
    for issue in case.issues(*RULE_OF_CODE):
        if not _ended_the_work(issue):
            rule, cause = _rule(issue)
            yield _finding(rule, cause, issue, strong=False)
    for issue in case.issues(Code.MODEL_RETRIED):
        yield _finding("model_retried", Cause.PROVIDER, issue, strong=False)


def settled(found: Sequence[Finding]) -> list[Finding]:
    """Each rule told once: what a record and words say alike is one finding, with the evidence of both. Where a record
    says with which call the work ended, words that no rule knows were about that, and words about something else weigh
    less."""
    records = {finding.rule for finding in found if finding.source == _SOURCE}
    sure = any(finding.source == _SOURCE and finding.strength is Strength.STRONG for finding in found)
    words = {finding.rule: finding for finding in reversed(found) if finding.source != _SOURCE}
    if sure:
        records.add(_UNKNOWN)
    kept = []
    for finding in found:
        if finding.source == _SOURCE:
            unknown = words.get(_UNKNOWN) if finding.strength is Strength.STRONG else None
            kept.append(_with(words.get(finding.rule) or unknown, finding))
        elif finding.rule not in records:
            less = sure and finding.rule in _OF_WORDS
            kept.append(msgspec.structs.replace(finding, strength=Strength.WEAK) if less else finding)
    return kept


def _with(words: Finding | None, record: Finding) -> Finding:
    if words is None:
        return record
    strong = Strength.STRONG in (words.strength, record.strength)
    return msgspec.structs.replace(
        record,
        strength=Strength.STRONG if strong else Strength.WEAK,
        evidence=(*words.evidence, *record.evidence),
        step=words.step,
    )


def _ended_the_work(issue: Issue) -> bool:
    return issue.severity is not Severity.WARNING or any(item.label == _LAST_CALL for item in issue.evidence)


def _rule(issue: Issue) -> tuple[str, Cause]:
    if issue.code is Code.MODEL_CALL_MALFORMED and any(item.label == _OF_ANSWER for item in issue.evidence):
        return "answer_malformed", Cause.MODEL  # by the model, and not the request by the agent
    return RULE_OF_CODE[issue.code]


def _finding(rule: str, cause: Cause, issue: Issue, *, strong: bool) -> Finding:
    return Finding(
        rule=rule,
        cause=cause,
        strength=Strength.STRONG if strong else Strength.WEAK,
        text=clean_line(issue.message, SHOWN),
        source=_SOURCE,
        evidence=issue.evidence[:_MOST_EVIDENCE],
    )
