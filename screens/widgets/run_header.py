"""The head of a run: how far, how long, how much, how well, and whether the host stands it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine import trial_state
from engine.events import HostSampled
from engine.issues import Severity
from engine.state import ArmState, RunState
from screens import format as fmt
from screens.pieces import Pieces, cells, cut, fit, width_of
from screens.run_alarm import Alarm
from screens.run_facts import difference, interval, unscored
from screens.standings import Standings
from screens.widgets.lines import Line, Lines

MOST_ARMS = 4
FOLDED_WIDTH = 100
FOLDED_HEIGHT = 30
MOST_BAR = 60
DIFFERENCE = 52
"""Cells kept for A − B from the start, so that nothing moves when it comes."""
NUMBERS = 45
"""Cells that an arm's letter and numbers take beside its name."""
MOST_SHORT = 8
"""Cells of a name in a line that holds many arms."""
_SEPARATOR = ("  │ ", "deck--rule")


class RunHeader(Lines):
    """Set the facts, then `show`. `eta`, `cost` and `standings` are worked out by the screen, once a second at most.
    `goes_on`: there is an end to be foretold, known or not."""

    def __init__(self, state: RunState, now: datetime, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.state = state
        self.now = now
        self.stale = False
        self.ours = True
        self.eta: float | None = None
        self.goes_on = False
        self.cost: tuple[float | None, int] = (None, 0)
        self.standings = Standings()
        self.alarms: list[Alarm] = []

    @property
    def folded(self) -> bool:
        size = self.screen.size
        return size.width < FOLDED_WIDTH or size.height < FOLDED_HEIGHT

    def make(self, width: int) -> list[Line]:
        if self.folded:
            return [self._progress(width), self._arms_in_a_line(width), *self._alarm_line()]
        lines = [self._progress(width), *self._alarm_line()]
        arms = list(self.state.arms.values())
        shown = arms if len(arms) <= MOST_ARMS else arms[: MOST_ARMS - 1]
        right = [self._issues(short=width < 140), self._host(short=width < 160)]
        if len(arms) == 2:
            right.insert(0, difference(self.standings) or [("A − B", "deck--dim")])
        least = DIFFERENCE if len(arms) == 2 else 0
        room = width - max(least, *(width_of(pieces) for pieces in right)) - 5
        widest = max(8, min(40, room - NUMBERS))
        names = [_full_name(arm) for arm in shown]
        if any(cells(name) > widest for name in names):
            names = [arm.info.name for arm in shown]
        wide = min(widest, max(map(cells, names), default=0))
        left = [
            self._arm(number, arm, fit([(name, "")], wide))
            for number, (arm, name) in enumerate(zip(shown, names, strict=True))
        ]
        if len(shown) < len(arms):
            left.append([(f" … and {len(arms) - len(shown)} arms more", "deck--dim")])
        for number in range(max(len(left), len(right))):
            pieces = fit(left[number] if number < len(left) else [], max(1, room))
            if number < len(right) and right[number]:
                pieces = [*pieces, _SEPARATOR, *right[number]]
            lines.append((pieces, []))
        return lines

    # --- lines ---

    def _alarm_line(self) -> list[Line]:
        if not self.alarms:
            return []
        letters = {name: fmt.arm_letter(number) for number, name in enumerate(self.state.arms)}
        text = " · ".join(alarm.text(letters.get(alarm.arm, alarm.arm)) for alarm in self.alarms[:3])
        return [([(f" ! {text}", "deck--bad")], [])]

    def _progress(self, width: int) -> Line:
        state = self.state
        short = width < FOLDED_WIDTH
        total = len(state.trials)
        done, running = state.done, state.count(trial_state.RUNNING)
        queued = state.count(trial_state.QUEUED, trial_state.WAITING)
        interrupted = state.count(trial_state.INTERRUPTED)
        if self.stale:  # nobody is there to run them again
            running += interrupted
        else:
            queued += interrupted
        counts: Pieces = [(f"  {done} of {total}", "deck--strong")]
        if running:
            counts.append((f" · {running} cut off", "deck--warn") if self.stale else (f" · {running} running", ""))
        if queued:
            counts.append((f" · {queued} queued", "deck--dim"))
        right = self._clock(short)
        bar = max(6, min(MOST_BAR, width - width_of(counts) - width_of(right) - 6))
        full = round(bar * done / total) if total else 0
        active = min(bar - full, max(1, round(bar * running / total)) if running else 0)
        bars: Pieces = [
            (" ", ""),
            ("━" * full, "deck--accent"),
            ("╍" * active, "deck--dim"),
            ("─" * (bar - full - active), "deck--rule"),
        ]
        return [*bars, *counts], right

    def _clock(self, short: bool) -> Pieces:
        right: Pieces = []
        elapsed = self.state.elapsed(self.now)
        if elapsed is not None:
            right.append((fmt.clock_time(elapsed), ""))
            right.append(("" if short else " gone" if self.state.finished is None else " in all", "deck--dim"))
        if self.eta is not None and self.state.finished is None:
            right.append((f" · ≈ {fmt.about(self.eta)}{'' if short else ' to go'}", "deck--dim"))
        elif self.goes_on and self.state.finished is None and not short:
            right.append((f" · {fmt.DASH} to go", "deck--dim"))
        known, unknown = self.cost
        if known is not None or (unknown and not short):
            text = fmt.cost(known, unknown)
            if short:
                text = text.partition(",")[0]
            gap = " · " if right else ""
            right.append((f"{gap}{'cost ' if known is None else ''}{text}", ""))
        if self.stale and self.ours and not short:
            right.append((" · trialdeck resume goes on", "deck--warn"))
        return [*right, (" ", "")]

    def _arm(self, number: int, arm: ArmState, name: Pieces) -> Pieces:
        rate = self.standings.rates.get(arm.info.name)
        pieces: Pieces = [
            (f" {fmt.arm_letter(number)}  ", "deck--accent"),
            *name,
            (f" {arm.passed}/{arm.finished}".rjust(7), "deck--strong"),
            (f" of {arm.assigned}".ljust(6), "deck--faint"),
            (fmt.rate(arm.passed, arm.finished).rjust(8), ""),
            (interval(rate).rjust(7), "deck--dim"),
        ]
        missing = unscored(arm)
        if missing:
            pieces.append((f"  {missing} unscored", "deck--warn"))
        return pieces

    def _arms_in_a_line(self, width: int) -> Line:
        """All arms, where they fit: without what their counts say already, then with their letters alone."""
        right = [*self._severities(short=True), (" ", "")]
        room = width - width_of(right) - 2
        arms = list(self.state.arms.values())
        each = max(12, room // max(1, min(len(arms), 3)) - 22)
        pieces: Pieces = []
        for name, rates in ((each, True), (each, False), (MOST_SHORT, False), (0, False)):
            pieces = self._arms_short(arms, name, rates=rates)
            if width_of(pieces) <= room:
                break
        else:
            pieces = [*fit(pieces, max(1, room - 2)), (" …", "deck--dim")]
        delta = difference(self.standings, short=True)
        if delta and width_of(pieces) + width_of(delta) + 3 <= room:
            pieces += [("   ", ""), *delta]
        return pieces, right

    def _arms_short(self, arms: Sequence[ArmState], name: int, *, rates: bool) -> Pieces:
        """`name`: the cells that each name may take."""
        pieces: Pieces = []
        for number, arm in enumerate(arms):
            pieces += [(" ", "")] if number else []
            pieces.append((f" {fmt.arm_letter(number)}", "deck--accent"))
            pieces.append((f" {cut(arm.info.name, name)}" if name else "", ""))
            pieces.append((f" {arm.passed}/{arm.finished}", "deck--strong"))
            pieces.append((f" {fmt.rate(arm.passed, arm.finished)}" if rates else "", ""))
            pieces.append((f" ✗{unscored(arm)}" if unscored(arm) else "", "deck--warn"))
        return [piece for piece in pieces if piece[0]]

    def _issues(self, short: bool) -> Pieces:
        pieces: Pieces = [("issues  ", "deck--dim"), *self._severities(short=False)]
        if self.state.run_issues and not short:
            pieces.append((f" · {len(self.state.run_issues)} of the run", "deck--dim"))
        return pieces

    def _severities(self, short: bool) -> Pieces:
        pieces: Pieces = []
        words = {Severity.FATAL: "fatal", Severity.ERROR: "error", Severity.WARNING: "warning"}
        styles = {Severity.FATAL: "deck--bad", Severity.ERROR: "deck--warn", Severity.WARNING: "deck--dim"}
        for severity, number in self.state.severities.items():
            if number:
                many = "" if severity is Severity.FATAL or number == 1 else "s"
                word = "" if short else f" {words[severity]}{many}"
                gap = "  " if pieces else ""
                pieces.append((f"{gap}{fmt.SEVERITY_GLYPHS[severity]} {number}{word}", styles[severity]))
        return pieces or [("" if short else "none", "deck--faint")]

    def _host(self, short: bool) -> Pieces:
        host = self.state.host
        if host is None:
            return []
        return [("host    ", "deck--dim"), *_host_numbers(host, short)]


def _full_name(arm: ArmState) -> str:
    """With agent and model where the name doesn't hold them."""
    info = arm.info
    return " ".join([info.name, *(more for more in (info.agent, info.model) if more and more not in info.name)])


def _host_numbers(host: HostSampled, short: bool) -> Pieces:
    pieces: Pieces = [(f"cpu {fmt.percent(host.cpu_percent)}  ", _hot(host.cpu_percent, 97))]
    if host.memory_total:
        share = 100 * host.memory_used / host.memory_total
        pieces.append((f"mem {fmt.size_of(host.memory_used, host.memory_total)}  ", _hot(share, 90)))
    if host.disk_free:
        low = host.disk_free < 10 * 2**30
        pieces.append((f"disk {fmt.size(host.disk_free)}{'' if short else ' free'}  ", "deck--warn" if low else ""))
    if host.networks_limit:
        share = 100 * host.networks / host.networks_limit
        pieces.append((f"{'nets' if short else 'networks'} {host.networks}/{host.networks_limit}", _hot(share, 85)))
    return pieces


def _hot(percent: float, from_percent: float) -> str:
    return "deck--warn" if percent >= from_percent else ""
