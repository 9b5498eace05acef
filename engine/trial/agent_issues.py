"""Issues of an agent's stage: what it raises itself, and what the engine adds about its model, each said once."""

from __future__ import annotations

from collections.abc import Sequence

from engine.issues import Code, Issue
from engine.models.model_call import ModelCall
from engine.trial.model_issues import AgentOutcome, model_issues
from engine.trial.record import Record


class AgentIssues:
    """`codes` are of those that the agent raised."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._said: set[tuple[Code, str]] = set()
        self.codes: set[Code] = set()

    def raised(self, issue: Issue) -> None:
        """By the agent."""
        self.codes.add(issue.code)
        self._tell(issue)

    def of_model(self, calls: Sequence[ModelCall], outcome: AgentOutcome) -> None:
        for issue in model_issues(calls, outcome):
            self._tell(issue)

    def _tell(self, issue: Issue) -> None:
        if (issue.code, issue.message) not in self._said:
            self._said.add((issue.code, issue.message))
            self._record.issue(issue)
