"""What can be done where two trials stand side by side."""

from __future__ import annotations

from screens.actions import Action, place

SIDES = place(
    "side_by_side",
    "Two trials side by side",
    Action(name="other_side", keys=("tab", "shift+tab"), label="other side", help="To the other trial", footer=80),
    Action(name="open_side", keys=("o",), label="open", help="Open this side's trial alone", footer=74),
    Action(
        name="task(1)", keys=("right_square_bracket",), label="next task", help="The next task of the list", footer=76
    ),
    Action(name="task(-1)", keys=("left_square_bracket",), label="previous task", help="The task before it"),
    Action(name="log(1)", keys=("full_stop",), label="next log", help="The next log of this side", footer=60),
    Action(name="log(-1)", keys=("comma",), label="previous log", help="The log before it"),
    Action(name="same_log", keys=("equals_sign",), label="same log", help="The same log at both sides", footer=50),
    Action(name="follow", keys=("f",), label="follow", help="Follow the log as it grows, or let go", footer=40),
    Action(name="wrap", keys=("w",), label="wrap", help="Wrap long lines, or not", footer=38),
    Action(name="search", keys=("slash",), label="search", help="Search this side's log", footer=45),
    Action(name="hit(1)", keys=("n",), label="next hit", help="To the next line that matches"),
    Action(name="hit(-1)", keys=("N",), label="previous hit", help="To the previous line that matches"),
    Action(name="back_to_list", keys=("escape",), label="back", help="Back to the list", footer=65, palette=False),
)
