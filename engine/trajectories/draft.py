"""Steps while they are read: what one line says of a step, a later line completes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from engine.trajectories.steps import Call, Observation, Step, Trajectory

MOST_TEXT = 64_000
"""Characters of one field that are kept, the beginning and the end of it."""
MOST_IN_ALL = 128_000_000
"""Characters of all fields of a session; what comes after them is kept in short."""
SHORT_TEXT = 2_000
MOST_ERRORS = 1_000
_MOST_PROBLEMS = 20


def capped(said: str, most: int = MOST_TEXT) -> str:
    """At most about `most` characters, with a word in the middle about how many are left out."""
    if len(said) <= most:
        return said
    tail = most // 4
    head = most - tail
    return f"{said[:head]}\n… {len(said) - most:,} characters left out …\n{said[-tail:]}"


class Draft:
    """One step. `number` is what the step will be called. `counted`: what it took is part of what this session took."""

    def __init__(self, number: int, source: str, at: datetime | None = None, line: int = 0) -> None:
        self.number = number
        self.source = source
        self.at = at
        self.line = line
        self.thoughts: list[str] = []
        self.messages: list[str] = []
        self.calls: list[Call] = []
        self.observations: list[Observation] = []
        self.model = ""
        self.tokens_in: int | None = None
        self.tokens_cached: int | None = None
        self.tokens_out: int | None = None
        self.cost_usd: float | None = None
        self.seconds: float | None = None
        self.counted = True
        self._step: Step | None = None

    def changed(self) -> None:
        self._step = None

    def observed(self, at: datetime | None) -> None:
        """Something came back: the step lasted until then."""
        if at is not None and self.at is not None and at >= self.at:
            self.seconds = (at - self.at).total_seconds()

    def step(self) -> Step:
        if self._step is None:
            self._step = Step(
                number=self.number,
                source=self.source,
                at=self.at,
                thought="\n\n".join(self.thoughts),
                message="\n\n".join(self.messages),
                calls=tuple(self.calls),
                observations=tuple(self.observations),
                model=self.model,
                tokens_in=self.tokens_in,
                tokens_cached=self.tokens_cached,
                tokens_out=self.tokens_out,
                cost_usd=self.cost_usd,
                seconds=self.seconds,
                line=self.line,
            )
        return self._step


class Session:
    """A trajectory in the making. Totals that nobody sets are the sums of what steps say, unknown where none does."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.drafts: list[Draft] = []
        self.agent = ""
        self.agent_version = ""
        self.model = ""
        self.ended = ""
        self.errors: list[tuple[int, str]] = []
        self.problems: list[str] = []
        self.tokens_in: int | None = None
        self.tokens_cached: int | None = None
        self.tokens_out: int | None = None
        self.cost_usd: float | None = None
        self._kept = 0

    @property
    def last(self) -> Draft | None:
        return self.drafts[-1] if self.drafts else None

    def begin(self, source: str, at: datetime | None = None, line: int = 0, number: int | None = None) -> Draft:
        draft = Draft(len(self.drafts) + 1 if number is None else number, source, at, line)
        self.drafts.append(draft)
        return draft

    def keep(self, said: str) -> str:
        """A field's text as it is kept."""
        kept = capped(said, MOST_TEXT if self._kept < MOST_IN_ALL else SHORT_TEXT)
        self._kept += len(kept)
        return kept

    def error(self, said: str, draft: Draft | None = None) -> None:
        """An error that the session itself records; with the number of its step, 0 before the first."""
        at = draft or self.last
        if said.strip() and len(self.errors) < MOST_ERRORS:
            self.errors.append((at.number if at else 0, capped(said.strip(), SHORT_TEXT)))

    def problem(self, said: str) -> None:
        if said not in self.problems and len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(said)

    def trajectory(self, path: Path, more_problems: tuple[str, ...] = ()) -> Trajectory:
        steps = tuple(draft.step() for draft in self.drafts)

        def total(known: int | None, each: list[int | None]) -> int | None:
            found = [count for count in each if count is not None]
            return known if known is not None else sum(found) if found else None

        costs = [step.cost_usd for step in steps if step.cost_usd is not None]
        own = [draft for draft in self.drafts if draft.source == "agent" and draft.counted]
        told = self.tokens_in is not None or self.tokens_out is not None
        return Trajectory(
            path=path,
            format=self.format,
            agent=self.agent,
            agent_version=self.agent_version,
            model=self.model,
            steps=steps,
            ended=self.ended,
            errors=tuple(self.errors),
            problems=(*self.problems, *more_problems),
            tokens_in=total(self.tokens_in, [step.tokens_in for step in steps]),
            tokens_cached=total(self.tokens_cached, [step.tokens_cached for step in steps]),
            tokens_out=total(self.tokens_out, [step.tokens_out for step in steps]),
            cost_usd=self.cost_usd if self.cost_usd is not None else sum(costs) if costs else None,
            partial=not told and any(draft.tokens_in is None and draft.tokens_out is None for draft in own),
            cost_partial=self.cost_usd is None and any(draft.cost_usd is None for draft in own),
        )
