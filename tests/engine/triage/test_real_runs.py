"""What the rules propose for real folders of every system, read in place."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from engine.readers.open_run import OpenedRun, recognise
from engine.state import RunState
from engine.triage.causes import Cause
from engine.triage.label_book import LabelBook
from engine.triage.proposal import Proposal, Strength
from engine.triage.propose import propose
from engine.triage.queue import Kind, queue, to_propose
from engine.trial_state import FAILED, PASSED, UNSCORED
from tests.shared_data import shared_data

DEMO = Path(__file__).parents[3] / "sample_runs" / "recorded" / "demo"


def _look(folder: Path) -> tuple[RunState, dict[str, Proposal]]:
    run = recognise(folder)
    assert run is not None
    state = _state(run)
    return state, {
        trial: propose(state.trials[trial], state, run.trial_folder(trial), run.logs(trial))
        for trial in to_propose(state)
    }


def _state(run: OpenedRun) -> RunState:
    reader, state = run.reader(), RunState()
    try:
        while events := reader.poll():
            state.apply_all(events)
    finally:
        reader.close()
    return state


def _decided(folder: Path) -> list[tuple[str, Cause | None, Strength, str]]:
    """Of each trial in the queue: task, cause, strength, the deciding rule."""
    state, proposals = _look(folder)
    items = queue(state, proposals, LabelBook(), "ada")
    return [
        (
            state.trials[item.trial].task,
            proposals[item.trial].cause,
            proposals[item.trial].strength,
            proposals[item.trial].findings[0].rule,
        )
        for item in items
    ]


STRONG, WEAK = Strength.STRONG, Strength.WEAK


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("finished", []),
        ("eight-attempts", []),
        ("three-tasks", []),
        ("fresh-verifier-failing-hooks", []),
        ("cancelled-twice", []),
        ("killed", []),
        ("aborted-by-one-bad-task", []),
        ("bad-build", [(Cause.INFRASTRUCTURE, STRONG, "image_build")]),
        ("retried", [(Cause.INFRASTRUCTURE, STRONG, "image_build")]),
        ("unhealthy-sidecar", [(Cause.INFRASTRUCTURE, STRONG, "health_check")]),
        ("no-reward", [(Cause.GRADER, STRONG, "missing_reward")]),
        ("out-of-memory", [(Cause.INFRASTRUCTURE, WEAK, "out_of_memory")]),
        ("agent-timeout", [(Cause.AGENT, WEAK, "agent_past_its_time")]),
    ],
)
def test_harbor_s_jobs(job: str, expected: list[tuple[Cause, Strength, str]]) -> None:
    """The out-of-memory job has reward 0 and no exception; the agent that ran out of time passed all the same."""
    assert [found[1:] for found in _decided(shared_data("harbor-jobs", job))] == expected


def test_every_finding_on_harbor_s_jobs_leads_into_the_job() -> None:
    jobs = [job for job in sorted(shared_data("harbor-jobs").iterdir()) if job.is_dir()]
    assert len(jobs) == 13
    for job in jobs:
        run = recognise(job)
        assert run is not None
        for trial, proposal in _look(job)[1].items():
            for finding in proposal.findings:
                for item in finding.evidence:
                    place = (run.trial_folder(trial) / item.file).resolve()
                    assert place.is_relative_to(job)
                    if item.line:
                        assert item.line <= len(place.read_text(errors="replace").split("\n")), (job.name, finding)


def test_agentcompass_s_results() -> None:
    runs = sorted(shared_data("agentcompass").glob("*/*"))
    assert [run.name for run in runs] == ["r2"]
    found = Counter((task, cause, rule) for task, cause, _, rule in _decided(runs[0]))
    assert found == {
        ("a-pass", Cause.MODEL, "tests_failed"): 2,
        ("b-fail", Cause.MODEL, "tests_failed"): 2,
        ("c-noreward", Cause.GRADER, "missing_reward"): 2,
        ("d-infra", Cause.INFRASTRUCTURE, "verifier_not_started"): 2,
        ("h-canary", Cause.GRADER, "verifier_not_started"): 2,
    }


def test_terminal_bench_s_failure_modes_are_told_apart() -> None:
    """Case 53: a pass after a time-out stays a pass, and is looked at."""
    found: Counter[tuple[str, str, str]] = Counter()
    for folder in sorted(shared_data("terminal-bench-core-0.1.1").glob("*/*")):
        state, proposals = _look(folder)
        for item in queue(state, proposals, LabelBook(), "ada"):
            proposal = proposals[item.trial]
            found[item.kind, str(proposal.cause), proposal.findings[0].rule] += 1
            if item.kind is Kind.SUSPICIOUS:
                assert state.trials[item.trial].state == PASSED
    assert found == {
        ("failed", "model", "tests_failed"): 262,
        ("failed", "budget", "time_limit"): 99,
        ("suspicious pass", "agent", "agent_past_its_time"): 39,
        ("unscored", "grader", "verifier_time_limit"): 20,
        ("unscored", "grader", "missing_reward"): 7,
    }


def test_the_recorded_sample() -> None:
    state, proposals = _look(DEMO)
    items = {item.trial: item for item in queue(state, proposals, LabelBook(), "ada")}
    failures = [trial.trial for trial in state.trials.values() if trial.state in (FAILED, UNSCORED)]
    assert sorted(items) == sorted(failures)
    told = {
        "offline-bundle__replay__2": (Cause.GRADER, STRONG, "verifier_crashed"),
        "stale-lock__replay__1": (Cause.BUDGET, STRONG, "time_limit"),
        "redis-cache-invalidation__replay__1": (Cause.MODEL, STRONG, "ended_by_agent"),
        "tight-memory__replay__1": (Cause.INFRASTRUCTURE, WEAK, "out_of_memory"),
    }
    for trial in items:
        proposal = proposals[trial]
        found = (proposal.cause, proposal.strength, proposal.findings[0].rule)
        assert found == told.get(trial, (Cause.MODEL, WEAK, found[2])), trial
