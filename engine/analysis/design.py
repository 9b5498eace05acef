"""A design before it is run: what difference it detects, and how many tasks a wanted difference needs."""

from __future__ import annotations

import math

import msgspec

from engine.analysis import wording as say
from engine.analysis.power import (
    ALPHA,
    POWER,
    detectable,
    detectable_from_discordance,
    standard_errors_apart,
    tasks_needed,
)

CAUTIOUS_DISCORDANCE = 0.25
"""Assumed where nobody says: a quarter of the tasks differ, about what two good arms on one set show."""


class NoDesign(ValueError):
    """What was said does not make a design; the message says what is missing."""


class Design(msgspec.Struct, frozen=True, kw_only=True):
    """Fractions. `detectable` is None without tasks (or a standard error) or where nothing disagrees, `tasks_needed`
    without a wanted `difference` or where no number of tasks is enough. `assumed`: the discordance is ours."""

    tasks: int | None
    discordant: float | None
    discordance: float
    assumed: bool
    standard_error: float | None
    difference: float | None
    detectable: float | None
    tasks_needed: int | None
    power: float
    alpha: float


def design(
    *,
    tasks: int | None = None,
    discordant: float | None = None,
    discordance: float | None = None,
    standard_error: float | None = None,
    difference: float | None = None,
    power: float = POWER,
) -> Design:
    """Raises NoDesign."""
    if discordant is not None and discordance is not None:
        raise NoDesign("--discordant and --discordance say the same: give one of them")
    if discordant is not None and tasks is None:
        raise NoDesign("--discordant is of --tasks: how many tasks are there? (or give --discordance, in percent)")
    if discordant is not None and tasks is not None and discordant > tasks:
        raise NoDesign(f"{discordant:g} of {tasks} tasks can't be discordant")
    if tasks is None and standard_error is None and difference is None:
        raise NoDesign("give --tasks (with --discordant), or --standard-error, or a wanted --difference")
    if standard_error is not None and difference is not None and tasks is None:
        raise NoDesign("a --standard-error with a --difference needs the --tasks that it was seen on")
    share = discordance
    if discordant is not None and tasks is not None:
        share = discordant / tasks
    assumed = share is None
    share = CAUTIOUS_DISCORDANCE if share is None else share
    found = needed = None
    if standard_error is not None:
        found = detectable(standard_error, power) if standard_error else None
        if tasks is not None and difference:  # the error shrinks with the root of the tasks
            needed = math.ceil(tasks * (standard_errors_apart(power) * standard_error / difference) ** 2)
    else:
        if tasks is not None:
            found = detectable_from_discordance(tasks, tasks * share, power)
        if difference is not None:
            needed = tasks_needed(difference, share, power)
    return Design(
        tasks=tasks,
        discordant=tasks * share if tasks is not None else None,
        discordance=share,
        assumed=assumed and standard_error is None,
        standard_error=standard_error,
        difference=difference,
        detectable=found,
        tasks_needed=needed,
        power=power,
        alpha=ALPHA,
    )


def design_lines(found: Design) -> list[str]:
    """In the comparison's words."""
    lines = []
    power = f"{100 * found.power:.0f} % power"
    if found.standard_error is not None:
        basis = f"a standard error of {100 * found.standard_error:.1f} points"
    else:
        basis = f"{100 * found.discordance:.1f} % of tasks discordant" + (", assumed" if found.assumed else "")
        if found.tasks is not None and found.discordant is not None and not found.assumed:
            basis = f"{found.discordant:g} of {say.many(found.tasks, 'task')} discordant"
    if found.tasks is not None or found.standard_error is not None:
        if found.detectable is None:
            lines.append("nothing disagrees: what this design detects can't be told")
        else:
            lines.append(f"this design detects {100 * found.detectable:.1f} points ({power}; {basis})")
    if found.difference is not None:
        points = f"{100 * found.difference:g} points"
        if found.tasks_needed is None:
            why = "no difference at all" if not found.difference else "more than the tasks that disagree can make up"
            lines.append(f"{points} can't be planned for: {why} ({basis})")
        else:
            lines.append(f"{points} need {say.many(found.tasks_needed, 'task')} ({power}; {basis})")
    lines.append(f"two-sided at {100 * found.alpha:g} %, one attempt a task and arm unless a standard error says more")
    return lines
