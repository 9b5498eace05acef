"""How a person wants the console: what the settings file and the command line say, checked before anything is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.keymap import own_keymap
from console.settings import Settings, read_settings
from engine.user_places import settings_file


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
    read_only = read_only or settings.read_only
    return Habits(
        settings,
        own_keymap(settings.keys, settings_file()),
        read_only=read_only,
        remembers=not read_only and replay_speed is None,
        replay_speed=replay_speed,
    )
