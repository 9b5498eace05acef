"""Waiting for what a trial screen reads in threads, so that a test never presses a key too early."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from screens.trial_screen import TrialScreen
from screens.widgets.cast_view import CastView
from screens.widgets.files_view import FilesView
from screens.widgets.steps_view import StepsView
from tests.screens.deck import until


def is_shown(screen: TrialScreen) -> bool:
    """The trial's folder is looked through, and the open tab has read what it shows."""
    view = screen.view
    if screen.finds is None or (view is not None and not (view.is_mounted and view.size)):
        return False
    if isinstance(view, StepsView):
        return view.trajectory is not None or not view.waiting_text.startswith("reading")
    if isinstance(view, FilesView):
        return bool(view.table.entries)
    if isinstance(view, CastView):
        return view.cast.complete and view.player.cast is view.cast and not view.player.behind and view.ready
    return True


async def trial_shown(pilot: Pilot[Any], screen: TrialScreen) -> None:
    await until(pilot, lambda: is_shown(screen), "the trial is read")
    await pilot.pause()
