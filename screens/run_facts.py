"""What the header of a run says, worked out from its state: no widget, no painting."""

from __future__ import annotations

from datetime import datetime

from engine import state as st
from engine.analysis.outcomes import TrialOutcome
from engine.analysis.rates import Rate, live_rate
from engine.readers.run_folder import Liveness
from engine.state import RunState, TrialState
from screens import format as fmt
from screens.pieces import Pieces
from screens.source import RunSource


def outcomes(state: RunState, arm: str) -> list[TrialOutcome]:
    """The finished trials of an arm; an unscored one counts as not passed, never as absent."""
    return [_outcome(trial) for trial in state.trials.values() if trial.arm == arm and trial.done]


def _outcome(trial: TrialState) -> TrialOutcome:
    scored = trial.state in (st.PASSED, st.FAILED)
    return TrialOutcome(
        task=trial.task,
        arm=trial.arm,
        attempt=trial.attempt,
        reward=trial.reward,
        passed=trial.passed,
        completed=scored,
        scored=scored,
        excluded=False,
        cost_usd=trial.cost_usd,
        seconds=trial.seconds,
    )


def rates(found: dict[str, list[TrialOutcome]]) -> dict[str, Rate]:
    """Live rates per arm. With several attempts this takes NumPy and some milliseconds: call it in a thread."""
    result = {}
    for arm, trials in found.items():
        try:
            result[arm] = live_rate(trials)
        except ValueError:  # a folder that names one attempt twice
            continue
    return result


def interval(rate: Rate | None) -> str:
    """`50–77`, in percent."""
    if rate is None or rate.interval is None or not rate.of:
        return ""
    low, high = rate.interval
    return f"{100 * low:.0f}–{100 * high:.0f}"


def cost_unknown(state: RunState) -> int:
    """Finished trials whose cost nobody knows; one that still runs may yet say."""
    return sum(1 for trial in state.trials.values() if trial.done and trial.started_at and trial.cost_usd is None)


def unscored(arm: st.ArmState) -> int:
    """Done without a verdict."""
    return arm.finished - arm.scored


def badge(source: RunSource, now: datetime) -> Pieces:
    """live, paused, cancelling, finished, or stale with the last sign of life."""
    state = source.state
    if not source.caught_up:
        return [(f"reading … {state.events:,} events", "deck--dim")]
    if source.problem:
        return [(f"! {source.problem}", "deck--bad")]
    match source.liveness:
        case Liveness.STALE:
            last = state.last_event_at
            seen = f", last sign {fmt.ago((now - last).total_seconds())}" if last else ""
            return [(f"✗ stale{seen}", "deck--warn")]
        case Liveness.FINISHED:
            finished = state.finished
            if finished is not None and finished.exit_code == 130:
                return [("⊘ interrupted", "deck--warn")]
            return [("✓ finished", "deck--good")]
        case Liveness.STARTING:
            return [("◌ starting", "deck--dim")]
    if state.cancelling:
        return [("⊘ cancelling", "deck--warn")]
    if state.paused:
        return [("‖ paused", "deck--warn")]
    return [("● live", "deck--accent")]
