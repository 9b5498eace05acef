"""The steps of a Harbor agent, from the trajectory that its code writes, told once each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from engine.agents.agent import AgentSession, StepReport
from engine.agents.harbor.secrets import Secrets
from engine.models.model_call import CostSource
from engine.trajectories.follow import TrajectoryFollower
from engine.trajectories.steps import Step, Trajectory

TRAJECTORY = "trajectory.json"


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What Harbor's agent counted over its whole run; None: unknown. `tokens_in` includes `tokens_cached`."""

    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None


_COUNTED = Totals.__struct_fields__
_LEAST = 1e-9
"""Sums of money in binary are not exact."""


class StepsTold:
    """The last step may still grow, so it is told only when another follows, or at the end."""

    def __init__(self, session: AgentSession, secrets: Secrets) -> None:
        self._session = session
        self._secrets = secrets
        self._told = 0
        self._follower = TrajectoryFollower(session.folder / TRAJECTORY)
        self._sums: dict[str, float] = {}
        self._activity_told = ""

    def poll(self) -> Trajectory | None:
        """What is new in the file; in a thread."""
        return self._follower.poll()

    def read_again(self) -> Trajectory | None:
        """The file as it lies there now, whatever was read of it before; in a thread."""
        self.close()
        self._follower = TrajectoryFollower(self._session.folder / TRAJECTORY)
        return self._follower.finish()

    def close(self) -> None:
        self._follower.close()

    def tell(self, found: Trajectory) -> None:
        """All that is new but the last."""
        for step in _by_agent(found)[self._told : -1]:
            self._report(self._reported(step))

    def tell_activity(self, found: Trajectory, name: str) -> None:
        """Once for each step, so that it can be seen since when the agent is at it."""
        doing = f"step {len(_by_agent(found))} · {name}"
        if doing != self._activity_told:
            self._activity_told = doing
            self._session.activity(doing)

    def end(self, found: Trajectory | None, totals: Totals, name: str) -> None:
        """The rest. What the agent counted over and above its steps (for helpers of its own, say) goes with the last of
        them; all of it, where it writes no trajectory, is one step."""
        if found is not None:
            self.tell(found)
        rest = _by_agent(found)[self._told :] if found is not None else []
        last = self._reported(rest[0]) if rest else None
        left = {
            key: value - self._sums.get(key, 0)
            for key in _COUNTED
            if (value := getattr(totals, key)) is not None and value - self._sums.get(key, 0) > _LEAST
        }
        if last is None:
            if left:
                what = f"{'the end' if self._told else 'the whole run'} of {name}"
                self._report(_with(StepReport(what=what), left))
            return
        more = {key: value for key, value in left.items() if value - (getattr(last, key) or 0) > _LEAST}
        self._report(_with(last, more))

    def _reported(self, step: Step) -> StepReport:
        return StepReport(
            what=self._secrets.out_of(_what(step)),
            tokens_in=step.tokens_in,
            tokens_cached=step.tokens_cached,
            tokens_out=step.tokens_out,
            cost_usd=step.cost_usd,
            cost_source=CostSource.AGENT if step.cost_usd is not None else None,
        )

    def _report(self, step: StepReport) -> None:
        self._told += 1
        for key in _COUNTED:
            if (value := getattr(step, key)) is not None:
                self._sums[key] = self._sums.get(key, 0) + value
        self._session.report_step(step)


def _with(step: StepReport, counted: dict[str, Any]) -> StepReport:
    source = {"cost_source": CostSource.AGENT} if "cost_usd" in counted else {}
    return msgspec.structs.replace(step, **counted, **source)


def _by_agent(found: Trajectory) -> list[Step]:
    return [step for step in found.steps if step.source == "agent"]


def _what(step: Step) -> str:
    called = " · ".join(call.text or call.tool for call in step.calls)
    return step.message or step.thought or called


def put(path: Path, content: bytes) -> None:
    """The file is whole at any moment."""
    made = path.with_name(f".{path.name}.new")
    made.write_bytes(content)
    made.replace(path)
