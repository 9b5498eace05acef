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
    Action(name="half(-1)", keys=("ctrl+u",), label="half up", help="Up half a page", palette=False),
    Action(name="half(1)", keys=("ctrl+d",), label="half down", help="Down half a page", palette=False),
    Action(name="sideways(-1)", keys=("left", "h"), label="left", help="Left, where lines don't wrap", palette=False),
    Action(name="sideways(1)", keys=("right", "l"), label="right", help="Right, where lines don't wrap", palette=False),
    Action(name="home", keys=("home", "g"), label="first", help="To the first line"),
    Action(name="end", keys=("end", "G"), label="last", help="To the last line; the log is not followed by that"),
    Action(
        name="filter", keys=("ampersand",), label="filter", help="Show only lines that match; ! in front: the others"
    ),
    Action(
        name="streams",
        keys=("vertical_line",),
        label="streams",
        help="Only what came on stderr, only stdout, both; ▎ marks stderr where that was kept",
    ),
    Action(
        name="go_to",
        keys=("at", "ctrl+g"),
        label="go to",
        help="To a line, 50%, 14:02:31, +5m or -30s from the line here",
    ),
    Action(
        name="return",
        keys=("apostrophe",),
        label="back from a jump",
        help="To where you were before the last jump; again: before the one before it",
    ),
    Action(name="error(1)", keys=("e",), label="next error", help="To the next line that tells of an error"),
    Action(name="error(-1)", keys=("E",), label="previous error", help="To the previous line that tells of an error"),
    Action(name="first_error", keys=("ctrl+e",), label="first error", help="To the first line that tells of an error"),
    Action(name="look", keys=("r",), label="raw", help="Colours, plain text, or the bytes as they are"),
    Action(name="range", keys=("v",), label="range", help="Mark lines from here on, or let the marks go"),
    Action(name="extend(1)", keys=("shift+down", "J"), label="mark down", help="Mark the next line too", palette=False),
    Action(name="extend(-1)", keys=("shift+up", "K"), label="mark up", help="Mark the line above too", palette=False),
    Action(name="copy_line", keys=("y",), label="copy", help="Copy the selection, the marked lines, or the line here"),
    Action(name="copy_menu", keys=("c",), label="copy …", help="Copy a line, a match, the path or a command"),
    Action(
        name="save",
        keys=("s",),
        label="save lines",
        help="Write the lines that are shown, or the marked ones, to a file",
    ),
    Action(name="pager", keys=("o",), label="pager", help="Open the file in $PAGER at the line here"),
    Action(name="editor", keys=("O",), label="editor", help="Open the file in $EDITOR at the line here, to be read"),
    mouse="a click is where you are, with shift or ctrl it marks all lines up to it; dragging selects text, for y",
)
