"""Who decides: the name that stands in labels."""

from __future__ import annotations

import getpass
import os

from engine.text import clean_line
from engine.user_places import early_setting

VARIABLE = "TRIALDECK_USER"
MOST_CHARS = 64
UNKNOWN = "someone"


def who_am_i() -> str:
    """`$TRIALDECK_USER`, else `user` of the settings file, else the login name; cleaned. Never raises."""
    for name in (os.environ.get(VARIABLE, ""), early_setting("user"), _login()):
        if cleaned := clean_name(name):
            return cleaned
    return UNKNOWN


def clean_name(name: str) -> str:
    """A name on one line, without white space around it; "" where nothing is left."""
    return " ".join(clean_line(name, MOST_CHARS).replace("�", "").split())[:MOST_CHARS]


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
