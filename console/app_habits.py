"""What the app does for a person's habits: colours, keys, notices, what is remembered of runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Mapping
from typing import Any

from textual.app import App
from textual.notifications import SeverityLevel
from textual.theme import Theme

from console.habits import Habits
from console.notices import Notice, Notices, terminal_sequence
from console.screen_state import recall, remember
from console.settings import SettingsInvalid
from console.settings_text import remember as remember_setting
from console.theme import NAMES, NO_COLOUR_THEME, called, theme_name
from screens import format as fmt
from screens.run_memory import RunMemory
from screens.source import RunSource


class AppHabits:
    """One of an app. Belongs to the UI thread; files are written in threads of their own."""

    def __init__(self, app: App[Any], habits: Habits) -> None:
        self.app = app
        self.habits = habits
        self._notices = Notices(habits.settings.notifications)
        self._identities: dict[RunSource, str] = {}
        self._writing = threading.Lock()
        self._theme = ""

    def begin(self, *, no_colour: bool) -> None:
        """Before anything is shown."""
        for variable, program in (("PAGER", self.habits.settings.pager), ("VISUAL", self.habits.settings.editor)):
            if program:  # before the environment's own, for every program that the console starts
                os.environ[variable] = program
        fmt.show_times_in_utc(self.habits.settings.times == "utc")
        self.show_in(NO_COLOUR_THEME if no_colour else theme_name(self.habits.settings.theme))
        self.app.set_keymap({name: ",".join(keys) for name, keys in self.habits.keys.items()})

    @property
    def keys(self) -> Mapping[str, tuple[str, ...]]:
        return self.habits.keys

    # --- colours ---

    def show_in(self, theme: str) -> None:
        """What the settings or the terminal ask for: it was not chosen here, and is not remembered."""
        self._theme = called(theme)
        self.app.theme = theme

    def next_theme(self) -> None:
        now = called(self.app.theme)
        self.app.theme = theme_name(NAMES[(NAMES.index(now) + 1) % len(NAMES)] if now else NAMES[0])
        self.app.notify(f"colours: {called(self.app.theme)}", timeout=2, markup=False)

    def theme_changed(self, theme: Theme) -> None:
        """By a key or from the palette's list."""
        name = called(theme.name)
        if name and name != self._theme:
            self._theme = name
            self.keep("theme", name)

    def keep(self, name: str, value: object) -> None:
        """A setting that was changed here stands in the settings file from now on."""
        if self.habits.remembers:
            threading.Thread(target=self._keep, args=(name, value), name=f"keep {name}").start()

    def _keep(self, name: str, value: object) -> None:
        try:
            with self._writing:
                remember_setting(name, value)
        except (OSError, SettingsInvalid) as error:
            self._say(f"{name} is not remembered: {error}")

    # --- notices ---

    def run_changed(self, source: RunSource, dirty: Collection[str]) -> None:
        for notice in self._notices.look(source, dirty):
            self._tell(notice)

    def runs_closed(self, open_runs: Collection[RunSource]) -> None:
        self._notices.forget(open_runs)

    def _tell(self, notice: Notice) -> None:
        severity: SeverityLevel = "warning" if notice.bad else "information"
        self.app.notify(notice.text, severity=severity, timeout=10, markup=False)
        wanted = self.habits.settings.notifications
        sequence = terminal_sequence(notice, wanted, in_tmux=bool(os.environ.get("TMUX")))
        driver = self.app._driver  # Textual has no public way to write beside the screen but its own bell
        if sequence and driver is not None and not self.app.is_headless:
            driver.write(sequence)
            driver.flush()

    # --- what is remembered of runs ---

    def recall_run(self, source: RunSource) -> RunMemory | None:
        """In the UI thread: it is one small file, and the rows wait for it."""
        if not self.habits.remembers:
            return None
        found, problem = recall(self._identity(source))
        if problem:
            self.app.notify(problem, severity="warning", markup=False)
        return found

    def remember_run(self, source: RunSource, memory: RunMemory) -> None:
        if self.habits.remembers:
            identity = self._identity(source)
            threading.Thread(target=self._remember, args=(identity, memory), name="remember a run").start()

    def _remember(self, identity: str, memory: RunMemory) -> None:
        try:
            with self._writing:
                remember(identity, memory)
        except OSError as error:
            self._say(f"filter and order are not remembered: {error.strerror or error}")

    def _identity(self, source: RunSource) -> str:
        found = self._identities.get(source)
        if found is None:
            found = self._identities[source] = f"{source.run.kind} {source.run.identity}"
        return found

    def _say(self, text: str) -> None:
        """From any thread; nobody hears it once the app is gone."""
        if self.app.is_running:
            self.app.call_later(self.app.notify, text, severity="warning", markup=False)
