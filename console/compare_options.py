"""What commands that compare arms take: which arms, which attempts and tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from console.errors import Unusable

if TYPE_CHECKING:
    from engine.analysis.pairs import Attempts

Arms = Annotated[
    list[str] | None,
    typer.Option("--arm", help="An arm to compare, NAME or RUN:NAME; again for more.", metavar="NAME"),
]
Baseline = Annotated[
    str, typer.Option(help="The arm that the others are compared with; else the first.", metavar="NAME")
]
WhichAttempts = Annotated[str, typer.Option(help="`all` attempts of a task, or the `first` alone.", metavar="WHICH")]
CommonTasks = Annotated[
    bool, typer.Option("--common-tasks", help="Compare on the tasks that both sides have, and list the others.")
]
Join = Annotated[bool, typer.Option("--join", help="Runs of the same arm over the same task set are its attempts.")]
Labels = Annotated[bool, typer.Option("--labels/--no-labels", help="Read causes that people have set.")]
Families = Annotated[
    str,
    typer.Option(
        help="Resample families of tasks too: `category`, `prefix:SEPARATOR`, a CSV file with task,family.",
        metavar="HOW",
    ),
]


def attempts_of(given: str) -> Attempts:
    """Raises Unusable."""
    if given == "all":
        return "all"
    if given == "first":
        return "first"
    raise Unusable(f"--attempts {given!r}: expected `all` or `first`")
