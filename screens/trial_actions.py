"""What can be done on the trial screen."""

from __future__ import annotations

from screens.actions import Action, place

TRIAL = place(
    "trial",
    "The trial",
    Action(name="tab(1)", keys=("1",), label="to 9 tabs", help="Open a tab by its number, 1 to 9", footer=60),
    Action(name="tab(0)", keys=("0",), label="facts", help="Facts: verdict, services, hooks, artifacts", footer=59),
    Action(name="next_tab(-1)", keys=("comma",), label="previous tab", help="The tab to the left"),
    Action(name="next_tab(1)", keys=("full_stop",), label="next tab", help="The tab to the right"),
    Action(name="issues", keys=("i",), label="issues", help="To the issues and back to the tab", footer=72),
    Action(name="follow", keys=("f",), label="follow", help="Follow the log as it grows, or let go", footer=70),
    Action(name="wrap", keys=("w",), label="wrap", help="Wrap long lines, or not", footer=57),
    Action(
        name="search", keys=("slash",), label="search", help="Search the log; the last pattern can be edited", footer=75
    ),
    Action(name="hit(1)", keys=("n",), label="next hit", help="To the next line that matches", footer=30),
    Action(name="hit(-1)", keys=("N",), label="previous hit", help="To the previous line that matches"),
    Action(name="numbers", keys=("number_sign",), label="numbers", help="Show line numbers, or not"),
    Action(name="copy_path", keys=("Y",), label="copy path", help="Copy the path of what is open"),
    Action(name="merged", keys=("M",), label="all by time", help="All logs of the trial, merged by time"),
    Action(name="back_to_steps", keys=("backspace",), label="to the steps", help="From a log back to the steps"),
    Action(name="shell", keys=("S",), label="shell", help="A shell in one of the trial's running containers"),
    Action(name="triage", keys=("t",), label="triage", help="Decide who failed, beginning with this trial", footer=58),
    Action(
        name="next_trial(-1)",
        keys=("left_square_bracket",),
        label="previous trial",
        help="The trial before this one",
    ),
    Action(
        name="next_trial(1)",
        keys=("right_square_bracket",),
        label="next trial",
        help="The trial after this one",
        footer=35,
    ),
    Action(
        name="step_back", keys=("escape",), label="back", help="End the search; then go back", footer=65, palette=False
    ),
)

TRIAL_HELP = r"""
Searching  /
  A regular expression; upper and lower case are the same, unless \C stands in it.
  n and N go to the next and the previous line that matches, round the end.
  Esc stops a search that runs, then forgets it.

In a log
  & shows only the lines that match, with ! in front only the others; Esc shows all again.
  @ goes to a line (1200), a share (50%), a time (14:02:31) or so far from here (+5m, -30s).
  e and E go to the next and previous error: levels (ERROR, FATAL, level=error …), Traceback,
  FAILED, error: fatal: panic:, …Error: …Exception:, crashes, commands that were not found.
  | shows only what came on stderr, only stdout, then both; ▎ beside a number marks stderr.
  r: colours, plain text, the bytes as they are. v and shift+arrows mark lines, y copies,
  s saves them. o opens the file in $PAGER, O in $EDITOR, at the line here.

Steps
  n and p step through the agent's session; e and E to what failed, u and U to a user's words.
  enter shows a step in full where there is no room beside the list; page keys scroll it.
  l opens the agent's log at the step's time; esc or backspace comes back.

Following
  A live log is followed until you scroll up; then the line below it says how many
  lines are new. f follows again. End goes to the end and stays there.

Issues
  enter   to the line of the log where the evidence was found
  space   the evidence itself
"""
