"""What can be done on the analysis screen."""

from __future__ import annotations

from screens.actions import Action, place

ANALYSIS = place(
    "analysis",
    "The analysis",
    Action(name="section(1)", keys=("right", "l", "tab"), label="next", help="To the next section", footer=72),
    Action(
        name="section(-1)", keys=("left", "h", "shift+tab"), label="section before", help="To the section before it"
    ),
    *(
        Action(
            name=f"number({number})",
            keys=(str(number),),
            label=f"section {number}",
            help="All sections on one page" if not number else f"To section {number}",
            palette=not number,
        )
        for number in range(10)
    ),
    Action(
        name="sessions",
        keys=("r",),
        label="read sessions",
        help="Read every trial's session: steps, refusals, other models that answered",
        footer=66,
    ),
    Action(name="labels", keys=("i",), label="labels", help="With what people have decided, or without", footer=40),
    Action(name="attempts", keys=("t",), label="attempts", help="State the attempts a task for the index", footer=50),
    Action(
        name="weights", keys=("w",), label="weights", help="Weigh the benchmarks of the index: benchmark=2", footer=52
    ),
    Action(
        name="families",
        keys=("f",),
        label="families",
        help="Families of tasks: category, prefix:SEPARATOR, or a CSV file with task,family",
        footer=51,
    ),
    Action(
        name="reviews",
        keys=("v",),
        label="reviews",
        help="What came after: a CSV file with task,arm,attempt,review_minutes,reworked,reopened,abstained",
    ),
    Action(name="compare", keys=("c",), label="compare", help="Compare the arms, task by task", footer=64),
    Action(name="export", keys=("e",), label="export", help="Write text, Markdown, JSON, CSV, HTML, SVG", footer=65),
    Action(name="step_back", keys=("escape",), label="back", help="Go back", footer=63, palette=False),
)

ANALYSIS_HELP = """
Reading it
  Ranks go by overlap: two arms whose intervals overlap share a rank. pass@k: any of k attempts
  passes; pass^k: all do. The index is the mean of each benchmark's pass@1, each equal unless weighed.
  Difficulty is of these results: trivial, every run solves it; challenging, none does.
  Score against steps counts a success only where its last step fits the budget.
  The knee of an effort sweep is where more money begins to buy less; the highest level may not be best.
  Refusals and fallbacks are counted on their own: r reads the sessions that tell of them.
  * beside a number: some runs don't tell. Unknown is never zero."""
