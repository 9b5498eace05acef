"""What trials' own sessions tell of steps, refusals and other models that answered."""

from __future__ import annotations

from pathlib import Path

from engine.analysis.trial_facts import Seen
from engine.readers.open_run import OpenedRun
from engine.state import RunState
from engine.trajectories.read import find_trajectories, read_trajectory
from engine.trajectories.steps import Trajectory
from engine.triage.rules_provider import classify

_REFUSALS = frozenset({"refusal", "content_filter"})
_ASIDE = "subagents"
_NO_MODEL = frozenset({"", "<synthetic>"})


def read_sessions(run: OpenedRun, state: RunState) -> dict[str, Seen]:
    """By trial; trials without a session that can be read are left out. Reads every session of the run."""
    found = {}
    for trial in state.trials:
        sessions = [
            session
            for path in find_trajectories(run.trial_folder(trial))
            if not _aside(path) and (session := read_trajectory(path)) is not None and session.steps
        ]
        if sessions:
            found[trial] = seen_in(sessions[:1] if not state.trials[trial].step_rewards else sessions)
    return found


def seen_in(sessions: list[Trajectory]) -> Seen:
    """Of one trial: its session, or that of each step of the task in order."""
    answers = [step for session in sessions for step in session.steps if step.source == "agent"]
    refused = any(
        (kind := classify(said)) is not None and kind.rule in _REFUSALS
        for session in sessions
        for said in (session.ended, *(said for _, said in session.errors))
        if said
    )
    fell_back = any(
        len({step.model for step in session.steps if step.source == "agent" and step.model not in _NO_MODEL}) > 1
        for session in sessions
    )
    return Seen(steps=len(answers) or None, refused=refused, fell_back=fell_back)


def _aside(path: Path) -> bool:
    return _ASIDE in path.parts
