"""What can be done on the run screen."""

from __future__ import annotations

from screens.actions import MARKING, Action, place
from screens.trial_fields import NUMBER_FIELDS, TEXT_FIELDS

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
    Action(
        name="analyse",
        keys=("a",),
        label="analyse",
        help="Ranks, difficulty, time, cost, steps, effort, refusals",
        footer=39,
    ),
    Action(name="triage", keys=("t",), label="triage", help="Decide who failed, trial by trial", footer=73),
    Action(name="warnings", keys=("w",), label="warnings", help="To the warnings and back", footer=42),
    Action(name="mark", keys=("space",), label="mark", help="Mark the trial, or take its mark away", footer=40),
    Action(name="mark_on(1)", keys=("shift+down", "J"), label="mark down", help="Mark this trial and the next one"),
    Action(name="mark_on(-1)", keys=("shift+up", "K"), label="mark up", help="Mark this trial and the one before"),
    Action(name="mark_range", keys=("V",), label="mark range", help="Mark all from the last mark to the cursor"),
    Action(
        name="mark_all(False)",
        id="mark_shown",
        keys=("M",),
        label="mark all",
        help="Mark all trials that the filter shows",
    ),
    Action(
        name="mark_all(True)",
        id="invert_marks",
        keys=("I",),
        label="invert",
        help="Mark what isn't marked, of what is shown",
    ),
    Action(
        name="undecided(1)", keys=("u",), label="next undecided", help="To the next failure that nobody has decided"
    ),
    Action(name="undecided(-1)", keys=("U",), label="undecided before", help="To the undecided failure before"),
    Action(name="copy", keys=("y",), label="copy", help="Copy id, path or command of the trial, or of the marked ones"),
    Action(name="save_list", keys=("e",), label="save list", help="Save the marked trials as CSV or JSON"),
    Action(
        name="hold", keys=("P",), label="hold", help="Let the screen stand still while data goes on; then take it in"
    ),
    Action(
        name="to_end", keys=("greater_than_sign",), label="to the end", help="Play the replay to its end", footer=46
    ),
    Action(
        name="cancel_trial",
        keys=("x",),
        label="cancel",
        help="Cancel the trial under the cursor, or the marked ones",
        footer=60,
    ),
    Action(
        name="pause", keys=("p",), label="pause", help="Start no more trials, or go on; a replay: stop it", footer=41
    ),
    Action(name="concurrency(1)", keys=("plus",), label="more", help="One trial more at a time; a replay: faster"),
    Action(name="concurrency(-1)", keys=("minus",), label="fewer", help="One trial fewer at a time; a replay: slower"),
    Action(name="step_back", keys=("escape",), label="back", help="Show all again; then go back", palette=False),
    mouse=MARKING,
)

FILTER_HELP = f"""\
The filter  /
  word           anywhere in task, arm, state, activity and issues
  /regex/ re:…   a regular expression; task:re:^db of one field
  !term          the other way round; side by side means both
  a or (b c)     either side; brackets group
  field:a,b      any of them; "in quotes" with blanks; none: has no value
                 {", ".join(TEXT_FIELDS[:7])},
                 {", ".join(TEXT_FIELDS[7:])}
  field:<number  {", ".join(NUMBER_FIELDS)}
                 time:>10m  mem:>2G  tokens:>1M
  marked:yes     decided:no  cause:infra  cause:model?  (? only proposed)

States
  ● running, by its phase   ◌ waiting   · queued   ✓ passed   − failed
  ▲ failed, out of time   ✗ unscored: no verdict   ⊘ cancelled or refused
  ↺ interrupted: runs again when the run is resumed

Rates are of what is finished; an unscored trial counts as not passed.
A − B is of the tasks that both arms have finished."""
