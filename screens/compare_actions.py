"""What can be done on the compare screen."""

from __future__ import annotations

from screens.actions import Action, place

COMPARE = place(
    "compare",
    "The comparison",
    Action(name="open_side('a')", keys=("enter", "a"), label="A's trial", help="Open A's trial of the task", footer=70),
    Action(name="open_side('b')", keys=("b",), label="B's trial", help="Open B's trial of the task", footer=69),
    Action(name="side(1)", keys=("right", "l"), label="B only", help="To the list at the right", palette=False),
    Action(name="side(-1)", keys=("left", "h"), label="A only", help="To the list at the left", palette=False),
    Action(
        name="all_numbers",
        keys=("s",),
        label="all numbers",
        help="All numbers and notes, or the lists",
        footer=66,
    ),
    Action(name="attempts", keys=("t",), label="attempts", help="Of all attempts, or of the first ones", footer=40),
    Action(name="arm(1)", keys=("right_square_bracket",), label="next arm", help="With the next arm", footer=45),
    Action(name="arm(-1)", keys=("left_square_bracket",), label="previous arm", help="Compare with the arm before"),
    Action(name="baseline", keys=("B",), label="baseline", help="Make the next arm the baseline A"),
    Action(name="export", keys=("e",), label="export", help="Write comparison.md and comparison.json", footer=60),
    Action(
        name="step_back",
        keys=("escape",),
        label="back",
        help="To the lists; then go back",
        footer=65,
        palette=False,
    ),
)

COMPARE_HELP = """
Reading it
  The table counts tasks by the first attempts of both arms; a missing verdict is not passed.
  A rate stands with its interval; "of completed" leaves out what never came to its end.
  The interval of A − B comes from resampling tasks, pairs kept together.
  ≥ marks a lower bound: some costs are unknown. Unknown is never zero.
"""
