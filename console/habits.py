"""How a person wants the console: what the settings file and the command line say, checked before anything is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.keymap import own_keymap
from console.settings import Settings, SettingsInvalid, read_settings
from engine.text import clean_line
from engine.user_places import settings_file
from screens.trial_columns import BY_NAME


@dataclass(frozen=True)
class Habits:
    """`keys` are checked. `remembers`: what a person changes and where they were is kept for the next time."""

    settings: Settings = field(default_factory=Settings)
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    read_only: bool = False
    remembers: bool = False
    replay_speed: float | None = None


def read_habits(*, read_only: bool = False, replay_speed: float | None = None) -> Habits:
    """Raises SettingsInvalid, with the file and the key that is wrong."""
    settings = read_settings()
    _check_columns(settings.run.hidden_columns)
    read_only = read_only or settings.read_only
    return Habits(
        settings,
        own_keymap(settings.keys, settings_file()),
        read_only=read_only,
        remembers=not read_only and replay_speed is None,
        replay_speed=replay_speed,
    )


def _check_columns(hidden: tuple[str, ...]) -> None:
    """Raises SettingsInvalid for what is no column: it would go on being shown, and nobody would know why."""
    unknown = next((name for name in hidden if name not in BY_NAME), None)
    if unknown is not None:
        where = f"{settings_file()}: `run.hidden_columns`"
        raise SettingsInvalid(f"{where}: no column {clean_line(unknown, 40)!r}; there are {', '.join(BY_NAME)}")
