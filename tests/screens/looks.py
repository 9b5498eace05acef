"""Screens as plain text, against files in `dumps/` that a person has looked at.

After a wanted change: run the test with UPDATE_DUMPS=1, and look at what git shows before keeping it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.screens.deck import screen_text, until

DUMPS = Path(__file__).parent / "dumps"
SIZES = [(80, 24), (120, 40), (200, 60)]
_CURVE = re.compile("[▁-█]")
STEADY_TURNS = 30
"""For so many turns of the event loop a screen stays as it is before it is written down."""


def size_name(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


async def looks_as_kept(pilot: Pilot[Any], name: str) -> None:
    """What threads still work out may come late: the screen has to become what the file says, within a bound."""
    path = DUMPS / f"{name}.txt"
    if os.environ.get("UPDATE_DUMPS"):
        path.write_text(await _steady(pilot), encoding="utf-8")
    kept = _without_curves(path.read_text(encoding="utf-8"))
    await until(pilot, lambda: _without_curves(screen_text(pilot.app) + "\n") == kept, f"the same as {path.name}")


def _without_curves(text: str) -> str:
    """A curve of the load grows by a point each second, however long a test takes."""
    return "\n".join(_CURVE.sub(" ", line).rstrip() for line in text.split("\n"))


async def _steady(pilot: Pilot[Any]) -> str:
    seen, turns = "", 0
    while turns < STEADY_TURNS:
        await pilot.pause(0.01)
        now = screen_text(pilot.app) + "\n"
        seen, turns = now, turns + 1 if now == seen else 0
    return seen
