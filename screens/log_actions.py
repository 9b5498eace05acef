"""What can be done in a log."""

from __future__ import annotations

from screens.actions import Action, place

LOG = place(
    "log",
    "In a log",
    Action(name="scroll(-1)", keys=("up", "k"), label="up", help="Up one row", palette=False),
    Action(name="scroll(1)", keys=("down", "j"), label="down", help="Down one row", palette=False),
    Action(name="page(-1)", keys=("pageup", "ctrl+b"), label="page up", help="Up one page", palette=False),
    Action(
        name="page(1)", keys=("pagedown", "ctrl+f", "space"), label="page down", help="Down one page", palette=False
    ),
    Action(name="sideways(-1)", keys=("left", "h"), label="left", help="Left, where lines don't wrap", palette=False),
    Action(name="sideways(1)", keys=("right", "l"), label="right", help="Right, where lines don't wrap", palette=False),
    Action(name="home", keys=("home", "g"), label="first", help="To the first line"),
    Action(name="end", keys=("end", "G"), label="last", help="To the last line; the log is not followed by that"),
    Action(name="copy_line", keys=("y",), label="copy", help="Copy the marked line, or else the first one shown"),
)
