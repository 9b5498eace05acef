"""What each event says in a log: at most one line, after the state has taken it in."""

from __future__ import annotations

from datetime import datetime

from console.run_text import issue_text, say_seconds, trial_label
from engine import events as ev
from engine import trial_state
from engine.issues import Issue
from engine.state import RunState
from engine.time_to_go import time_to_go
from engine.trial_state import TrialState
from screens import format as fmt

MOST_NAMED = 4
"""How many running trials a heartbeat names."""


def change_line(event: ev.AnyEvent, state: RunState) -> str | None:
    """None for what a log does without: samples, activities, single services and artifacts."""
    match event:
        case ev.EngineStarted(resumed=True):
            return _line(event.at, "↺", "resumed", f"session {event.session} · {_progress(state)}")
        case ev.RunPaused():
            return _line(event.at, "‖", "paused", "no new trials")
        case ev.RunContinued():
            return _line(event.at, "●", "continued", "")
        case ev.ConcurrencyChanged():
            return _line(event.at, "·", "changed", f"concurrency {event.concurrency}")
        case ev.CancelRequested():
            return _line(event.at, "⊘", "cancelling", _what_is_cancelled(event, state))
        case ev.RunIssue():
            return _issue(event.at, event.issue, state.run_issues, "run")
        case ev.RunFinished():
            return _line(_at(event), "·", "finished", f"{_progress(state)} · {_took(event.seconds)}")
    trial = state.trials.get(getattr(event, "trial", ""))
    return _of_trial(event, trial, state) if trial is not None else None


def _of_trial(event: ev.AnyEvent, trial: TrialState, state: RunState) -> str | None:
    whose = trial_label(trial, state)
    match event:
        case ev.TrialWaiting():
            return _line(event.at, "◌", "waiting", whose, f"for {trial.waiting_for}")
        case ev.TrialStarted():
            again = f"run {event.run_number} of this trial" if event.run_number > 1 else ""
            return _line(_at(event), "●", "started", whose, again)
        case ev.PhaseStarted():
            return _line(event.at, " ", str(event.phase), whose, trial.step, _before(trial), _limit(event.limit_sec))
        case ev.IssueRaised():
            phase = f"{whose} · {event.issue.phase}" if event.issue.phase else whose
            return _issue(event.at, event.issue, trial.issues, phase)
        case ev.ThresholdCrossed():
            share = f"{event.value / event.limit:.0%} of its limit" if event.limit else f"{event.value:g}"
            return _line(event.at, "▵", event.what, whose, f"{event.service} at {share}")
        case ev.TrialFinished():
            return _finished(event, trial, whose, state)
        case ev.EnvironmentGone() if trial.kept_gone:
            return _line(event.at, "·", "gone", whose, "what was kept up of it", trial.kept_gone)
        case ev.TrialInterrupted():
            kept = f"its record is in {event.folder}" if event.folder else ""
            return _line(_at(event), "↺", "set aside", whose, event.reason, kept)
    return None


def _finished(event: ev.TrialFinished, trial: TrialState, whose: str, state: RunState) -> str:
    tests = f"{trial.tests_passed or 0} of {trial.tests_total} tests" if trial.tests_total is not None else ""
    return _line(
        _at(event),
        fmt.state_glyph(trial),
        trial.state,
        whose,
        f"reward {fmt.reward(trial.reward)}" if trial.reward is not None else "",
        tests,
        "out of time" if trial.timed_out else "",
        say_seconds(event.seconds) if event.seconds is not None else "",
        fmt.usd(trial.cost_usd) if trial.cost_usd is not None else "",
        "environment kept" if trial.kept else "",
        _progress(state),
    )


def _issue(at: datetime, raw: Issue, cleaned: list[Issue], whose: str) -> str:
    issue = cleaned[-1] if cleaned else raw
    return _line(at, fmt.SEVERITY_GLYPHS[issue.severity], str(issue.severity), whose, issue_text(issue))


def _at(event: ev.Event) -> datetime | None:
    """None: nobody knows when that was."""
    return None if event.untimed else event.at


def _line(at: datetime | None, glyph: str, word: str, *parts: str) -> str:
    return f"{fmt.wall_time(at):<8} {glyph} {word:<10} {' · '.join(part for part in parts if part)}".rstrip()


def _progress(state: RunState) -> str:
    """One definition everywhere: done is with a verdict or given up, of all that is planned."""
    total = max(len(state.trials), state.plan.trials if state.plan else 0)
    return f"{state.done} of {total} done"


def _took(seconds: float | None) -> str:
    return say_seconds(seconds) if seconds is not None else "time unknown"


def _limit(seconds: float | None) -> str:
    return f"limit {fmt.span(seconds)}" if seconds is not None else ""


def _before(trial: TrialState) -> str:
    """The phase that just ended, with its time."""
    if len(trial.phases) < 2 or trial.phases[-2].seconds is None:
        return ""
    before = trial.phases[-2]
    return f"after {before.phase} {say_seconds(before.seconds)}"


def _what_is_cancelled(event: ev.CancelRequested, state: RunState) -> str:
    if event.trial:
        trial = state.trials.get(event.trial)
        return trial_label(trial, state) if trial is not None else event.trial
    return "the run, by force" if event.force else "the run; running trials are cleaned up"


def heartbeat_line(state: RunState, now: datetime) -> str:
    """What goes on while nothing else is to be said."""
    running = sorted((trial for trial in state.trials.values() if trial.state == trial_state.RUNNING), key=_by_start)
    named = [_doing(trial, state, now) for trial in running[:MOST_NAMED]]
    more = [f"and {len(running) - MOST_NAMED} more"] if len(running) > MOST_NAMED else []
    queued = state.count(trial_state.QUEUED, trial_state.WAITING, trial_state.INTERRUPTED)
    left = time_to_go(state, now)
    facts = [
        _progress(state),
        f"{len(running)} running: {', '.join(named + more)}" if running else "none running",
        f"{queued} to come" if queued else "",
        f"≈ {fmt.about(left)} to go" if left else "",
    ]
    return _line(now, "…", "still", *facts)


def _by_start(trial: TrialState) -> tuple[float, int]:
    return (trial.started_at.timestamp() if trial.started_at else 0.0, trial.position)


def _doing(trial: TrialState, state: RunState, now: datetime) -> str:
    """`hello · oracle (agent 0:41, bash)`."""
    phase = fmt.state_word(trial)
    parts = [f"{phase} {fmt.short_time(trial.phase_elapsed(now))}" if trial.phase is not None else phase]
    parts += [trial.activity] if trial.activity else []
    return f"{trial_label(trial, state)} ({', '.join(parts)})"
