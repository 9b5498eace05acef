"""What can be done among the steps of an agent's session."""

from __future__ import annotations

from screens.actions import Action, place

STEPS = place(
    "steps",
    "Among the steps",
    Action(name="step(1)", keys=("n",), label="next", help="The next step; while searching the next hit", footer=74),
    Action(name="step(-1)", keys=("p", "N"), label="previous", help="The step before; while searching the hit before"),
    Action(name="failure(1)", keys=("e",), label="next failed", help="The next step that failed", footer=48),
    Action(name="failure(-1)", keys=("E",), label="previous failed", help="The step before that failed"),
    Action(name="user(1)", keys=("u",), label="next of the user", help="The next message of a user"),
    Action(name="user(-1)", keys=("U",), label="user's before", help="The user's message before"),
    Action(name="text(-1)", keys=("pageup",), label="text up", help="A page up in the step's text", palette=False),
    Action(name="text(1)", keys=("pagedown", "space"), label="text down", help="A page down in it", palette=False),
    Action(name="log", keys=("l",), label="log then", help="To the log at this step's time; esc comes back", footer=49),
    Action(name="copy_command", keys=("y",), label="copy command", help="Copy the step's commands", footer=36),
    Action(name="copy_step", keys=("c",), label="copy step", help="Copy the whole step as text"),
    Action(name="go_to", keys=("at",), label="go to", help="To a step by its number"),
    Action(name="session", keys=("s",), label="session", help="The next session, where the trial has several"),
)
"""Of the list and of the text beside it."""
