"""The steps of a program that works in `main`, told while they come: to the trial's events and to trajectory.json."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from engine.agents.agent import AgentSession, StepReport
from engine.agents.atif_writer import AtifWriter
from engine.issues import Phase
from engine.models.model_call import CostSource
from engine.trajectories.draft import Session
from engine.trajectories.steps import Step

TRAJECTORY = "trajectory.json"
_LOOKED_AT = 64
"""The latest steps: an older one doesn't change any more, or isn't worth a look at all of them each time."""
_LINE_CHARS = 80


class ToldSteps:
    """Give it the session as it stands whenever something is new in it; the same steps again are no harm.

    A step of the agent is reported once it is over: when the next one has begun, or at the end. Until then the trial's
    activity says what it does. In trajectory.json it stands at once, and what comes back completes it.

    `as_told` may change a step before it is written and reported, where its format says less than it seems to.
    """

    def __init__(
        self,
        session: AgentSession,
        *,
        agent: str,
        version: str,
        as_told: Callable[[Step], Step] = lambda step: step,
    ) -> None:
        self._session = session
        self._as_told = as_told
        model = session.model.settings.name if session.model is not None else ""
        self.writer = AtifWriter(
            session.folder / TRAJECTORY,
            agent=agent,
            agent_version=version,
            model=model,
            session_id=session.environment.spec.trial,
        )
        self._steps: list[Step] = []
        self._reported = 0  # steps that were looked at for a report, whoever made them
        self._made = 0
        self._doing_told = ""

    @property
    def made(self) -> int:
        """How many steps of the agent there are so far."""
        return self._made

    def tell(self, found: Session) -> None:
        drafts = found.drafts
        start = max(0, min(len(self._steps), len(drafts)) - _LOOKED_AT)
        for index in range(start, len(drafts)):
            step = self._as_told(drafts[index].step())
            if step.number != index + 1:
                step = msgspec.structs.replace(step, number=index + 1)
            if index < len(self._steps):
                if step == self._steps[index]:
                    continue
                self._steps[index] = step
            else:
                self._steps.append(step)
                self._made += step.source == "agent"
            self.writer.add(step)
        while self._reported < len(self._steps) - 1 and any(
            step.source == "agent" for step in self._steps[self._reported + 1 :]
        ):
            self._report(self._steps[self._reported])
        if (doing := self._doing()) and doing != self._doing_told:
            self._doing_told = doing
            self._session.activity(doing)

    def finish(self, *, ended: str = "", cost_usd: float | None = None, cost_source: CostSource | None = None) -> None:
        """No more will come. A cost that only the whole session has stands at its last step."""
        last = max((index for index, step in enumerate(self._steps) if step.source == "agent"), default=-1)
        while self._reported < len(self._steps):
            step = self._steps[self._reported]
            if self._reported == last and cost_usd is not None:
                step = msgspec.structs.replace(step, cost_usd=cost_usd)
                self.writer.add(step)
                self._report(step, cost_source)
            else:
                self._report(step)
        self.writer.finish(ended)
        if (complaint := self.writer.complaint(Phase.AGENT)) is not None:
            self._session.issue(complaint)

    def _report(self, step: Step, source: CostSource | None = None) -> None:
        self._reported += 1
        if step.source != "agent":
            return
        self._session.report_step(
            StepReport(
                what=step.message or step.thought or _calls(step),
                tokens_in=step.tokens_in,
                tokens_cached=step.tokens_cached,
                tokens_out=step.tokens_out,
                cost_usd=step.cost_usd,
                cost_source=source if step.cost_usd is not None else None,
            )
        )

    def _doing(self) -> str:
        """What the latest step does."""
        step = next((step for step in reversed(self._steps[-_LOOKED_AT:]) if step.source == "agent"), None)
        if step is None:
            return ""
        said = _calls(step) or step.message or step.thought
        return f"step {self._made} · {said.strip().splitlines()[0][:_LINE_CHARS]}" if said.strip() else ""


def _calls(step: Step) -> str:
    return "; ".join(f"{call.tool}: {call.text}" if call.text else call.tool for call in step.calls)
