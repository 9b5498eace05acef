"""Stops a run whose images can't be had: a registry that is down would cost every trial that is left."""

from __future__ import annotations

from collections.abc import Iterable

from engine.issues import Code, Evidence, Issue, Severity

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

    def reached(self, left: int) -> Issue | None:
        """What is to be said when the trials that are left (so many) had better not start."""
        if not left or self.failed < LEAST or 2 * self.failed <= self.ended:
            return None
        told = f"{self.failed} of {self.ended} trials did not get their images: {left} trials are not started"
        way_out = Evidence("way out", "`trialdeck resume` goes on once the registry gives them")
        return Issue(Severity.ERROR, None, Code.PULL_FAILED, told, (way_out,))
