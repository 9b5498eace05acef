"""Stops a run whose images can't be had: a registry that is down would cost every trial that is left."""

from __future__ import annotations

from collections.abc import Iterable

from engine.issues import Code, Issue, Severity

LEAST = 6
"""So many trials without their images before anything is concluded."""

_NO_IMAGE = (Code.PULL_FAILED, Code.PULL_RATE_LIMITED)


class PullStop:
    """The trials of this process that ended by themselves, and how many of them never got their images."""

    def __init__(self) -> None:
        self.ended = 0
        self.failed = 0

    def trial_ended(self, issues: Iterable[Issue]) -> None:
        self.ended += 1
        self.failed += any(issue.severity is Severity.FATAL and issue.code in _NO_IMAGE for issue in issues)

    @property
    def hopeless(self) -> bool:
        return self.failed >= LEAST and 2 * self.failed > self.ended
