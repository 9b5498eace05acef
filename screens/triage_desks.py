"""The one desk of an open run, kept by the app and shared by all screens that show the run."""

from __future__ import annotations

from typing import Any

from engine.triage.propose import propose
from engine.triage.who import who_am_i
from textual.app import App

from screens.app_protocols import KeepsRunsOpen
from screens.source import RunSource
from screens.triage_desk import TriageDesk


def desk_of(app: App[Any], source: RunSource) -> TriageDesk:
    """Made and started the first time it is asked for; the app closes it with the run."""

    def make(run: RunSource) -> TriageDesk:
        desk = TriageDesk(run, who_am_i(), run.clock, propose)
        desk.on_news = lambda: _in_the_ui_thread(app, desk)
        desk.start()
        return desk

    if not isinstance(app, KeepsRunsOpen):
        raise TypeError("this app keeps no runs open")
    desk = app.desk_of(source, make)
    assert isinstance(desk, TriageDesk)
    return desk


def _in_the_ui_thread(app: App[Any], desk: TriageDesk) -> None:
    app.call_later(desk.take_in)
