"""Where things of the user's own lie: settings, what a screen remembers, labels on runs that are not ours.

`XDG_CONFIG_HOME`, `XDG_DATA_HOME`, `XDG_STATE_HOME` and `XDG_CACHE_HOME` move them. Nothing is made here:
whoever writes makes its folder.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import platformdirs

_NAME = "trialdeck"
_MOST_BYTES = 1 << 20


def settings_file() -> Path:
    return platformdirs.user_config_path(_NAME) / "settings.toml"


def prices_file() -> Path:
    """The user's own prices of models; they win over those that come with trialdeck."""
    return platformdirs.user_config_path(_NAME) / "prices.toml"


def early_setting(name: str) -> str:
    """A text of the settings file that is needed before the file is checked; "" where it isn't there.

    Never raises: what is wrong with the file is said by whoever reads it whole.
    """
    try:
        with settings_file().open("rb") as file:
            found = tomllib.loads(file.read(_MOST_BYTES).decode("utf-8")).get(name, "")
    except (OSError, ValueError):
        return ""
    return found if isinstance(found, str) else ""


def foreign_labels_dir() -> Path:
    """Labels on runs of other systems, a file per run, named after its format and identity."""
    return platformdirs.user_data_path(_NAME) / "labels"


def scorebook_file() -> Path:
    return platformdirs.user_data_path(_NAME) / "scores.sqlite3"


def screen_state_dir() -> Path:
    """What the console remembers of each run: filter, sort, marks, where one was."""
    return platformdirs.user_state_path(_NAME) / "runs"


def summaries_file() -> Path:
    """What lists of runs say about runs that are over; may be deleted at any time."""
    return platformdirs.user_cache_path(_NAME) / "summaries.json"


def capsules_dir() -> Path:
    """Runtime capsules, a folder each, named by its tag; may be deleted while no run works with one."""
    return platformdirs.user_cache_path(_NAME) / "capsules"
