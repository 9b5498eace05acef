"""The one desk of an open run, kept by the app and shared by all screens that show the run; and the way to triage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.app import App

from engine.triage.propose import propose
from engine.triage.who import who_am_i
from screens.app_protocols import KeepsRunsOpen
from screens.read_only import is_read_only
from screens.source import RunSource
from screens.triage_desk import TriageDesk


def desk_of(app: App[Any], source: RunSource) -> TriageDesk:
    """Made and started the first time it is asked for; the app closes it with the run."""

    def make(run: RunSource) -> TriageDesk:
        made = TriageDesk(run, who_am_i(), run.clock, propose, read_only=is_read_only(app))
        made.on_news = lambda: _take_in_later(app, made)
        made.start()
        return made

    if not isinstance(app, KeepsRunsOpen):
        raise TypeError("this app keeps no runs open")
    desk = app.desk_of(source, make)
    assert isinstance(desk, TriageDesk)
    return desk


def open_triage(
    app: App[Any], source: RunSource, trial: str | None = None, *, marked: Iterable[str] = (), blind: bool = False
) -> None:
    """At `trial`, or at the most telling one. `marked` are labelled together with the next cause."""
    from screens.triage_screen import TriageScreen

    screen = TriageScreen(source, desk_of(app, source), trial, blind=blind)
    screen.deciding.marked.update(dict.fromkeys(sorted(marked)))
    app.push_screen(screen)


def _take_in_later(app: App[Any], desk: TriageDesk) -> None:
    """Called in a thread: the desk belongs to the UI thread."""
    app.call_later(desk.take_in)
