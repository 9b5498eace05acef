"""What needs a decision: failed and unscored trials, and passes that look wrong; the most telling first."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from engine.issues import Code, Severity
from engine.state import RunState
from engine.triage.blind import cases
from engine.triage.causes import Cause
from engine.triage.label_book import LabelBook
from engine.triage.proposal import Proposal, Strength
from engine.trial_state import DONE, FAILED, PASSED, REFUSED, UNSCORED, TrialState

SUSPICIOUS_CODES: dict[Code, str] = {
    Code.PASSED_WITHOUT_CHANGES: "passed though the agent changed nothing",
    Code.REWARD_CONTRADICTED: "passed, and its tests say otherwise",
    Code.NOTHING_HANDED_OVER: "passed though nothing was handed to the verifier",
    Code.AGENT_NOT_STOPPED: "passed while the agent could not be stopped",
    Code.ENVIRONMENT_DIED: "passed though its environment died",
}
"""Issues that make a pass doubtful, in words."""

SUSPICIOUS_RULES: dict[str, str] = {
    "reward_by_agent": "passed, and the agent wrote the reward",
    "only_test_hooks_changed": "passed with nothing but test hooks changed",
    "reward_contradicted": "passed, and its tests say otherwise",
    "no_tests_collected": "passed though no tests ran",
    "agent_past_its_time": "passed, and the agent ran past its time",
    "zero_tokens": "passed though the model was never asked",
    "attempts_disagree": "passed, and other attempts on the same work did not",
    "passes_without_work": "passed, as does an agent that does nothing",
    "passed_without_changes": "passed though the agent changed nothing",
}
"""Rules whose finding makes a pass doubtful."""


class Kind(StrEnum):
    UNSCORED = "unscored"
    SUSPICIOUS = "suspicious pass"
    FAILED = "failed"


_KINDS = {Kind.UNSCORED: 0, Kind.SUSPICIOUS: 1, Kind.FAILED: 2}
_CAUSES = {cause: number for number, cause in enumerate(Cause)}


class QueueItem(msgspec.Struct, frozen=True, kw_only=True):
    """`case` is the trial's number where its arm is hidden: the same for everyone and for as long as the plan stays.
    `reason` says in words why it stands here. `decided`: the viewer has labelled it, or it is settled."""

    trial: str
    task: str
    case: int
    kind: Kind
    reason: str
    proposal: Proposal | None = None
    decided: bool = False
    skipped: bool = False
    disagreed: bool = False


def queue(
    state: RunState,
    proposals: Mapping[str, Proposal],
    book: LabelBook,
    viewer: str,
    *,
    undecided_only: bool = False,
) -> list[QueueItem]:
    """Disagreements that the viewer may know of first, then undecided before skipped before decided; inside of these
    what may change a score before what counts as it is (`_telling`). `proposals` may lack trials: it is filled while a
    screen shows.

    Trials that are equally telling stand by what was found in them and by task, so that alike ones are judged alike;
    then in the order of their case numbers, which says nothing about their arms.
    """
    numbers = cases(state)
    found = []
    for trial in state.trials.values():
        proposal = proposals.get(trial.trial)
        why = reason(trial, proposal)
        if why is None:
            continue
        decided = book.decided(trial.trial, viewer)
        if decided and undecided_only:
            continue
        kind, words = why
        found.append(
            QueueItem(
                trial=trial.trial,
                task=trial.task,
                case=numbers[trial.trial],
                kind=kind,
                reason=words,
                proposal=proposal,
                decided=decided,
                skipped=book.skipped(trial.trial, viewer),
                disagreed=book.disagreed(trial.trial) and book.of(trial.trial, viewer) is not None,
            )
        )
    return sorted(found, key=_order)


def to_propose(state: RunState) -> list[str]:
    """Trials for which a proposal is worth its reading: those that are over, what failed first."""
    rank = {UNSCORED: 0, REFUSED: 0, FAILED: 1, PASSED: 2}
    over = [trial for trial in state.trials.values() if trial.state in rank and trial.state in DONE]
    return [trial.trial for trial in sorted(over, key=lambda trial: rank[trial.state])]


def reason(trial: TrialState, proposal: Proposal | None) -> tuple[Kind, str] | None:
    """Why a trial needs a decision; None where it needs none."""
    if trial.state in (UNSCORED, REFUSED):
        return Kind.UNSCORED, _unscored(trial)
    if trial.state == FAILED:
        return Kind.FAILED, "ran out of time" if trial.timed_out else f"reward {_number(trial.reward)}"
    if trial.state != PASSED:
        return None
    codes = {issue.code for issue in trial.issues}
    for code, words in SUSPICIOUS_CODES.items():
        if code in codes:
            return Kind.SUSPICIOUS, words
    rules = {finding.rule for finding in proposal.findings} if proposal is not None else set()
    for rule, words in SUSPICIOUS_RULES.items():
        if rule in rules:
            return Kind.SUSPICIOUS, words
    return None


def _unscored(trial: TrialState) -> str:
    grave = [
        issue for severity in (Severity.FATAL, Severity.ERROR) for issue in trial.issues if issue.severity is severity
    ]
    grave += [issue for issue in trial.issues if issue.code is Code.VERIFIER_RESULT_INVALID]
    worst = next(iter(grave), None)
    if trial.state == REFUSED:
        return f"refused: {worst.message}" if worst is not None else "refused"
    return f"no verdict: {worst.code}" if worst is not None else "no verdict"


def _number(reward: float | None) -> str:
    return "unknown" if reward is None else f"{reward:g}"


def _order(item: QueueItem) -> tuple[int, int, int, str, str, int]:
    if item.disagreed:
        standing = 0
    elif not item.decided:
        standing = 2 if item.skipped else 1
    else:
        standing = 3
    proposal = item.proposal
    first = proposal.findings[0] if proposal is not None and proposal.findings else None
    cause = _CAUSES[proposal.cause] if proposal is not None and proposal.cause is not None else len(_CAUSES)
    return standing, _telling(item), cause, first.rule if first is not None else "", item.task, item.case


def _telling(item: QueueItem) -> int:
    """What may change a score before what stands as it is: a record of somebody else's fault, a verdict that is
    missing, a pass that looks wrong; then spent budgets and plain failures, which count as they are."""
    proposal = item.proposal
    strong = proposal is not None and proposal.strength is Strength.STRONG
    own = proposal is not None and proposal.cause in (Cause.BUDGET, Cause.MODEL)
    if strong and not own:
        return _KINDS[item.kind]
    if item.kind is not Kind.FAILED:
        return 3 + _KINDS[item.kind]
    return 5 if strong else 6
