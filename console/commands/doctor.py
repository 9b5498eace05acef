"""`trialdeck doctor`: what works here and what doesn't."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from console.diagnosis.check import Check, Status, ok
from console.diagnosis.machine import machine_checks
from console.errors import Unusable
from console.out import Out
from console.runs_dir import RUNS_DIR
from engine.events import ArmInfo

SCHEMA = "trialdeck.doctor/1"


def doctor(
    runs_dir: Annotated[Path, typer.Option(help="Where runs are to lie.", metavar="FOLDER")] = RUNS_DIR,
    agent: Annotated[
        str,
        typer.Option(
            help="Check this agent instead, from end to end, with a scripted model.", metavar="NAME[:key=value,…]"
        ),
    ] = "",
    image: Annotated[
        str, typer.Option(help="What the agent's tiny task works in.", metavar="IMAGE")
    ] = "debian:bookworm-slim",
    as_json: Annotated[bool, typer.Option("--json", help="A JSON document.")] = False,
) -> None:
    """Look at Docker, disk, limits and terminal: ✓ works, ! could be better, ✗ must be mended. Exit code 2 if any ✗."""
    import anyio

    out = Out()
    if agent:
        checks = _agent_checks(agent, image, out, as_json=as_json)
    else:
        from console.diagnosis.docker import docker_checks

        checks = [*machine_checks(runs_dir), *anyio.run(docker_checks)]
    code = exit_code(checks)
    if as_json:
        import msgspec

        out.json(msgspec.json.format(msgspec.json.encode({"schema": SCHEMA, "exit_code": code, "checks": checks})))
    elif agent:
        out.lines(["", _verdict_on(agent, checks)])
    else:
        out.lines([check.line for check in checks])
        out.lines(["", _verdict(checks)])
    raise typer.Exit(code)


def _agent_checks(agent: str, image: str, out: Out, *, as_json: bool) -> list[Check]:
    """Real trials; each check is printed as it is known."""
    import anyio

    from console.diagnosis.agent import agent_checks
    from console.engine_check import NoEngine, engine_host
    from engine.agents.agent import AgentConfigInvalid
    from engine.agents.arms import parse_arm
    from engine.environments.docker.provider import DockerProvider

    def say(check: Check) -> None:
        if not as_json:
            out.line(check.line)

    try:
        arm = _carried(parse_arm(agent), say)
        engine_host()
        return anyio.run(agent_checks, arm, image, say, DockerProvider.open)
    except (AgentConfigInvalid, NoEngine) as error:
        raise Unusable(str(error)) from None


def _carried(arm: ArmInfo, say: Callable[[Check], None]) -> ArmInfo:
    """What carries the agent in is made before its trial, as a run does it. Raises AgentConfigInvalid."""
    from engine.runs.agent_refusals import plain_fit
    from engine.runs.pinned_capsules import pinned

    arms, fits = pinned([arm], plain_fit([arm]), lambda text: say(ok("capsule", text)), only=[arm.name])
    if problems := fits[arm.name].problems:
        raise Unusable(problems[0].message)
    return arms[0]


def _verdict_on(agent: str, checks: list[Check]) -> str:
    bad = [check.name for check in checks if check.status is Status.FAILED]
    if bad:
        return f"{agent} does not work here as it should: {', '.join(dict.fromkeys(bad))}."
    with_model = any(check.name == "model" for check in checks)
    return f"{agent} works here" + (", and what its model does wrong is told for what it is." if with_model else ".")


def exit_code(checks: list[Check]) -> int:
    return 2 if any(check.status is Status.FAILED for check in checks) else 0


def _verdict(checks: list[Check]) -> str:
    bad = [check.name for check in checks if check.status is Status.FAILED]
    if bad:
        return f"No trial can be run here before this is mended: {', '.join(bad)}."
    fair = sum(check.status is Status.WARNING for check in checks)
    return "Everything that trials need is here" + (f"; {fair} could be better." if fair else ".")
