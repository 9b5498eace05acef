"""From everything that is known about a trial to a proposal: which cause, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from engine.layout import LogFile
from engine.state import RunState
from engine.triage import (
    rules_agent,
    rules_environment,
    rules_model_issues,
    rules_provider,
    rules_task,
    rules_verifier,
)
from engine.triage.proposal import Finding, Proposal, Strength
from engine.triage.queue import SUSPICIOUS_RULES
from engine.triage.trial_case import TrialCase
from engine.trial_state import FAILED, PASSED, REFUSED, UNSCORED, TrialState

Rule = Callable[[TrialCase], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    rules_task.refused,
    rules_task.fails_for_everybody,
    rules_environment.environment_issues,
    rules_environment.mcp_server_failed,
    rules_environment.agent_setup_network,
    rules_environment.environment_died,
    rules_model_issues.model_issues,
    rules_provider.session_errors,
    rules_provider.agent_output,
    rules_environment.refused_after_death,
    rules_environment.out_of_memory,
    rules_agent.harness_failed,
    rules_agent.limit_reached,
    rules_agent.time_up,
    rules_agent.harness_crashed,
    rules_verifier.verifier_issues,
    rules_verifier.no_tests_collected,
    rules_verifier.reward_by_agent,
    rules_verifier.only_test_hooks_changed,
    rules_verifier.doubtful_verdict,
    rules_task.same_work_other_verdict,
    rules_task.oracle_disagrees,
    rules_task.passes_without_work,
    rules_task.oracle_fails,
    rules_agent.past_its_time,
    rules_task.many_at_once,
    rules_agent.killed_in_the_log,
    rules_environment.killed_without_record,
    rules_agent.zero_tokens,
    rules_verifier.nothing_handed_over,
    rules_agent.agent_exit,
    rules_environment.own_volume_full,
    rules_verifier.tests_failed,
    rules_model_issues.model_troubles,
    rules_task.other_attempts,
)
"""The most telling first: among findings of equal strength the earlier rule decides which cause is proposed. What kept
a trial from its beginning comes before what happened in it, and both before what the verifier says of it."""


def propose(trial: TrialState, state: RunState, trial_folder: Path, logs: Sequence[LogFile]) -> Proposal:
    """Reads files, within bounds: call it in a thread. Nothing is found out about a trial that is not over.

    A pass gets a cause only where something makes it doubtful; what else was found is told all the same.
    """
    if trial.state not in (FAILED, UNSCORED, PASSED, REFUSED):
        return Proposal(cause=None)
    case = TrialCase(trial, state, trial_folder, logs)
    found = rules_model_issues.settled([finding for rule in RULES for finding in rule(case)])
    telling = [finding for finding in found if finding.rule in SUSPICIOUS_RULES] if trial.state == PASSED else found
    deciding = next((finding for finding in telling if finding.strength is Strength.STRONG), None)
    deciding = deciding or next(iter(telling), None)
    if deciding is None:
        return Proposal(cause=None, findings=tuple(found))
    return Proposal(
        cause=deciding.cause,
        strength=deciding.strength,
        findings=tuple(
            sorted(found, key=lambda each: (each.cause is not deciding.cause, each.strength is not Strength.STRONG))
        ),
    )
