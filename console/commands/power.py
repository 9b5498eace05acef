"""`trialdeck power`: what difference a design detects, and how many tasks a wanted one needs."""

from __future__ import annotations

from typing import Annotated

import typer

from console.errors import Unusable
from console.out import Out


def power(
    tasks: Annotated[
        int | None, typer.Option(min=1, help="Tasks of the design, one attempt of each per arm.", metavar="N")
    ] = None,
    discordant: Annotated[
        float | None,
        typer.Option(min=0, help="How many of them differ between the arms, as seen or assumed.", metavar="N"),
    ] = None,
    discordance: Annotated[
        float | None,
        typer.Option(min=0, max=100, help="The same in percent of the tasks; 16 of 66 are 24.2.", metavar="PERCENT"),
    ] = None,
    standard_error: Annotated[
        float | None,
        typer.Option(
            "--standard-error", min=0, help="Of A − B in points, where tasks have several attempts.", metavar="POINTS"
        ),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(
            min=0, max=100, help="A wanted difference in points: how many tasks does it need?", metavar="POINTS"
        ),
    ] = None,
    at: Annotated[float, typer.Option("--power", min=1, max=99, help="In percent.", metavar="PERCENT")] = 80.0,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document; fractions.")] = False,
) -> None:
    """What a paired design detects, in points, and how many tasks a wanted difference needs."""
    from engine.analysis.design import NoDesign, design, design_lines

    try:
        found = design(
            tasks=tasks,
            discordant=discordant,
            discordance=None if discordance is None else discordance / 100,
            standard_error=None if standard_error is None else standard_error / 100,
            difference=None if difference is None else difference / 100,
            power=at / 100,
        )
    except NoDesign as error:
        raise Unusable(str(error)) from None
    if as_json:
        import msgspec

        Out().json(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    else:
        Out().lines(design_lines(found))
