"""What stands on a screen as text: the twin of its picture, for a mail or an issue."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from engine.text import clean_line
from screens.actions import EVERYWHERE
from screens.read_only import refused

if TYPE_CHECKING:
    from textual.screen import Screen


def screen_text(screen: Screen[Any]) -> str:
    """The lines as they are painted, without colours and without blanks at their ends."""
    strips = screen._compositor.render_strips()
    lines = [clean_line("".join(segment.text for segment in strip), 10_000).rstrip() for strip in strips]
    return "\n".join(lines).rstrip("\n") + "\n"


def save_screen_text(app: App[Any], now: datetime) -> Path | None:
    """Into the current folder, where nothing of that name is yet; says where, or why not."""
    if refused(app):
        return None
    place = getattr(app.screen, "PLACE", EVERYWHERE)
    path = Path(f"trialdeck-{place.name}-{now.astimezone():%Y%m%d-%H%M%S}.txt").absolute()
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(screen_text(app.screen))
    except OSError as error:
        app.notify(f"can't write {path.name}: {error.strerror}", severity="error", markup=False)
        return None
    app.notify(f"saved as {path}", markup=False)
    return path
