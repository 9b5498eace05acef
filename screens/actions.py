"""One registry of what a person can do: bindings, footer, help and palette are made from it.

Each screen, and each part that takes keys, names a `Place` with its actions. An action `filter` is the method
`action_filter` of that screen or part. Ids such as `run.filter` are stable: they name the action in a keymap.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    "number_sign": "#",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "pgup",
    "pagedown": "pgdn",
}


@dataclass(frozen=True, kw_only=True)
class Action:
    """`keys` are Textual's names, the first one is shown in the footer. `label` is a word for the footer, `help`
    a sentence for help and palette. `footer` is its importance there: 0 is never shown, and where the line is
    narrow the least important leaves first.
    """

    name: str
    keys: tuple[str, ...]
    label: str
    help: str
    footer: int = 0
    palette: bool = True

    @property
    def key_short(self) -> str:
        return key_text(self.keys[0])

    @property
    def key_text(self) -> str:
        return " ".join(key_text(key) for key in self.keys)


def key_text(key: str) -> str:
    return KEY_NAMES.get(key, key)


@dataclass(frozen=True)
class Place:
    """Where keys mean something: a screen or a part of one."""

    name: str
    title: str
    actions: tuple[Action, ...]

    def bindings(self, priority: frozenset[str] = frozenset()) -> list[Binding]:
        """For a screen's or widget's `BINDINGS`; the actions named in `priority` come before what has the focus."""
        return [
            Binding(
                ",".join(action.keys),
                action.name,
                action.label,
                show=False,
                id=f"{self.name}.{action.name}",
                tooltip=action.help,
                priority=action.name in priority,
            )
            for action in self.actions
            if action.keys
        ]

    def footer(self) -> list[Action]:
        return [action for action in self.actions if action.footer]


_places: dict[str, Place] = {}


def place(name: str, title: str, *actions: Action) -> Place:
    """Name a place, once; its screen or part carries the result as `PLACE`."""
    if name in _places:
        raise ValueError(f"the place {name!r} is named twice")
    _places[name] = Place(name, title, actions)
    return _places[name]


def all_places() -> dict[str, Place]:
    return dict(_places)


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
    Action(name="change_theme", keys=(), label="theme", help="Choose other colours"),
    Action(name="save_picture", keys=("ctrl+s",), label="save", help="Save this screen as an SVG picture"),
)
"""The app's own actions. `leave`, `palette` and `keys` stand at the end of every footer."""
