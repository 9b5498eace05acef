"""A mouse as terminals send it: the button stays down while it moves, and a click comes after it went up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual import events
from textual.pilot import Pilot
from textual.widget import Widget


async def drag(pilot: Pilot[Any], widget: Widget, *cells: tuple[int, int], let_go: bool = True) -> None:
    """From the first cell over the others; the cells are the widget's."""
    await _post(pilot, [events.MouseDown], widget, cells[0], button=1)
    for cell in cells[1:]:
        await _post(pilot, [events.MouseMove], widget, cell, button=1)
    if let_go:
        await _post(pilot, [events.MouseUp, events.Click], widget, cells[-1], button=1)


async def move(pilot: Pilot[Any], widget: Widget, cell: tuple[int, int]) -> None:
    """With no button down."""
    await _post(pilot, [events.MouseMove], widget, cell, button=0)


async def wheel(pilot: Pilot[Any], widget: Widget, cell: tuple[int, int], down: bool = True) -> None:
    await _post(pilot, [events.MouseScrollDown if down else events.MouseScrollUp], widget, cell, button=0)


async def _post(
    pilot: Pilot[Any],
    kinds: Sequence[type[events.MouseEvent]],
    widget: Widget,
    cell: tuple[int, int],
    button: int,
) -> None:
    await pilot._post_mouse_events(list(kinds), widget, offset=cell, button=button)
