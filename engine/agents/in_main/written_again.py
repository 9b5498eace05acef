"""A trajectory from a program's own record of its session, which says more than the stream that was followed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.agents.atif_writer import AtifWriter
from engine.trajectories.steps import Trajectory


def write_again(
    found: Trajectory,
    path: Path,
    *,
    agent: str,
    version: str,
    session_id: str,
    ended: str,
    cost_usd: float | None = None,
) -> None:
    """Takes the place of what was written while the agent worked. `cost_usd`: of the whole session, where its steps
    say none; it stands at the last. Blocks."""
    writer = AtifWriter(path, agent=agent, agent_version=version, model=found.model, session_id=session_id)
    last = max((number for number, step in enumerate(found.steps, 1) if step.source == "agent"), default=0)
    for number, step in enumerate(found.steps, 1):
        cost = cost_usd if number == last and step.cost_usd is None else step.cost_usd
        writer.add(msgspec.structs.replace(step, number=number, cost_usd=cost))
    writer.finish(ended or found.ended)
