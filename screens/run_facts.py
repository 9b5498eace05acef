"""What the header of a run says, worked out from its state: no widget, no painting."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from textual.app import App

from engine import state as st
from engine.analysis import wording as say
from engine.analysis.rates import Rate
from engine.readers.reader import Liveness
from screens import format as fmt
from screens.pieces import Pieces, cells, width_of
from screens.read_only import is_read_only
from screens.row_pattern import TOO_SLOW
from screens.source import RunSource
from screens.standings import Standings
from screens.trial_columns import BY_NAME
from screens.trial_rows import TrialRows


def interval(rate: Rate | None) -> str:
    """`50–77`, in percent."""
    if rate is None or rate.interval is None or not rate.of:
        return ""
    low, high = rate.interval
    return f"{100 * low:.0f}–{100 * high:.0f}"


def difference(standings: Standings, short: bool = False) -> Pieces:
    """`A − B  +8.3 points  −6 to +23  p 0.42 (exact)`: of finished pairs, so far."""
    delta = standings.difference
    if delta is None:
        return []
    if delta.estimate is None:
        return [] if short else [("A − B   ", "deck--dim"), ("no pair has finished yet", "deck--faint")]
    p = "" if standings.p is None else f"p {say.p_value(standings.p)}"
    low, high = (fmt.DASH if end is None else say.signed(100 * end, 0) for end in (delta.low, delta.high))
    if short:
        return [("A − B ", "deck--dim"), (say.points(delta.estimate), "deck--strong"), (f"  {p}", "deck--dim")]
    return [
        ("A − B   ", "deck--dim"),
        (f"{say.points(delta.estimate)} points", "deck--strong"),
        (f"  {low} to {high}  ", ""),
        ("too few to say" if delta.too_few else f"{p} (exact)" if p else "", "deck--dim"),
    ]


def crumbs(source: RunSource, width: int, badges: Pieces, name: str) -> Pieces:
    """At the right end of the breadcrumbs: badges, what is measured, and how the run stands; beside the run's name
    there may be no room for what is measured."""
    measured, stands = _measured(source, width), _stands(source, width)
    room = width - min(cells(f" runs › {name}"), width // 2) - 3
    fits = width_of([*badges, *measured, *stands]) <= room
    return [*badges, *(measured if fits else []), *stands]


def _measured(source: RunSource, width: int) -> Pieces:
    state = source.state
    pieces: Pieces = []
    if state.plan is not None:
        tasks = state.plan.task_set
        named = " ".join(part for part in (tasks.name, tasks.version[:12]) if part)
        pieces.append((named, "deck--dim"))
        digest = (state.plan.card_digest or tasks.digest).removeprefix("sha256:")[:7]
        if digest and width >= 100:
            gap = " · " if named else ""
            pieces.append((f"{gap}{'card' if state.plan.card_digest else 'tasks'} {digest}", "deck--dim"))
    said = [piece for piece in pieces if piece[0]]
    return [*said, (" · ", "deck--faint")] if said else []


def _stands(source: RunSource, width: int) -> Pieces:
    pieces = badge(source, source.clock())
    if source.live and width >= 100:
        pieces.append((f" · {fmt.wall_time(source.now())}", "deck--dim"))
    return pieces


def arrangement(rows: TrialRows) -> Pieces:
    """How many trials are shown and marked, in what order."""
    pieces: Pieces = [(f"{len(rows.marked)} marked   ", "deck--accent")] if rows.marked else []
    pieces.append((f"{rows.shown} of {len(rows.state.trials)}", "deck--dim"))
    pieces.append((f"   sort: {_sorted_by(rows.sort, rows.down)}", "deck--dim"))
    if rows.second:
        pieces.append((f", {_sorted_by(rows.second, rows.second_down)}", "deck--faint"))
    if rows.grouping:
        pieces.append((f"   group: {rows.grouping}", "deck--dim"))
    return pieces


def beware(rows: TrialRows) -> str:
    """Of the filter in force; "" where there is nothing."""
    return TOO_SLOW if rows.filter is not None and rows.filter.too_slow else ""


def _sorted_by(column: str, down: bool) -> str:
    return f"{BY_NAME[column].title} {'↓' if down else '↑'}"


def hold_badge(source: RunSource) -> Pieces:
    """Where the screen stands still: of when it is, and how much waits."""
    if source.held_at is None:
        return []
    waiting = fmt.count(source.waiting, "change")
    return [(f"‖ as of {fmt.wall_time(source.held_at)} · {waiting} waiting", "deck--warn"), (" · ", "deck--faint")]


def read_only_badge(app: App[Any]) -> Pieces:
    return [("read-only", "deck--warn"), (" · ", "deck--faint")] if is_read_only(app) else []


def unscored(arm: st.ArmState) -> int:
    """Done without a verdict."""
    return arm.finished - arm.scored


def badge(source: RunSource, now: datetime) -> Pieces:
    """live, paused, cancelling, finished, or stale since the last sign of life."""
    state = source.state
    if not source.caught_up:
        return [(f"reading … {state.events:,} events", "deck--dim")]
    if source.problem:
        return [(f"! {source.problem}", "deck--bad")]
    match source.liveness:
        case Liveness.STALE:
            return [(f"✗ stale{_since(state.last_event_at, now)}", "deck--warn")]
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


def _since(at: datetime | None, now: datetime) -> str:
    """A moment, not a span: nothing has to be painted anew while nothing happens."""
    if at is None:
        return ""
    today = fmt.in_zone(at).date() == fmt.in_zone(now).date()
    return f" since {fmt.wall_time(at) if today else fmt.wall_date(at)}"
