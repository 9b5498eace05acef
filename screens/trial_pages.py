"""The tabs of a trial: each has a key, a label, and a view that is made when it is opened first and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

from textual.containers import Container
from textual.css.query import NoMatches
from textual.widget import Widget

from engine.events import RunPlanned
from engine.layout import LogFile
from engine.text import clean_line
from screens.trial_finds import Finds
from screens.when_filled import Filling, when_filled
from screens.widgets.card_pane import CardPane
from screens.widgets.cast_view import CastView
from screens.widgets.files_view import FilesView
from screens.widgets.log_page import LogPage
from screens.widgets.log_tabs import Tab
from screens.widgets.log_view import LogView
from screens.widgets.merged_log import MergedLogView
from screens.widgets.steps_view import StepsView

STEPS, MERGED, FILES, CARD = "steps", "merged", "files", "card"
"""Keys of tabs that are no file; the others are called by the path of theirs."""


@runtime_checkable
class Searchable(Protocol):
    """A view that can be searched. `stop_search` is False where there was nothing to stop or to close."""

    def action_search(self) -> None: ...
    def action_hit(self, step: int) -> None: ...
    def stop_search(self) -> bool: ...


@runtime_checkable
class Followable(Protocol):
    def action_follow(self) -> None: ...


@runtime_checkable
class Wrappable(Protocol):
    def action_wrap(self) -> None: ...
    def action_numbers(self) -> None: ...


@runtime_checkable
class Timed(Protocol):
    """A log that knows when its lines were written."""

    def go_to_time(self, at: datetime) -> object: ...


@runtime_checkable
class Focusable(Protocol):
    """A view that says itself which of its parts takes the keys."""

    def take_focus(self) -> None: ...


def keys_without_use(view: Widget | None) -> set[str]:
    """Actions of the trial screen that mean nothing to what is open."""
    return {
        *({"follow"} if not isinstance(view, Followable) or getattr(view, "live", True) is False else ()),
        *({"wrap"} if not isinstance(view, Wrappable) else ()),
        *({"search"} if not isinstance(view, Searchable) else ()),
        *({"hit(1)"} if not isinstance(view, LogView) or view.search is None else ()),
    }


@dataclass(frozen=True)
class TrialPage:
    """`make` gets whether the trial is still going on."""

    tab: Tab
    make: Callable[[bool], Widget] = field(compare=False)

    @property
    def key(self) -> str:
        return self.tab.key


def pages_of(
    logs: Sequence[LogFile], finds: Finds, folder: Path, plan: RunPlanned | None, steps: int | None
) -> list[TrialPage]:
    """In the order of their numbers. `steps` is how many the open session has, once it is read."""
    pages = steps_and_logs(logs, finds, steps)
    if len(logs) > 1:
        pages.append(TrialPage(Tab(MERGED, "all by time"), partial(_merged, tuple(logs))))
    pages += [_cast_page(path, len(finds.casts) > 1) for path in finds.casts]
    pages.append(TrialPage(Tab(FILES, "files"), lambda live: FilesView(folder)))
    card = finds.card
    if card is not None:
        pages.append(TrialPage(Tab(CARD, "card"), lambda live: LogView(card, "card")))
    else:
        pages.append(TrialPage(Tab(CARD, "card"), lambda live: CardPane(plan)))
    return pages


def steps_and_logs(logs: Sequence[LogFile], finds: Finds, steps: int | None) -> list[TrialPage]:
    pages: list[TrialPage] = []
    if finds.sessions:
        label = "steps" if steps is None else f"steps {steps:,}"
        pages.append(TrialPage(Tab(STEPS, label), lambda live: StepsView(finds.sessions, live=live)))
    return pages + [_log_page(log) for log in logs]


def _log_page(log: LogFile) -> TrialPage:
    label = clean_line(log.label, 40)
    detail = f"({log.kind})" if log.kind in ("agent", "verifier") and label != log.kind else ""
    return TrialPage(Tab(str(log.path), label, detail), lambda live: LogView(log.path, log.label, follow=live))


def _merged(logs: Sequence[LogFile], live: bool) -> Widget:
    return MergedLogView(logs, follow=live)


def _cast_page(path: Path, several: bool) -> TrialPage:
    label = f"cast {clean_line(path.stem, 24)}" if several else "cast"
    return TrialPage(Tab(str(path), label), lambda live: CastView(path, live=live))


def open_for_step(logs: Sequence[LogFile], at: datetime | None, opened: Callable[[str], Widget | None]) -> bool:
    """The agent's own log where there is one, opened by its key, at the step's time where both tell times. False where
    there is no log."""
    log = next((log for log in logs if log.kind == "agent"), logs[0] if logs else None)
    if log is None:
        return False
    view = opened(str(log.path))
    if view is not None and at is None:
        view.notify("this session tells no times", timeout=3, markup=False)
    elif at is not None and isinstance(view, Widget) and isinstance(view, Timed):
        when_filled(view, view.go_to_time, at)
    return True


class TrialPages(Container):
    """Shows one page. `chosen`: a person opened it, or something that a person asked for."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.pages: list[TrialPage] = []
        self.current = ""
        self.chosen = False
        self._views: dict[str, Widget] = {}
        self._filling = Filling()

    @property
    def view(self) -> Widget | None:
        return self._views.get(self.current)

    async def filled(self) -> Widget | None:
        """What is open, with its parts in place."""
        await self._filling.end()
        return self.view

    @property
    def keys(self) -> list[str]:
        return [page.key for page in self.pages]

    def view_of(self, key: str) -> Widget | None:
        return self._views.get(key)

    def views(self) -> Iterable[Widget]:
        return self._views.values()

    def open(self, key: str, live: bool) -> Widget | None:
        """None where there is no such page."""
        page = next((page for page in self.pages if page.key == key), None)
        if page is None:
            return None
        self.current = key
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = page.make(live)
            self._filling.begin(self.mount(view))
        self.show()
        return view

    def set_sessions(self, sessions: tuple[Path, ...], live: bool) -> None:
        """More may have been found since the steps were opened."""
        steps = self.view_of(STEPS)
        if isinstance(steps, StepsView) and sessions:
            steps.set_paths(sessions, live)

    def show(self) -> None:
        for key, view in self._views.items():
            view.display = key == self.current

    def forget(self) -> None:
        """Another trial is shown from now on."""
        for view in self._views.values():
            view.remove()
        self._views.clear()
        self.pages = []
        self.current, self.chosen = "", False

    def focus_view(self, view: Widget) -> None:
        if isinstance(view, Focusable):
            view.take_focus()
            return
        try:
            view.query_one(LogPage).focus()
        except NoMatches:
            view.focus()
        if isinstance(view, LogView):
            view.poll()
