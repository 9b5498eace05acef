"""`trialdeck doctor`: what works here and what doesn't."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from console.diagnosis.check import Check, Status
from console.diagnosis.machine import machine_checks
from console.out import Out
from console.runs_dir import RUNS_DIR

SCHEMA = "trialdeck.doctor/1"


def doctor(
    runs_dir: Annotated[Path, typer.Option(help="Where runs are to lie.")] = RUNS_DIR,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document.")] = False,
) -> None:
    """Look at Docker, disk, limits and terminal: ✓ works, ! could be better, ✗ must be mended. Exit code 2 if any ✗."""
    import anyio

    from console.diagnosis.docker import docker_checks

    checks = [*machine_checks(runs_dir), *anyio.run(docker_checks)]
    code = exit_code(checks)
    out = Out()
    if as_json:
        import msgspec

        out.json(msgspec.json.format(msgspec.json.encode({"schema": SCHEMA, "exit_code": code, "checks": checks})))
    else:
        out.lines([check.line for check in checks])
        out.lines(["", _verdict(checks)])
    raise typer.Exit(code)


def exit_code(checks: list[Check]) -> int:
    return 2 if any(check.status is Status.FAILED for check in checks) else 0


def _verdict(checks: list[Check]) -> str:
    bad = [check.name for check in checks if check.status is Status.FAILED]
    if bad:
        return f"No trial can be run here before this is mended: {', '.join(bad)}."
    fair = sum(check.status is Status.WARNING for check in checks)
    return "Everything that trials need is here" + (f"; {fair} could be better." if fair else ".")
