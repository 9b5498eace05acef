"""What is kept of the work while it is done: the trajectory, the steps that the run counts, and every question to the
model with its answer as it came."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from engine.agents.agent import AgentSession, StepReport
from engine.agents.atif_step import encoded
from engine.agents.atif_writer import AtifWriter
from engine.agents.terminus2.answers import Answer
from engine.issues import Phase
from engine.models.conversation import Reply, Turn
from engine.trajectories.steps import Call, Observation, Step

TRAJECTORY = "trajectory.json"
QUESTIONS = "model.jsonl"
MOST_QUESTIONS = 256 << 20
"""Bytes of the file of questions and answers."""


class Diary:
    """Steps are numbered from 1; one that is told again replaces what was told of it before."""

    def __init__(self, session: AgentSession, *, agent: str, version: str) -> None:
        self._session = session
        model = session.arm.model
        self._writer = AtifWriter(
            session.folder / TRAJECTORY,
            agent=agent,
            agent_version=version,
            model=model,
            session_id="-".join(filter(None, (session.environment.spec.trial, session.step))),
        )
        self._path = session.folder / QUESTIONS
        self._path.write_bytes(b"")
        self._bytes = 0
        self._calls = 0
        self._last: tuple[Step, StepReport, dict[str, dict[str, object]]] | None = None

    def told(self, source: str, text: str) -> None:
        """By the system or to the model, before its first answer or when its conversation begins anew."""
        self._writer.add(Step(number=self._writer.steps + 1, source=source, at=_now(), message=text))

    def asked(self, kind: str, turns: Sequence[Turn], reply: Reply) -> None:
        """One call of the model. Its step is told by `turn` or `aside`."""
        self._calls += 1
        line = encoded(
            {
                "call": self._calls,
                "at": _now().isoformat(),
                "kind": kind,
                "turns": len(turns),
                "said": turns[-1].text,
                "answer": reply.text,
                "reasoning": reply.reasoning,
                "stop": reply.stop,
                "model": reply.model,
                "seconds": round(reply.seconds, 3),
                "tries": reply.tries,
            }
        )
        if self._bytes + len(line) <= MOST_QUESTIONS:
            try:
                with self._path.open("ab") as file:
                    file.write(line + b"\n")
                self._bytes += len(line) + 1
            except OSError:
                self._bytes = MOST_QUESTIONS  # the disk is full: the trajectory says so, too

    def turn(self, reply: Reply, answer: Answer) -> None:
        said = "\n\n".join(filter(None, (answer.analysis, answer.plan)))
        number = self._writer.steps + 1
        calls = [
            Call(tool="keystrokes", text=keys.keys, id=f"call_{number}_{index}")
            for index, keys in enumerate(answer.commands, 1)
        ]
        arguments: dict[str, dict[str, object]] = {
            call.id: {"keystrokes": keys.keys, "duration": keys.seconds}
            for call, keys in zip(calls, answer.commands, strict=True)
        }
        if answer.task_complete:
            calls.append(Call(tool="task_complete", text="", id=f"call_{number}_done"))
        self._step(reply, _what(answer), said, tuple(calls), arguments)

    def aside(self, reply: Reply, what: str) -> None:
        """An answer that is no turn: notes, or one that couldn't be read."""
        self._step(reply, what, reply.text, (), {})

    def observed(self, text: str) -> None:
        """What the model is told of its last answer."""
        if self._last is None:
            return
        step, report, arguments = self._last
        seconds = (_now() - step.at).total_seconds() if step.at is not None else None
        step = msgspec.structs.replace(step, observations=(Observation(text=text),), seconds=seconds)
        self._writer.add(step, report=report, arguments=arguments)
        self._last = None

    def failed(self, words: str) -> None:
        step = Step(number=self._writer.steps + 1, source="system", at=_now(), message=words)
        self._writer.add(step, error=words)

    def close(self, ended: str) -> None:
        self._writer.finish(ended)
        if (complaint := self._writer.complaint(Phase.AGENT)) is not None:
            self._session.issue(complaint)

    def _step(
        self,
        reply: Reply,
        what: str,
        said: str,
        calls: tuple[Call, ...],
        arguments: dict[str, dict[str, object]],
    ) -> None:
        usage = reply.usage
        report = StepReport(
            what=what,
            tokens_in=usage.tokens_in,
            tokens_cached=usage.tokens_cached,
            tokens_cache_written=usage.tokens_cache_written,
            tokens_out=usage.tokens_out,
            tokens_reasoning=usage.tokens_reasoning,
            cost_usd=reply.cost_usd,
            cost_source=reply.cost_source,
        )
        self._session.report_step(report)
        step = Step(
            number=self._writer.steps + 1,
            source="agent",
            at=_now(),
            thought=reply.reasoning,
            message=said,
            calls=calls,
            model=reply.model,
        )
        self._last = (step, report, arguments)
        self._writer.add(step, report=report, arguments=arguments)


def _what(answer: Answer) -> str:
    """The step in a line: what the model says of it, else what it types."""
    for said in (answer.analysis, answer.plan, *(keys.keys for keys in answer.commands)):
        if line := next((line.strip() for line in said.splitlines() if line.strip()), ""):
            return line
    return "says that the task is complete" if answer.task_complete else "looks again"


def _now() -> datetime:
    return datetime.now(UTC)
