"""One registry of what a person can do: bindings, footer, help and palette are made from it.

Each screen, and each part that takes keys, names a `Place` with its actions. An action `filter` is the method
`action_filter` of that screen or part. Ids such as `run.filter` are stable: they name the action in a keymap.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from textual.app import App
from textual.binding import Binding

KEY_NAMES = {
    "slash": "/",
    "question_mark": "?",
    "exclamation_mark": "!",
    "colon": ":",
    "space": "space",
    "escape": "esc",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "full_stop": ".",
    "comma": ",",
    "minus": "-",
    "plus": "+",
    "at": "@",
    "equals_sign": "=",
    "backspace": "bksp",
    "asterisk": "*",
    "underscore": "_",
    "backslash": "\\",
    "number_sign": "#",
    "vertical_line": "|",
    "ampersand": "&",
    "dollar_sign": "$",
    "percent_sign": "%",
    "circumflex_accent": "^",
    "tilde": "~",
    "grave_accent": "`",
    "quotation_mark": '"',
    "apostrophe": "'",
    "semicolon": ";",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "pgup",
    "pagedown": "pgdn",
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
}


@dataclass(frozen=True, kw_only=True)
class Action:
    """`keys` are Textual's names, the first one is shown in the footer. `label` is a word for the footer, `help`
    a sentence for help and palette. `footer` is its importance there: 0 is never shown, and where the line is
    narrow the least important leaves first. `id` names it in a keymap where the name doesn't say enough.
    """

    name: str
    keys: tuple[str, ...]
    label: str
    help: str
    footer: int = 0
    palette: bool = True
    id: str = ""

    @property
    def ident(self) -> str:
        """The name in a keymap: `sort` of `sort(1)`, `sort_back` of `sort(-1)`, `jump_back_5` of `jump(-5)`."""
        if self.id:
            return self.id
        name, _, argument = self.name.partition("(")
        argument = argument.rstrip(")").strip("\"'")
        if argument in _PLAIN:
            return name
        if argument in _WORDS:
            return f"{name}_{_WORDS[argument]}"
        if argument.startswith("-"):
            name, argument = f"{name}_back", argument[1:]
        return f"{name}_{re.sub(r'[^A-Za-z0-9]+', '_', argument).strip('_')}"


_PLAIN = ("", "1", "True")
_WORDS = {"-1": "back", "False": "off"}


def key_text(key: str) -> str:
    return KEY_NAMES.get(key, key)


@dataclass(frozen=True)
class Place:
    """Where keys mean something: a screen or a part of one. `mouse`: what the mouse does there, a line for the help."""

    name: str
    title: str
    actions: tuple[Action, ...]
    mouse: str = ""

    def id_of(self, action: Action) -> str:
        return f"{self.name}.{action.ident}"

    def bindings(self, priority: frozenset[str] = frozenset()) -> list[Binding]:
        """For a screen's or widget's `BINDINGS`; the actions named in `priority` come before what has the focus.

        An action without a key gets one that nobody can press, for a keymap to replace."""
        return [
            Binding(
                ",".join(action.keys) or f"no_key_{self.id_of(action).replace('.', '_')}",
                action.name,
                action.label,
                show=False,
                id=self.id_of(action),
                tooltip=action.help,
                priority=action.name in priority,
            )
            for action in self.actions
        ]

    def footer(self) -> list[Action]:
        return [action for action in self.actions if action.footer]


_places: dict[str, Place] = {}


def place(name: str, title: str, *actions: Action, mouse: str = "") -> Place:
    """Name a place, once; its screen or part carries the result as `PLACE`."""
    if name in _places:
        raise ValueError(f"the place {name!r} is named twice")
    _places[name] = Place(name, title, actions, mouse)
    return _places[name]


OwnKeys = Mapping[str, tuple[str, ...]]
"""Ids of actions and the keys that a person gave them in place of ours."""


def own_keys(app: App[object]) -> OwnKeys:
    """What the app's person changed."""
    found = getattr(app, "own_keys", None)
    return found if isinstance(found, Mapping) else {}


def keys_of(place: Place, action: Action, own: OwnKeys) -> tuple[str, ...]:
    """The keys that call an action, the person's own where there are some."""
    return own.get(place.id_of(action), action.keys)


def keys_text(place: Place, action: Action, own: OwnKeys) -> str:
    """As help and palette show them."""
    return " ".join(key_text(key) for key in keys_of(place, action, own))


def key_called(app: App[Any], place: Place, name: str) -> str:
    """The key that calls an action, for a sentence that tells of it; its word where a person took its keys away."""
    action = next(action for action in place.actions if action.name == name)
    keys = keys_of(place, action, own_keys(app))
    return key_text(keys[0]) if keys else action.label


def all_places() -> dict[str, Place]:
    return dict(_places)


MARKING = "ctrl+click marks, shift+click marks from the last mark to there; dragging over rows marks them"
"""What the mouse does in tables whose rows can be marked."""

EVERYWHERE = place(
    "everywhere",
    "Everywhere",
    Action(
        name="palette",
        keys=("colon", "ctrl+p"),
        label="palette",
        help="Find any command by name",
        footer=50,
        palette=False,
    ),
    Action(
        name="keys",
        keys=("question_mark", "f1"),
        label="help",
        help="List the keys of where you are",
        footer=90,
    ),
    Action(name="back", keys=("escape",), label="back", help="Go back one screen", palette=False),
    Action(name="leave", keys=("q",), label="leave", help="Leave the console; the run goes on", footer=80),
    Action(
        name="interrupt",
        keys=("ctrl+c",),
        label="stop",
        help="Leave, or stop the run that was started here",
        palette=False,
    ),
    Action(name="change_theme", keys=(), label="theme", help="Choose other colours from a list"),
    Action(name="next_theme", keys=("ctrl+t",), label="colours", help="The next set of colours: dark, light, …"),
    Action(name="save_picture", keys=("ctrl+s",), label="save", help="Save this screen as an SVG picture"),
    Action(name="save_text", keys=("ctrl+x",), label="save as text", help="Save this screen as a text file"),
)
"""The app's own actions. `leave`, `palette` and `keys` stand at the end of every footer."""
