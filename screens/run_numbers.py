"""What the header of a run reckons: end, cost, standings, alarms. Once a second at most, the long part in a thread."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from textual.message import Message
from textual.screen import Screen

from engine.analysis.from_state import arm_outcomes
from engine.state import RunState
from screens.run_alarm import AlarmWatch
from screens.run_sums import RunSums
from screens.source import RunSource
from screens.standings import Standings, work_out
from screens.trial_rows import LARGE
from screens.widgets.run_header import RunHeader

FACTS_SEC = 1.0
"""How often they are worked out anew, at most."""
PAUSES = 8.0
"""Times as long as standings took do they rest: a thread that reckons takes turns from the screen."""


@dataclass
class StandingsWorkedOut(Message):
    """`standings` None: the run moved on while it was looked at. `seconds` is what it took."""

    standings: Standings | None
    seconds: float


class RunNumbers:
    """`late` is called when numbers were put off and are worked out now."""

    def __init__(self, screen: Screen[Any], source: RunSource, late: Callable[[], None]) -> None:
        self._screen = screen
        self._source = source
        self._late = late
        self._at = 0.0
        self._due = False
        self._known = False
        self._stood: tuple[int, ...] = ()
        self._stand_at = 0.0
        self._sums = RunSums(source.state)
        self._alarms = AlarmWatch(source.state)
        self.changed(source.state.trials)

    @property
    def known(self) -> bool:
        """Whether the run had been read to its end."""
        return self._known

    def changed(self, dirty: Collection[str]) -> None:
        self._sums.update(dirty)
        self._alarms.update(dirty)

    def show(self, header: RunHeader, *, now: bool = False) -> None:
        """Into the header, unless that was done less than a second ago; then a moment later."""
        since = perf_counter() - self._at
        if self._source.caught_up and not self._known:
            self._known = True
        elif since < FACTS_SEC and not now:
            if not self._due:
                self._due = True
                self._screen.set_timer(FACTS_SEC - since, self._put_off)
            return
        self._at = perf_counter()
        state = self._source.state
        goes_on = self._source.live and not state.cancelling and not state.paused
        header.goes_on = goes_on
        header.eta = self._sums.eta(self._source.now()) if goes_on else None
        header.cost = (self._sums.cost_usd, self._sums.cost_unknown)
        header.alarms = self._alarms.alarms() if state.finished is None and not self._source.stale else []
        stood = tuple(number for arm in state.arms.values() for number in (arm.passed, arm.scored, arm.finished))
        if stood != self._stood and perf_counter() >= self._stand_at:
            self._stood = stood
            self._stand_at = float("inf")  # until they are worked out
            large = len(state.trials) > LARGE
            job = partial(self._work_out, state if large else None, None if large else arm_outcomes(state))
            self._screen.run_worker(job, thread=True, exclusive=True, group="standings")

    def take(self, found: StandingsWorkedOut, header: RunHeader) -> None:
        rest = PAUSES * found.seconds
        self._stand_at = perf_counter() + rest
        self._screen.set_timer(rest + FACTS_SEC, self._put_off)  # for what has come meanwhile
        if found.standings is None:
            self._stood = ()  # looked at again with the next numbers
        else:
            header.standings = found.standings

    def _put_off(self) -> None:
        self._due = False
        if self._screen.is_attached:
            self._late()

    def _work_out(self, state: RunState | None, found: Any) -> None:
        """In a thread. Of a large run even the outcomes are gathered here: the screen doesn't wait for them."""
        began = perf_counter()
        try:
            outcomes = arm_outcomes(state) if state is not None else found
            standings: Standings | None = work_out(outcomes)
        except RuntimeError:  # trials were planned meanwhile
            standings = None
        self._screen.post_message(StandingsWorkedOut(standings, perf_counter() - began))
