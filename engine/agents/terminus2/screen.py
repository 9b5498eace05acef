"""What the terminal shows, and what of it is new since the last look."""

from __future__ import annotations

import msgspec

MOST_BYTES = 10_000
"""Of one look as the model gets it, half from its beginning and half from its end."""


class Seen(msgspec.Struct, frozen=True):
    """Where the last look ended: how many lines had gone off the top, the row of the cursor, the rows above it, and
    what stood in it and below.

    The row of the cursor counts as not seen: what comes next is written on into it."""

    history: int = 0
    row: int = 0
    above: tuple[str, ...] = ()
    line: str = ""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One moment. `rows` are those of the visible screen, `old` the rows that stood above the cursor at the last look
    as they are now, `since` everything from that cursor on, long lines whole. `moved`: lines went off the top while it
    was looked, so that `old` and `since` are of no use."""

    history: int
    row: int
    full_screen: bool
    rows: tuple[str, ...]
    old: tuple[str, ...] = ()
    since: tuple[str, ...] = ()
    moved: bool = False


class View(msgspec.Struct, frozen=True):
    """What the model is shown. `is_new`: output since the last look, else the screen as it stands."""

    is_new: bool
    text: str


def view(look: Look, seen: Seen) -> tuple[View, Seen]:
    """What is new, where it is known, else the screen. A program that fills the screen is seen as a screen, and so is
    everything after what was seen before was changed or cleared."""
    screen = "\n".join(_trimmed(look.rows))
    if look.full_screen:
        return View(False, screen), seen
    below = "\n".join(_trimmed(look.rows[look.row :]))
    now = Seen(look.history, look.row, tuple(row.rstrip() for row in look.rows[: look.row]), below)
    old = tuple(row.rstrip() for row in look.old)
    if look.moved or look.history < seen.history or old != seen.above:
        return View(False, screen), now
    new = "\n".join(_trimmed(look.since))
    if not new.strip() or (look.history == seen.history and new == seen.line):
        return View(False, screen), now
    return View(True, new), now


def limited(text: str, most: int = MOST_BYTES) -> str:
    """At most about `most` bytes: the beginning and the end, whole lines where they are short enough."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    head = _whole_lines(data[: most // 2], from_end=False)
    tail = _whole_lines(data[len(data) - most // 2 :], from_end=True)
    left_out = len(data) - len(head) - len(tail)
    return (
        f"{head.decode('utf-8', 'ignore')}\n"
        f"[... {left_out:,} of {len(data):,} bytes are left out here; look at them in parts if they matter ...]\n"
        f"{tail.decode('utf-8', 'ignore')}"
    )


def _whole_lines(data: bytes, *, from_end: bool) -> bytes:
    """Without the broken line at the cut, unless that would take more than a quarter."""
    at = data.find(b"\n") if from_end else data.rfind(b"\n")
    lost = at if from_end else len(data) - at
    if at < 0 or lost > len(data) // 4:
        return data
    return data[at + 1 :] if from_end else data[:at]


def _trimmed(rows: tuple[str, ...]) -> list[str]:
    lines = [row.rstrip() for row in rows]
    while lines and not lines[-1]:
        lines.pop()
    return lines
