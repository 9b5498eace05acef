"""What the footer of a run offers: only what can be done now, by the name that it has now."""

from __future__ import annotations

from screens.run_replay import RunReplay
from screens.source import RunSource
from screens.widgets.action_footer import ActionFooter

ROOM_FOR_WORDS = 110
"""Cells from which on leaving says that the run goes on."""


def show_footer(footer: ActionFooter, source: RunSource, replay: RunReplay, *, commands: bool, width: int) -> None:
    """`commands`: an engine would take them."""
    paused = source.state.paused or replay.paused
    footer.labels["pause"] = "go on" if paused else "pause"
    footer.labels["hold"] = "go on" if source.held else "hold"
    goes_on = source.live and not replay.on and width >= ROOM_FOR_WORDS
    footer.labels["leave"] = "leave (run goes on)" if goes_on else "leave"
    useless = {
        "cancel_trial": not commands,
        "pause": not commands and not replay.on,
        "to_end": not replay.on,
    }
    footer.hidden = {name for name, hidden in useless.items() if hidden}
    footer.show()
