"""A recording of a terminal, played: its picture, and the line below it that says where one is."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from engine.text import clean_line
from screens import format as fmt
from screens.cast_actions import CAST
from screens.cast_file import CastFile
from screens.cast_player import SPEEDS, CastPlayer
from screens.pieces import Pieces, cut, width_of
from screens.widgets.lines import Line, Lines
from screens.widgets.steps_prompt import Prompt

TICK_SEC = 0.05
SLICE_SEC = 0.012
"""How long the terminal may be carried on in one turn; a key waits no longer."""
LOOK_SEC = 1.0
"""How often a recording that is still being made is looked at."""
_SIDEWAYS = 8
_MOMENT = re.compile(r"([+-]?)(?:(?:(\d{1,3}):)?(\d{1,4}):)?(\d{1,6}(?:\.\d+)?)\s*(%?)")


class CastPicture(Widget, can_focus=True):
    """The recorded screen; where it is larger than the room, the part round the cursor."""

    PLACE = CAST
    DEFAULT_CSS = """
    CastPicture { height: 1fr; width: 1fr; background: $background; }
    """

    def __init__(self, player: CastPlayer) -> None:
        super().__init__()
        self.player = player
        self.left = 0
        self.top: int | None = None

    @property
    def first_row(self) -> int:
        terminal = self.player.terminal
        most = max(0, terminal.rows - self.size.height)
        if self.top is not None:
            return min(self.top, most)
        return max(0, min(terminal.cursor_row - self.size.height + 1, most))

    def show(self, first_before: int) -> None:
        """Paint what changed since the last time."""
        dirty = self.player.terminal.dirty
        if not dirty:
            return
        first = self.first_row
        if first != first_before:
            self.refresh()
        else:
            rows = [row - first for row in dirty if 0 <= row - first < self.size.height]
            if rows:
                self.refresh(*(Region(0, row, self.size.width, 1) for row in rows))
        dirty.clear()

    def render_line(self, y: int) -> Strip:
        row = self.first_row + y
        width = self.size.width
        if row >= self.player.terminal.rows:
            return Strip.blank(width, self.rich_style)
        strip = self.player.terminal.strip(row, self.rich_style)
        return strip.crop(self.left, self.left + width).adjust_cell_length(width, self.rich_style)


class CastBar(Lines):
    DEFAULT_CSS = """
    CastBar { height: 1; background: $foreground 6%; }
    """

    def __init__(self, view: CastView) -> None:
        super().__init__()
        self._view = view

    def make(self, width: int) -> list[Line]:
        view, player, cast = self._view, self._view.player, self._view.cast
        if cast.problem:
            return [([(f" {cast.path.name}: ", "deck--dim"), (clean_line(cast.problem), "deck--warn")], [])]
        state = ("▶ playing", "deck--accent") if player.playing else ("‖ paused", "deck--strong")
        if player.at_end:
            state = ("■ end", "deck--strong")
        moment = f"  {fmt.short_time(player.position)} of {fmt.short_time(cast.duration)}"
        left: Pieces = [(" ", ""), state, (moment, "")]
        right: Pieces = []
        if behind := player.behind:
            right.append((f"carrying out, {100 * (1 - behind):.0f} %  ", "deck--warn"))
        if not cast.complete and cast.size:
            right.append((f"indexing, {100 * cast.indexed // cast.size} %  ", "deck--dim"))
        if view.live:
            right.append(("still recording  ", "deck--accent"))
        if cast.markers:
            at, name = player.marker
            told = f"marker {at} of {len(cast.markers)}" if at else fmt.count(len(cast.markers), "marker")
            right.append((f"{told}  ", "deck--dim"))
            right.append((f"{cut(name, 30)}  " if name and width >= 100 else "", ""))
        if player.short_pauses:
            right.append((f"pauses ≤ {player.idle_sec:g} s  ", ""))
        right.append((f"{player.speed:g}×  ", "" if player.speed != 1 else "deck--dim"))
        right.append((f"{player.terminal.columns}×{player.terminal.rows} ", "deck--faint"))
        room = width - width_of(left) - width_of(right) - 4
        if room >= 8:
            filled, empty = fmt.bar(player.position / cast.duration if cast.duration else 0.0, room)
            left += [("  ", ""), (filled, "deck--accent"), (empty, "deck--faint")]
        return [(left, right)]


class CastView(Vertical):
    """Nothing is written while it is paused. `live`: the file may still grow."""

    PLACE = CAST
    BINDINGS: ClassVar[list[BindingType]] = [*CAST.bindings()]
    DEFAULT_CSS = """
    CastView { height: 1fr; }
    """

    class Indexed(Message):
        """A thread read on in the file."""

    def __init__(self, path: Path, *, live: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.path = path
        self.live = live
        self.cast = CastFile(path)
        self.player = CastPlayer(self.cast)
        self.picture = CastPicture(self.player)
        self._prompt = Prompt()
        self._bar = CastBar(self)
        self._ready = False
        self._indexing = False
        self._ticks: Timer | None = None
        self._ticked = 0.0

    def compose(self) -> ComposeResult:
        yield self.picture
        yield self._prompt
        yield self._bar

    def on_mount(self) -> None:
        self._ticks = self.set_interval(TICK_SEC, self._tick, pause=True)
        if self.live:
            self.set_interval(LOOK_SEC, self._look)
        self._index()

    def on_unmount(self) -> None:
        self.workers.cancel_node(self)

    @property
    def ready(self) -> bool:
        """Its beginning is read."""
        return self._ready

    def take_focus(self) -> None:
        self.picture.focus()

    # --- the file ---

    def _look(self) -> None:
        if self.is_on_screen and self.screen.is_current:
            self._index()

    def _index(self) -> None:
        if not self._indexing:
            self._indexing = True
            self.run_worker(self._read_on, thread=True, group="cast index", exclusive=True)

    def _read_on(self) -> None:
        new = self.cast.index_more()
        if new or not self._ready:
            self.post_message(self.Indexed())
        else:
            self._indexing = False

    def on_cast_view_indexed(self, event: Indexed) -> None:
        event.stop()
        self._indexing = False
        first = not self._ready and self.cast.version > 0
        if first:
            self._ready = True
            self.player = CastPlayer(self.cast)
            self.picture.player = self.player
            self.picture.refresh()
            if len(self.cast):  # what stood there first, so that the picture isn't empty
                self.player.seek(self.cast.time(0))
        if not self.cast.complete and not self.cast.problem and self.cast.size:
            self._index()
        self._go_on()

    # --- time ---

    def _go_on(self) -> None:
        """Show where the player is, and let time tick as long as there is a reason."""
        self._carry()
        if self._ticks is None:
            return
        if self.player.playing or self.player.behind:
            if self._ticked == 0.0:
                self._ticked = time.monotonic()
                self._ticks.resume()
        else:
            self._ticked = 0.0
            self._ticks.pause()

    def _tick(self) -> None:
        now = time.monotonic()
        gone, self._ticked = now - self._ticked, now
        if not (self.is_on_screen and self.screen.is_current):
            return  # what nobody sees stands still
        if self.player.playing:
            self.player.advance(min(gone, 4 * TICK_SEC))
        self._go_on()

    def _carry(self) -> None:
        picture = self.picture
        first = picture.first_row
        self.player.catch_up(SLICE_SEC)
        picture.show(first)
        self._bar.show()

    # --- keys ---

    def action_play(self) -> None:
        if not self.player.playing and self.player.at_end:
            self.player.seek(0.0)
        self.player.playing = not self.player.playing and bool(len(self.cast))
        self._go_on()

    def seek(self, seconds: float) -> None:
        self.player.seek(seconds)
        self.picture.top = None
        self.picture.refresh()
        self._go_on()

    def action_jump(self, seconds: int) -> None:
        self.seek(self.player.position + seconds)

    def action_home(self) -> None:
        self.seek(0.0)

    def action_end(self) -> None:
        self.seek(self.cast.duration)

    def action_marker(self, step: int) -> None:
        name = self.player.seek_marker(step)
        if name is None:
            self.notify("no marker there" if self.cast.markers else "the recording has no markers", markup=False)
            return
        self.seek(self.player.position)

    def action_faster(self, step: int) -> None:
        at = SPEEDS.index(self.player.speed) + step
        self.player.speed = SPEEDS[max(0, min(at, len(SPEEDS) - 1))]
        self._go_on()

    def action_pauses(self) -> None:
        self.player.short_pauses = not self.player.short_pauses
        self._go_on()

    def action_pan(self, rows: int) -> None:
        picture = self.picture
        most = max(0, self.player.terminal.rows - picture.size.height)
        picture.top = max(0, min(picture.first_row + rows, most))
        picture.refresh()

    def action_sideways(self, steps: int) -> None:
        picture = self.picture
        most = max(0, self.player.terminal.columns - picture.size.width)
        picture.left = max(0, min(picture.left + steps * _SIDEWAYS, most))
        picture.refresh()

    def action_go_to(self) -> None:
        self._prompt.ask("moment", "go to")

    def on_prompt_given(self, event: Prompt.Given) -> None:
        event.stop()
        self.take_focus()
        moment = moment_of(event.text, self.player.position, self.cast.duration)
        if moment is None:
            self.notify("a moment looks like 1:02:03, 90, +30, -30 or 40 %", severity="warning", markup=False)
        else:
            self.seek(moment)

    def on_prompt_left(self, event: Prompt.Left) -> None:
        event.stop()
        self.take_focus()

    def on_resize(self, event: events.Resize) -> None:
        self._bar.show()


def moment_of(text: str, now: float, duration: float) -> float | None:
    """What a person typed, in seconds from the start; None where it is no moment."""
    found = _MOMENT.fullmatch(text.strip())
    if found is None:
        return None
    sign, hours, minutes, seconds, percent = found.groups()
    if percent:
        return None if sign or minutes else duration * float(seconds) / 100
    moment = 3600 * int(hours or 0) + 60 * int(minutes or 0) + float(seconds)
    return moment if not sign else now + moment if sign == "+" else now - moment
