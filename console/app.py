"""The Textual app: the runs that are open, the screens over them, and a clean way out on every path."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.message import Message
from textual.screen import ModalScreen

from console.app_habits import AppHabits
from console.app_leaving import AppLeaving
from console.collector import Collector
from console.engine_control import ControlFor, EngineControl
from console.goes_on import go_on_when_continued
from console.habits import Habits
from console.keys_in_turn import KeysInTurn
from console.open_sources import OpenSources, TooManyOpen
from console.palette import DeckCommands, DeckPalette
from console.runs_dir import RUNS_DIR
from console.theme import NO_COLOUR_THEME, TERMINAL_THEME, THEMES, shades
from console.tmux_clipboard import TmuxClipboard
from engine.events import now as wall_clock
from engine.readers.reader import Liveness
from engine.readers.replayed import Replay
from screens.actions import EVERYWHERE, Place
from screens.app_protocols import FollowsRun, FollowsRuns, KeptWithRun
from screens.help_screen import HelpScreen, keys_taken
from screens.home_screen import HomeScreen
from screens.read_only import refused
from screens.run_memory import RunMemory
from screens.run_screen import RunScreen
from screens.screen_text import save_screen_text
from screens.source import RunSource

if TYPE_CHECKING:
    from screens.analysing import AnalysisWish
    from screens.comparing import Wish

PUMP_SEC = 0.03
"""Pause between two slices of folding while events come."""
BACKLOG_SEC = 0.002
"""The same while there is more than one slice holds: keys are looked at in between."""
PAINT_SEC = 0.12
"""Pause between two paintings of what changed."""

ROOT = 2
"""Screens on the stack where nothing is left to go back to: Textual's own blank one, and the first of ours."""


class TrialDeckApp(TmuxClipboard):
    """With a run folder it opens that run, without one the list of runs.

    `started_here`: this console started the run, so Ctrl-C asks what is to become of it, the comparison opens by
    itself at the end, and `return_code` is the run's exit code once it is over. Leaving never stops a run.

    `source` is the run that the console was opened on, which stays open to the end; without one, the run that was
    opened last.
    """

    TITLE = "trialdeck"
    CSS_PATH = str(Path(__file__).parent.parent / "screens" / "deck.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [*EVERYWHERE.bindings(priority=frozenset({"interrupt"}))]
    COMMANDS: ClassVar = {DeckCommands}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    NOTIFICATION_TIMEOUT = 4

    class EventsCame(Message):
        """The source has something to fold."""

    def __init__(
        self,
        run_folder: Path | None = None,
        *,
        runs_dir: Path | None = None,
        places: Sequence[Path] = (),
        started_here: bool = False,
        control: ControlFor = EngineControl,
        clock: Callable[[], datetime] = wall_clock,
        habits: Habits | None = None,
        compared: Sequence[Path] = (),
        wish: Wish | None = None,
        analysed: Sequence[Path] = (),
        analysis_wish: AnalysisWish | None = None,
    ) -> None:
        no_colour = bool(os.environ.get("NO_COLOR"))
        super().__init__(ansi_color=True if no_colour else None)
        for theme in (*THEMES, TERMINAL_THEME):
            self.register_theme(theme)
        self.habits = AppHabits(self, habits or Habits())
        self.habits.begin(no_colour=no_colour)
        self.animation_level = "none"
        self.run_folder = run_folder
        self.runs_dir = runs_dir or (run_folder.parent if run_folder else RUNS_DIR)
        self.places = tuple(places) or (self.runs_dir,)
        self.started_here = started_here
        self.control_for = control
        self.clock = clock
        speed = self.habits.habits.replay_speed
        self.replay = Replay(speed) if speed is not None else None
        self.source: RunSource | None = None
        self.sources = OpenSources(clock, self._events_came, self.replay)
        self._dirty: dict[RunSource, set[str]] = {}
        self._pumped_at = 0.0
        self._painted_at = 0.0
        self._pump_waits = False
        self._paint_waits = False
        self.compared = tuple(compared)
        self.wish = wish
        self.analysed = tuple(analysed)
        self.analysis_wish = analysis_wish
        self._compared = False
        self.leaving = AppLeaving(self)
        self.collector = Collector()
        self._keys = KeysInTurn(self, super().on_event)
        self._screens = 0

    # --- life ---

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The shades of `deck.tcss`, of whatever theme is chosen."""
        return shades(self.current_theme)

    def exit(self, *given: Any, **more: Any) -> None:
        self.leaving.begun = True
        super().exit(*given, **more)

    def push_screen(self, *given: Any, **more: Any) -> Any:
        """Nothing on the way out, as for keys that were typed ahead: Textual would show a screen without its parts."""
        return AwaitComplete() if self.leaving.begun else super().push_screen(*given, **more)

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        self.leaving.listen(loop)
        go_on_when_continued(self, loop)
        if not self.is_headless and self.console.color_system == "standard":
            self.habits.show_in(NO_COLOUR_THEME)
        self.theme_changed_signal.subscribe(self, self.habits.theme_changed)
        self.set_interval(1.0, self._tick)
        if self.run_folder is None:
            self.push_screen(HomeScreen(self.places, self.clock))
            if self.compared:
                self.compare(self.compared, self.wish)
            if self.analysed:
                self.analyse(self.analysed, self.analysis_wish)
        else:
            self.push_screen(self._run_screen(self.run_folder))

    def on_unmount(self) -> None:
        self.sources.close()

    # --- the runs that are open ---

    def _run_screen(self, folder: Path) -> RunScreen:
        source = self.open_source(folder)
        if self.run_folder is None:
            self.source = source
        elif self.source is None:
            self.source = self.sources.pinned = source
        looks_only = self.read_only or self.replay is not None
        return RunScreen(source, None if looks_only else self.control_for(folder))

    @property
    def read_only(self) -> bool:
        """No label, no command to an engine, no file."""
        return self.habits.habits.read_only

    @property
    def wraps_logs(self) -> bool:
        return self.habits.habits.settings.logs.wrap

    @property
    def own_keys(self) -> Mapping[str, tuple[str, ...]]:
        return self.habits.keys

    @property
    def hidden_columns(self) -> tuple[str, ...]:
        return self.habits.habits.settings.run.hidden_columns

    def recall_run(self, source: RunSource) -> RunMemory | None:
        return self.habits.recall_run(source)

    def remember_run(self, source: RunSource, memory: RunMemory) -> None:
        self.habits.remember_run(source, memory)

    def keep_setting(self, name: str, value: object) -> None:
        """What was changed on a screen and is to be so the next time, such as `run.hidden_columns`."""
        self.habits.keep(name, value)

    @property
    def open_runs(self) -> Sequence[RunSource]:
        return self.sources.all

    def open_source(self, folder: Path) -> RunSource:
        """Raises ValueError where too many are open. Whoever asks shows it, in this turn of the event loop: what no
        screen shows is closed within a second."""
        try:
            return self.sources.open(folder)
        except TooManyOpen as error:
            raise ValueError(str(error)) from None

    def desk_of(self, source: RunSource, make: Callable[[RunSource], KeptWithRun]) -> KeptWithRun:
        return self.sources.desk(source, make)

    def _shown(self) -> list[RunSource]:
        """Every run that a screen of the stack shows, the covered ones included."""
        shown: list[RunSource] = []
        for screen in self.screen_stack:
            shown += _sources_of(screen)
        return shown

    def _close_unshown(self) -> None:
        if self.sources.keep_only(self._shown()):
            self.collector.left()
        self.habits.runs_closed(self.sources.all)
        for source in self._dirty.keys() - set(self.sources.all):
            del self._dirty[source]

    def _events_came(self) -> None:
        """In the reading thread."""
        self.post_message(self.EventsCame())

    def on_trial_deck_app_events_came(self) -> None:
        if not self._pump_waits:
            self._pump_waits = True
            self._after(self._pumped_at + PUMP_SEC - perf_counter(), self._pump)

    def _after(self, seconds: float, call: Callable[[], None]) -> None:
        if seconds <= 0:
            call()
        else:
            self.set_timer(seconds, call)

    def _pump(self) -> None:
        self._pump_waits = False
        for source, dirty in self.sources.pump().items():
            self._dirty.setdefault(source, set()).update(dirty)
        self._pumped_at = perf_counter()
        if self.sources.pending:
            self._pump_waits = True
            self.set_timer(BACKLOG_SEC, self._pump)
        if self._dirty and not self._paint_waits:
            self._paint_waits = True
            self._after(self._painted_at + PAINT_SEC - perf_counter(), self._paint)

    def _paint(self) -> None:
        self._paint_waits = False
        self._painted_at = perf_counter()
        changed, self._dirty = self._dirty, {}
        screen = self._following()
        for source, dirty in changed.items():
            self.habits.run_changed(source, dirty)
            if isinstance(screen, FollowsRuns):
                if source in screen.sources:
                    screen.source_changed(source, dirty)
            elif screen is not None and screen.source is source:
                screen.run_changed(dirty)
        self._look_for_the_end()

    def _tick(self) -> None:
        self._close_unshown()
        screen = self._following()
        if screen is not None and any(source.live for source in _sources_of(screen)):
            screen.clock_ticked(self.clock())
        if len(self.screen_stack) < self._screens:
            self.collector.left()
        self._screens = len(self.screen_stack)
        self.collector.tick()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent):
            self.collector.key()
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._keys.came(event)
        else:
            await super().on_event(event)

    def _following(self) -> FollowsRun | FollowsRuns | None:
        """The screen that shows a run, also where a question or the help lies over it; none on the way out."""
        if not self.is_running:
            return None
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ModalScreen):
                continue
            there = screen.is_mounted and screen.is_attached
            return screen if there and isinstance(screen, FollowsRun | FollowsRuns) else None
        return None

    def _look_for_the_end(self) -> None:
        source = self.source
        if not self.started_here or source is None or source.liveness is not Liveness.FINISHED or not source.caught_up:
            return
        if self.leaving.when_over:
            self.leave()
        elif not self._compared and isinstance(self.screen, RunScreen):
            finished = source.state.finished
            self._compared = finished is not None  # one that goes on again is called finished for a moment
            if len(source.state.arms) >= 2 and finished is not None and finished.exit_code != 130:
                self.screen.action_compare()

    # --- what a person can do everywhere ---

    def on_home_screen_run_chosen(self, event: HomeScreen.RunChosen) -> None:
        if isinstance(self.screen, HomeScreen):  # the first of two Enters in one batch has opened it
            self.push_screen(self._run_screen(event.folder))

    def on_home_screen_compare_wanted(self, event: HomeScreen.CompareWanted) -> None:
        self.compare(event.folders)

    def compare(self, folders: Sequence[Path], wish: Wish | None = None) -> None:
        """The comparison of these runs' arms, all of them without a wish, over whatever is shown."""
        from screens.compare_screen import CompareScreen
        from screens.comparing import Comparing

        try:
            sources = [self.open_source(folder) for folder in folders]
        except ValueError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self.push_screen(CompareScreen(comparing=Comparing(sources, wish)))

    def on_home_screen_analysis_wanted(self, event: HomeScreen.AnalysisWanted) -> None:
        self.analyse(event.folders)

    def analyse(self, folders: Sequence[Path], wish: AnalysisWish | None = None) -> None:
        """Numbers over these runs' arms, over whatever is shown."""
        from screens.analysing import Analysing
        from screens.analysis_screen import AnalysisScreen

        try:
            sources = [self.open_source(folder) for folder in folders]
        except ValueError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self.push_screen(AnalysisScreen(Analysing(sources, wish)))

    async def action_back(self) -> None:
        if len(self.screen_stack) > ROOT:
            self.pop_screen()
        elif isinstance(self.screen, RunScreen):
            self.switch_screen(HomeScreen(self.places, self.clock, self.screen.source.folder))

    def action_palette(self) -> None:
        self.action_command_palette()

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(DeckPalette())

    def action_keys(self) -> None:
        screen = self.screen
        places = [getattr(screen, "PLACE", None), getattr(self.focused, "PLACE", None), EVERYWHERE]
        named = [place for place in dict.fromkeys(places) if isinstance(place, Place)]
        self.push_screen(HelpScreen(named, getattr(screen, "HELP", ""), keys_taken(screen)))

    def action_next_theme(self) -> None:
        self.habits.next_theme()

    def action_save_picture(self) -> None:
        if refused(self):
            return
        place = getattr(self.screen, "PLACE", EVERYWHERE)
        name = f"trialdeck-{place.name}-{self.clock().astimezone():%Y%m%d-%H%M%S}.svg"
        try:
            path = self.save_screenshot(name)
        except OSError as error:
            self.notify(f"can't write {name}: {error.strerror}", severity="error", markup=False)
        else:
            self.notify(f"saved as {path}", markup=False)

    def action_save_text(self) -> None:
        save_screen_text(self, self.clock())

    def action_leave(self) -> None:
        self.leave()

    async def action_quit(self) -> None:
        self.leave()

    def leave(self) -> None:
        self.leaving.leave()

    def action_interrupt(self) -> None:
        self.leaving.interrupt()


def _sources_of(screen: object) -> Sequence[RunSource]:
    """The runs that a screen shows."""
    if isinstance(screen, FollowsRuns):
        return screen.sources
    return [screen.source] if isinstance(screen, FollowsRun) else []
