"""The phases of a trial on a line: names with durations above bars whose lengths go by time."""

from __future__ import annotations

from datetime import datetime

from engine.issues import Phase
from engine.trial_state import Span, TrialState
from screens import format as fmt
from screens.pieces import Pieces, cells, cut, fit

_GLYPHS = {"ahead": "─", "running": "━", "done": "━", "failed": "━"}
_STYLES = {"ahead": "deck--rule", "running": "deck--accent", "done": "deck--dim", "failed": "deck--bad"}


class _Part:
    """A phase that was, is or will be."""

    def __init__(self, phase: Phase, step: str, span: Span | None, now: datetime) -> None:
        self.phase = phase
        self.step = step
        self.seconds: float | None = None
        self.kind = "ahead"
        self.limit: float | None = None
        if span is not None:
            running = span.seconds is None
            self.seconds = max(0.0, (now - span.started_at).total_seconds()) if running else span.seconds
            self.kind = "running" if running else "done" if span.ok else "failed"
            self.limit = span.limit_sec

    def labels(self) -> list[str]:
        """The longest first; the first that fits is shown."""
        mark = "✗ " if self.kind == "failed" else ""
        name = f"{mark}{self.phase}"
        words = [name, f"{mark}{str(self.phase)[0]}"]
        if self.seconds is None:
            return words
        short = self.kind != "running" and self.seconds < 10
        timed = f"{name} {f'{self.seconds:.1f} s' if short else fmt.short_time(self.seconds)}"
        if self.limit and self.kind == "running":
            return [f"{timed} of {fmt.short_time(self.limit)}", timed, *words]
        return [timed, *words]

    @property
    def least(self) -> int:
        """Cells for name and time."""
        return cells(next(label for label in self.labels() if " of " not in label)) + 2


def timeline(trial: TrialState, now: datetime, width: int) -> list[Pieces]:
    """Two lines, three where the task has steps; exactly `width` cells each."""
    parts = _parts(trial, now)
    widths = _widths(parts, width)
    names: Pieces = []
    bars: Pieces = []
    steps: Pieces = []
    step = ""
    for number, (part, cells_wide) in enumerate(zip(parts, widths, strict=True)):
        gap = " " if number < len(parts) - 1 and cells_wide > 1 else ""
        room = cells_wide - len(gap)
        label = next((label for label in part.labels() if cells(label) <= room), "")
        style = {"ahead": "deck--faint", "running": "deck--strong", "done": "deck--dim", "failed": "deck--bad"}
        names += fit([(label, style[part.kind])], cells_wide)
        bars += [(_GLYPHS[part.kind] * room, _STYLES[part.kind]), (gap, "")]
        if part.step != step:
            step = part.step
            span_width = sum(w for p, w in zip(parts[number:], widths[number:], strict=True) if p.step == step)
            steps += fit([(cut(step, span_width - 1), "deck--dim")], span_width)
        elif not part.step:
            steps += [(" " * cells_wide, "")]
    lines = [fit(names, width), fit(bars, width)]
    return [fit(steps, width), *lines] if any(part.step for part in parts) else lines


def _parts(trial: TrialState, now: datetime) -> list[_Part]:
    end = now if not trial.done or trial.finished_at is None else trial.finished_at
    parts = [_Part(span.phase, span.step, span, end) for span in trial.phases]
    if not trial.done:
        seen = {span.phase for span in trial.phases}
        reached = trial.phases[-1].phase if trial.phases else None
        order = list(Phase)
        after = order.index(reached) + 1 if reached is not None else 0
        parts += [_Part(phase, "", None, end) for phase in order[after:] if phase not in seen or phase is Phase.CLEANUP]
    return parts or [_Part(phase, "", None, end) for phase in Phase]


def _widths(parts: list[_Part], width: int) -> list[int]:
    """By time, but no phase narrower than its label while there is room for all labels."""
    least = [part.least for part in parts]
    if sum(least) > width:  # the longest phases keep their names, the others an initial
        least = [min(part.least, 4 if part.kind == "failed" else 3) for part in parts]
    while sum(least) > width and max(least) > 1:
        least[least.index(max(least))] -= 1
    total = sum(part.seconds or 0.0 for part in parts)
    room = width - sum(least)
    if room <= 0 or not total:
        widths = list(least)
        if widths and room > 0:
            widths[-1] += room
        return widths
    # those whose share is below their least keep it; the others divide what is left by their times
    fixed: set[int] = set()
    while True:
        free = width - sum(least[number] for number in fixed)
        time = sum(part.seconds or 0.0 for number, part in enumerate(parts) if number not in fixed)
        short = {
            number
            for number, part in enumerate(parts)
            if number not in fixed and (not time or free * (part.seconds or 0.0) / time < least[number])
        }
        if not short:
            break
        fixed |= short
    widths = [
        least[number] if number in fixed else int(free * (part.seconds or 0.0) / time)
        for number, part in enumerate(parts)
    ]
    longest = max(range(len(parts)), key=lambda number: widths[number])
    widths[longest] += width - sum(widths)
    return widths
