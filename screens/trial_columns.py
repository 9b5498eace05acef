"""The columns of the trials table: what stands in them, how they sort, and which leave first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine import trial_state
from engine.issues import Phase, Severity
from engine.trial_state import TrialState
from screens import format as fmt
from screens.causes import Causes, cause_text
from screens.columns import Column
from screens.pieces import Pieces

STATE_STYLES = {
    trial_state.QUEUED: "deck--faint",
    trial_state.WAITING: "deck--dim",
    trial_state.RUNNING: "deck--accent",
    trial_state.PASSED: "deck--good",
    trial_state.FAILED: "deck--bad",
    trial_state.UNSCORED: "deck--warn",
    trial_state.REFUSED: "deck--dim",
    trial_state.CANCELLED: "deck--dim",
    trial_state.INTERRUPTED: "deck--warn",
}

ATTENTION = {
    state: rank
    for rank, state in enumerate(
        (
            trial_state.UNSCORED,
            trial_state.RUNNING,
            trial_state.WAITING,
            trial_state.INTERRUPTED,
            trial_state.FAILED,
            trial_state.REFUSED,
            trial_state.CANCELLED,
            trial_state.PASSED,
            trial_state.QUEUED,
        )
    )
}
"""The order of the state column: what wants a look comes first."""

BAR = 6
LOAD = 8
"""Seconds, and cells, of the curve of a trial's CPU."""

COLUMNS = (
    Column("task", "task", 14, keep=100, widest=44, first=26),
    Column("arm", "arm", 3, keep=95),
    Column("attempt", "#", 2, keep=30, right=True, help="attempt"),
    Column("state", "state", 11, keep=99),
    Column("activity", "activity", 12, keep=80, widest=30),
    Column("used", "used", BAR, keep=8, sort_down=True, help="share of the time limit used"),
    Column("time", "time", 7, keep=90, right=True, sort_down=True),
    Column("limit", "of", 4, keep=40, right=True, sort_down=True, help="time limit"),
    Column("cpu", "cpu", 5, keep=20, right=True, sort_down=True, help="CPU"),
    Column("memory", "mem", 8, keep=10, right=True, sort_down=True, help="memory"),
    Column("load", "load", LOAD, keep=5, help="CPU of the last seconds"),
    Column("reward", "reward", 6, keep=85, right=True, sort_down=True),
    Column("cause", "cause", 7, keep=45, widest=10),
    Column("issues", "issues", 12, keep=97, widest=200, sort_down=True),
)
BY_NAME = {column.name: column for column in COLUMNS}
CHANGING = frozenset({"used", "time", "cpu", "load", "memory", "activity"})
"""Columns whose order changes while nothing but time goes by."""


DOING = {
    Phase.PREPARE: "getting ready",
    Phase.AGENT: "working",
    Phase.COLLECT: "collecting",
    Phase.VERIFY: "checking",
    Phase.CLEANUP: "removing",
}
"""What a trial does whose phase has said nothing more exact yet."""


def limit_of(trial: TrialState) -> float | None:
    """The limit of the phase that lasts; else of the agent's phase, over all steps that it had."""
    if trial.state == trial_state.RUNNING and trial.phase is not None:
        return trial.limit()
    had = [span.limit_sec for span in trial.phases if span.phase is Phase.AGENT]
    known = [limit for limit in had if limit is not None]
    return sum(known) if known and len(known) == len(had) else trial.limits.get(Phase.AGENT)


def used_share(trial: TrialState, now: datetime) -> float | None:
    """How much of the phase's limit is used; of the agent's, once the trial is over."""
    limit = limit_of(trial)
    if not limit:
        return None
    spent = trial.phase_elapsed(now) if trial.state == trial_state.RUNNING else trial.agent_seconds
    return None if spent is None else spent / limit


def cell(name: str, trial: TrialState, letter: str, now: datetime) -> Pieces:
    """What stands in a column; plain text, already sanitised by the model."""
    match name:
        case "task":
            return [(trial.task, "deck--faint" if trial.state == trial_state.QUEUED else "")]
        case "arm":
            return [(letter, "deck--faint" if trial.state == trial_state.QUEUED else "deck--dim")]
        case "attempt":
            return [(str(trial.attempt), "deck--dim")]
        case "state":
            style = STATE_STYLES[trial.state]
            return [(f"{fmt.state_glyph(trial)} {fmt.state_word(trial)}", style)]
        case "activity":
            return _activity(trial, now)
        case "used":
            return _used(trial, now)
        case "time":
            return [(fmt.clock_time(trial.elapsed(now)), "" if trial.elapsed(now) is not None else "deck--faint")]
        case "limit":
            return [
                (fmt.short_span(limit_of(trial)), "deck--faint" if trial.state == trial_state.QUEUED else "deck--dim")
            ]
        case "cpu":
            return _cpu(trial)
        case "memory":
            return _memory(trial)
        case "reward":
            return [(fmt.reward(trial.reward), "" if trial.reward is not None else "deck--faint")]
        case "issues":
            return _issues(trial)
    raise KeyError(name)


def _activity(trial: TrialState, now: datetime) -> Pieces:
    if trial.state == trial_state.WAITING:
        return [(trial.waiting_for or "waiting", "deck--dim")]
    if trial.state != trial_state.RUNNING:
        return [(fmt.DASH, "deck--faint")] if trial.state != trial_state.QUEUED else []
    since = trial.activity_at or trial.started_at
    pieces: Pieces = [(trial.activity or _doing(trial), "")]
    if trial.step:
        pieces.insert(0, (f"{trial.step}: ", "deck--dim"))
    if since is not None:
        pieces.append((f" · {fmt.short_time((now - since).total_seconds())}", "deck--dim"))
    return pieces


def _doing(trial: TrialState) -> str:
    if trial.phase is None:
        return "next phase" if trial.phases else "starting"
    return DOING[trial.phase]


def _used(trial: TrialState, now: datetime) -> Pieces:
    share = used_share(trial, now)
    if share is None:
        return []
    filled, rest = fmt.bar(share, BAR)
    if trial.state != trial_state.RUNNING:
        return [(filled, "deck--warn" if trial.timed_out else "deck--dim"), (rest, "deck--rule")]
    return [(filled, "deck--warn" if share > 0.9 else "deck--accent"), (rest, "deck--rule")]


def _cpu(trial: TrialState) -> Pieces:
    value = trial.cpu_percent
    return [(fmt.percent(value), "" if value is not None else "deck--faint")]


def cause_pieces(causes: Causes | None, trial: TrialState) -> Pieces:
    """A proposal has a question mark; what is decided stands out."""
    text = cause_text(causes, trial)
    return [(text, "deck--dim" if text.endswith("?") else "deck--strong")]


def load_pieces(values: Sequence[float], trial: TrialState) -> Pieces:
    """`▁▂▅█`, against the trial's own limit of CPU, else against one core or the highest."""
    if not values:
        return []
    limit = sum(use.cpu_limit for use in trial.services.values()) or max(100.0, *values)
    steps = "▁▂▃▄▅▆▇█"
    text = "".join(steps[min(7, max(0, int(8 * value / limit)))] for value in values)
    return [(text, "deck--warn" if values[-1] > 0.9 * limit else "deck--accent")]


def _memory(trial: TrialState) -> Pieces:
    if trial.out_of_memory:
        return [("OOM", "deck--bad")]
    used, limit = trial.memory_bytes, trial.memory_limit
    if used is None:
        return [(fmt.DASH, "deck--faint")]
    close = bool(limit) and used > 0.9 * limit
    return [(fmt.size_of(used, limit), "deck--warn" if close else "")]


def _issues(trial: TrialState) -> Pieces:
    pieces: Pieces = []
    worst = trial.worst
    if worst is not None:
        issue = next(issue for issue in trial.issues if issue.severity is worst)
        style = "deck--bad" if worst is Severity.FATAL else "deck--warn"
        pieces += [(f"{fmt.SEVERITY_GLYPHS[worst]} {issue.code}", style)]
        if len(trial.issues) > 1:
            pieces.append((f" +{len(trial.issues) - 1}", "deck--dim"))
        if issue.message:
            pieces.append((f"  {issue.message}", "deck--dim"))
        return pieces
    if trial.state == trial_state.FAILED:
        if trial.timed_out:
            pieces.append(("out of time", "deck--warn"))
        if trial.tests_total:
            passed = trial.tests_passed or 0
            pieces += [("  " if pieces else "", ""), (f"{passed} of {trial.tests_total} tests", "deck--dim")]
    elif trial.discarded_cost_usd is not None or trial.run_number > 1:
        pieces.append((f"run {max(1, trial.run_number)}", "deck--dim"))
    return pieces


SortKey = tuple[int, float, str]
"""Comparable whatever the column: 1 for what has no value (it stays last), a number, a text."""

MISSING: SortKey = (1, 0.0, "")
_SEVERE = {Severity.FATAL: 3, Severity.ERROR: 2, Severity.WARNING: 1}


def sort_key(name: str, trial: TrialState, arm_index: int, now: datetime) -> SortKey:
    value: float | None
    match name:
        case "task":
            return (0, 0.0, trial.task)
        case "arm":
            value = arm_index
        case "attempt":
            value = trial.attempt
        case "state":
            return (
                0,
                float(ATTENTION[trial.state]),
                str(trial.phase or "") if trial.state == trial_state.RUNNING else "",
            )
        case "activity":
            return (0, 0.0, trial.activity or trial.waiting_for) if trial.activity or trial.waiting_for else MISSING
        case "used":
            value = used_share(trial, now)
        case "time":
            value = trial.elapsed(now)
        case "limit":
            value = limit_of(trial)
        case "cpu" | "load":
            value = trial.cpu_percent
        case "cause":
            return MISSING  # only who knows the triage of the run can say
        case "memory":
            value = trial.memory_bytes
        case "reward":
            value = trial.reward
        case "issues":
            worst = trial.worst
            value = None if worst is None else 1000 * _SEVERE[worst] + len(trial.issues)
        case _:
            raise KeyError(name)
    return MISSING if value is None else (0, float(value), "")
