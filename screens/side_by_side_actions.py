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
    Action(
        name="log(1)",
        keys=("full_stop",),
        label="next log",
        help="The next of this side: its steps, its logs",
        footer=60,
    ),
    Action(name="log(-1)", keys=("comma",), label="previous log", help="The one before it"),
    Action(name="tab(1)", keys=("1",), label="to 9 steps, logs", help="This side's steps or logs by number, 1 to 9"),
    Action(
        name="same_log",
        keys=("equals_sign",),
        label="same there",
        help="The same log at both sides; of steps the step of the same number",
        footer=50,
    ),
    Action(name="follow", keys=("f",), label="follow", help="Follow the log as it grows, or let go", footer=40),
    Action(name="wrap", keys=("w",), label="wrap", help="Wrap long lines, or not", footer=38),
    Action(name="numbers", keys=("number_sign",), label="numbers", help="Show line numbers, or not"),
    Action(name="search", keys=("slash",), label="search", help="Search this side's steps or log", footer=45),
    Action(name="hit(1)", keys=("n",), label="next hit", help="To the next line that matches", footer=30),
    Action(name="hit(-1)", keys=("N",), label="previous hit", help="To the previous line that matches"),
    Action(name="back_to_steps", keys=("backspace",), label="to the steps", help="From a log back to the steps"),
    Action(name="back_to_list", keys=("escape",), label="back", help="Back to the list", footer=65, palette=False),
)

SIDES_HELP = """
The heads
  Below what a trial brought and took stands how much more (+) or less (−) that is than at the
  other side; = the same, — where one of them is unknown. A cause with ? is what the rules say.

Steps
  n and p step through this side's session; e and E to what failed, u and U to a user's words.
  enter shows a step in full where there is no room beside the list; page keys scroll it.
  l opens the agent's log at the step's time; esc or backspace comes back.
  = opens the step of the same number at the other side, tab goes there.
"""
