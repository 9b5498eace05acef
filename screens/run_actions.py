"""What can be done on the run screen."""

from __future__ import annotations

from screens.actions import Action, place
from screens.trial_fields import FIELDS

RUN = place(
    "run",
    "The run",
    Action(name="open", keys=("enter",), label="open", help="Open the trial under the cursor", footer=85),
    Action(name="filter", keys=("slash",), label="filter", help="Filter the trials, or change the filter", footer=75),
    Action(
        name="problems", keys=("exclamation_mark",), label="problems", help="Only trials that want a look", footer=70
    ),
    Action(name="problem(1)", keys=("n",), label="next problem", help="To the next trial that wants a look", footer=43),
    Action(name="problem(-1)", keys=("N",), label="problem before", help="To the one before that wants a look"),
    Action(name="sort(1)", keys=("s",), label="sort", help="Sort by the next column", footer=45),
    Action(name="sort(-1)", keys=("S",), label="sort back", help="Sort by the column before"),
    Action(name="turn", keys=("r",), label="reverse", help="Turn the order round"),
    Action(name="group", keys=("g",), label="group", help="Group by task, by arm, by state, or not", footer=44),
    Action(name="fold(True)", keys=("left",), label="fold", help="Close the group", palette=False),
    Action(name="fold(False)", keys=("right",), label="unfold", help="Open the group", palette=False),
    Action(name="compare", keys=("c",), label="compare", help="Compare the arms, task by task", footer=72),
    Action(name="triage", keys=("t",), label="triage", help="Decide who failed, trial by trial", footer=73),
    Action(name="warnings", keys=("w",), label="warnings", help="To the warnings and back", footer=42),
    Action(name="mark", keys=("space",), label="mark", help="Mark the trial, or take its mark away", footer=40),
    Action(
        name="cancel_trial",
        keys=("x",),
        label="cancel",
        help="Cancel the trial under the cursor, or the marked ones",
        footer=60,
    ),
    Action(name="pause", keys=("p",), label="pause", help="Start no more trials, or go on", footer=41),
    Action(name="concurrency(1)", keys=("plus",), label="more", help="One trial more at the same time"),
    Action(name="concurrency(-1)", keys=("minus",), label="fewer", help="One trial fewer at the same time"),
    Action(name="step_back", keys=("escape",), label="back", help="Show all again; then go back", palette=False),
)

FILTER_HELP = f"""\
The filter  /
  word           anywhere in task, arm, state, activity and issues
  /regex/        a regular expression
  !word          the other way round; terms are joined by "and"
  field:value    {", ".join(FIELDS[:5])},
                 {", ".join(FIELDS[5:10])}
  field:<number  {", ".join(FIELDS[10:])}; time:>10m

States
  ● running, by its phase   ◌ waiting   · queued   ✓ passed   − failed
  ▲ failed, out of time   ✗ unscored: no verdict   ⊘ cancelled or refused
  ↺ interrupted: runs again when the run is resumed

Rates are of what is finished; an unscored trial counts as not passed.
A − B is of the tasks that both arms have finished."""
