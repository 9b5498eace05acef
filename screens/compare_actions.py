"""What can be done on the compare screen."""

from __future__ import annotations

from screens.actions import Action, place

COMPARE = place(
    "compare",
    "The comparison",
    Action(name="open_both", keys=("enter",), label="both", help="Both trials of the task side by side", footer=74),
    Action(name="open_side('a')", keys=("a",), label="A's trial", help="Open A's trial of the task", footer=42),
    Action(name="open_side('b')", keys=("b",), label="B's trial", help="Open B's trial of the task", footer=41),
    Action(name="side(1)", keys=("right", "l"), label="B only", help="To the list at the right", palette=False),
    Action(name="side(-1)", keys=("left", "h"), label="A only", help="To the list at the left", palette=False),
    Action(name="pick", keys=("p",), label="pick arms", help="Choose arms, of other runs too", footer=70),
    Action(
        name="detail('sensitivity')",
        keys=("s",),
        label="sensitivity",
        help="What the labels change, and which trials move it",
        footer=66,
    ),
    Action(
        name="detail('differences')",
        keys=("d",),
        label="differences",
        help="Everything in which the two sides differ",
        footer=62,
    ),
    Action(name="detail('numbers')", keys=("n",), label="all numbers", help="All numbers and notes", footer=61),
    Action(name="attempts", keys=("t",), label="attempts", help="Of all attempts, or of the first ones", footer=40),
    Action(
        name="common_tasks",
        keys=("o",),
        label="common tasks",
        help="Compare on the tasks that both sides have, or refuse to",
        footer=44,
    ),
    Action(name="arm(1)", keys=("right_square_bracket",), label="next arm", help="With the next arm", footer=45),
    Action(name="arm(-1)", keys=("left_square_bracket",), label="previous arm", help="Compare with the arm before"),
    Action(name="baseline", keys=("B",), label="baseline", help="Make the next arm the baseline A"),
    Action(
        name="families",
        keys=("f",),
        label="families",
        help="Resample families of tasks too: category, prefix:SEPARATOR, or a CSV file",
    ),
    Action(
        name="analyse",
        keys=("A",),
        label="analyse",
        help="Ranks, difficulty, time and cost, steps, effort, refusals of all arms of these runs",
    ),
    Action(name="export", keys=("e",), label="export", help="Write Markdown, JSON, CSV, HTML or SVG", footer=64),
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
  The line of sensitivity reads the labels the other way: infrastructure left out on both
  sides, what is ambiguous all passed, all failed. It follows the labels at once.
"""
