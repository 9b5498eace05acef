"""A screen of numbers over runs: worked out in a thread, and anew when trials end and when labels change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from time import perf_counter

from engine.analysis.labels import Labels
from screens import compare_facts
from screens import format as fmt
from screens.deck_screen import DeckScreen
from screens.pieces import Pieces
from screens.runs_together import RunsTogether
from screens.source import RunSource
from screens.triage_desk import TriageDesk
from screens.triage_desks import desk_of
from screens.widgets.breadcrumbs import Breadcrumbs

LOW = 30
WIDE = 100


class LiveNumbers(DeckScreen[None]):
    """A screen says what is worked out: `_begin` starts the thread, whose message ends in `_ended`; `_may_begin` says
    whether there is something to work out; `_rest` sets from when on numbers may be worked out anew."""

    def __init__(self, together: RunsTogether) -> None:
        super().__init__()
        self._together = together
        self._next_at = 0.0
        self._due = False
        self._working = False
        self._desks: dict[RunSource, TriageDesk] = {}

    @property
    def sources(self) -> Sequence[RunSource]:
        return self._together.sources

    def on_mount(self) -> None:
        self.set_class(self.size.height < LOW, "-low")
        self._take_up()

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self._take_up()

    def _take_up(self) -> None:
        self._listen()
        self._show_state()
        self._work()

    def on_unmount(self) -> None:
        for desk in self._desks.values():
            desk.unlisten(self._labels_changed)

    def on_resize(self) -> None:
        self.set_class(self.size.height < LOW, "-low")

    # --- what the app calls ---

    def source_changed(self, source: RunSource, dirty: set[str]) -> None:
        if not self.query(Breadcrumbs):
            return  # not composed yet, or on its way out
        trials = source.state.trials
        if "" in dirty or any(trial in trials and trials[trial].done for trial in dirty):
            self._work()
        self._show_state()

    def clock_ticked(self, now: datetime) -> None:
        if self.query(Breadcrumbs):
            self._show_state()

    def _show_state(self) -> None:
        raise NotImplementedError

    # --- labels ---

    def _listen(self) -> None:
        """To the labels of every run: those of several people, set here or elsewhere."""
        for source in self.sources:
            if source not in self._desks:
                desk = self._desks[source] = desk_of(self.app, source)
                desk.listen(self._labels_changed)

    def _labels_changed(self, trials: set[str]) -> None:
        if self.query(Breadcrumbs) and self._labels_matter:
            self._work_now()

    @property
    def _labels_matter(self) -> bool:
        raise NotImplementedError

    def _labels_of(self, source: RunSource) -> Labels:
        desk = self._desks.get(source)
        return desk.as_analysis_labels() if desk is not None else {}

    # --- working it out, in a thread ---

    def _may_begin(self) -> bool:
        raise NotImplementedError

    def _begin(self) -> None:
        raise NotImplementedError

    def _work(self) -> None:
        """Now, or as soon as what is under way is over and the time to rest is."""
        if not self._may_begin():
            return
        wait = self._next_at - perf_counter()
        if self._working or wait > 0:
            if not self._due:
                self._due = True
                if not self._working:
                    self.set_timer(max(0.01, wait), self._work_late)
            return
        self._working = True
        self._begin()

    def _work_now(self) -> None:
        """Somebody waits for it."""
        self._rest(0.0)
        self._work()

    def _work_late(self) -> None:
        self._due = False
        self._work()

    def _rest(self, seconds: float) -> None:
        self._next_at = perf_counter() + seconds if seconds else 0.0

    def _ended(self, *, again: bool) -> None:
        """`again`: what was worked out is no longer what is asked for."""
        self._working = False
        if again:
            self._rest(0.0)
        if self._due or again:
            self._work_late()

    # --- showing ---

    def _show_crumbs(self, last: str) -> None:
        right: Pieces = []
        if self._together.to_go:
            right.append((f"{fmt.count(self._together.to_go, 'trial')} to go · ", "deck--warn"))
        right += compare_facts.badges(self.sources)
        runs = [compare_facts.run_name(source) for source in self.sources]
        named = runs[0] if len(runs) == 1 else fmt.count(len(runs), "run")
        wide = self.size.width >= WIDE
        self.query_one(Breadcrumbs).set(["runs", named, last] if wide else [named, last], right)
