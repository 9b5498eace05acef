"""What can be done on the triage screen, among its disagreements and on its summary."""

from __future__ import annotations

from typing import Any

from textual.app import App

from screens.actions import Action, Place, key_called, place
from screens.triage_causes import CAUSE_KEYS

_CAUSES = tuple(
    Action(name=f"label('{entry.cause}')", keys=(entry.key,), label=str(entry.cause), help=entry.help)
    for entry in CAUSE_KEYS
)

_HELP = Action(
    name="help_here", keys=("f1", "H"), label="help", help="List the keys of where you are", footer=88, palette=False
)
"""`?` is a cause here."""

TRIAGE = place(
    "triage",
    "Triage",
    *_CAUSES,
    Action(
        name="agree",
        keys=("space",),
        label="agree",
        help="Label this trial with the proposed cause",
        footer=86,
    ),
    Action(name="same", keys=("full_stop",), label="same as last", help="The cause that you gave last", footer=84),
    Action(name="note", keys=("n",), label="note", help="Write a note to go with your label", footer=78),
    Action(
        name="undo", keys=("u",), label="undo", help="Take back what you decided last; again: the one before", footer=80
    ),
    Action(name="skip", keys=("s",), label="skip", help="Leave it undecided for now", footer=76),
    Action(name="next_trial(1)", keys=("right_square_bracket",), label="next", help="The next trial", footer=70),
    Action(name="next_trial(-1)", keys=("left_square_bracket",), label="previous", help="The trial before"),
    Action(
        name="undecided",
        keys=("exclamation_mark",),
        label="all",
        help="Only what you have not decided, or all of the queue",
        footer=60,
    ),
    Action(name="open", keys=("enter",), label="open", help="Open the trial at what this finding found", footer=68),
    Action(name="finding(1)", keys=("1",), label="first finding", help="To the place of finding 1; 2 to 9 likewise"),
    Action(name="pane", keys=("tab",), label="log", help="To the logs, one after the other, and back", footer=64),
    Action(name="details", keys=("d",), label="details", help="All facts of the trial, or its logs", footer=56),
    Action(name="mark", keys=("asterisk",), label="mark", help="Mark this trial; the next cause goes to all marked"),
    Action(
        name="same_finding",
        keys=("w",),
        label="all such",
        help="Label all undecided trials that have the same strong finding as the last",
    ),
    Action(name="rerun", keys=("r",), label="run again", help="Run this trial again, as the run's card allows"),
    Action(name="blind", keys=("B",), label="blind", help="Hide which arm a trial belongs to, or show it", footer=54),
    Action(name="disagreements", keys=("D",), label="disagreements", help="Where people disagree", footer=50),
    Action(name="summary", keys=("S",), label="summary", help="Causes per arm, agreement, export", footer=58),
    Action(
        name="write_again",
        keys=("W",),
        label="write",
        help="Write again what could not be written, or was taken out of the file of labels",
    ),
    _HELP,
    Action(
        name="step_back",
        keys=("escape",),
        label="back",
        help="Off with the marks; then go back",
        palette=False,
        footer=52,
    ),
)


def help_elsewhere(app: App[Any], place: Place) -> str:
    """Said to whoever gave "ambiguous": it may be help that was wanted."""
    return f"  (help is {key_called(app, place, 'help_here')} here)"


TRIAGE_HELP = """\
Deciding
  A cause's key labels the trial that is shown and goes on to the next one that you have
  not decided. space agrees with the proposal. Each label is a record of its own: a later
  one takes the place of an earlier one, u takes the last one back. ? is "ambiguous" here;
  F1 or H lists the keys.

The evidence
  ● strong: a record of Docker, the engine or the provider   ○ weak: text, or an absence
  1 to 9, or ↑ and ↓, show a finding's place in the log; enter opens the trial there.

Blind
  Neither arm nor agent nor model is named, costs are hidden, the order is mixed. Lines
  of logs are shown as they are. A trial that you have seen by name is not labelled blind.

Two people
  What others decided is hidden until you have decided. D lists where you differ.
"""

DISAGREEMENTS = place(
    "disagreements",
    "Where people disagree",
    *(
        Action(
            name=f"settle('{entry.cause}')", keys=(entry.key,), label=str(entry.cause), help=f"Settle it: {entry.cause}"
        )
        for entry in CAUSE_KEYS
    ),
    Action(name="note", keys=("n",), label="note", help="Write a note to go with the decision", footer=78),
    Action(name="undo", keys=("u",), label="undo", help="Take back what you decided last", footer=76),
    Action(name="open", keys=("enter",), label="in triage", help="Look at the trial in triage", footer=74),
    _HELP,
    Action(name="step_back", keys=("escape",), label="back", help="Back to triage", palette=False, footer=70),
)

SUMMARY = place(
    "triage_summary",
    "The summary of triage",
    Action(name="export('csv')", keys=("c",), label="CSV", help="Write the labels as CSV", footer=70),
    Action(name="export('json')", keys=("j",), label="JSON", help="Write the labels as JSON", footer=69),
    Action(name="import_labels", keys=("i",), label="import", help="Take in labels from a CSV or JSON file", footer=68),
    Action(name="disagreements", keys=("D",), label="disagreements", help="Where people disagree", footer=60),
    Action(name="step_back", keys=("escape",), label="back", help="Back to triage", palette=False, footer=65),
)
