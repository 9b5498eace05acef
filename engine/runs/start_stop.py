"""Stops a run whose trials can't start: a registry that is down, or no address range left, would cost every trial."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from engine.issues import Code, Evidence, Issue, Severity

LEAST = 6
"""So many trials that lacked the same before anything is concluded."""


class _Lack(msgspec.Struct, frozen=True):
    """`told` of a trial, `why` nothing more is started."""

    code: Code
    told: str
    why: str
    way_out: str


_IMAGES = _Lack(
    Code.PULL_FAILED,
    "did not get their images",
    "images can't be had",
    "`trialdeck resume` goes on once the registry gives them",
)
_ADDRESSES = _Lack(
    Code.ADDRESS_POOL_EXHAUSTED,
    "found no address range for a network",
    "no address ranges are left",
    "`docker network ls` shows who holds them, `trialdeck sweep --include-kept` gives back what runs kept up; "
    "then `trialdeck resume`",
)
_LACKS = {
    Code.PULL_FAILED: _IMAGES,
    Code.PULL_RATE_LIMITED: _IMAGES,
    Code.ADDRESS_POOL_EXHAUSTED: _ADDRESSES,
}


class StartStop:
    """The trials of this process that ended by themselves, and how many of them lacked what."""

    def __init__(self) -> None:
        self.ended = 0
        self.why = ""
        self._failed: Counter[Code] = Counter()

    def trial_ended(self, issues: Iterable[Issue]) -> None:
        self.ended += 1
        fatal = (issue.code for issue in issues if issue.severity is Severity.FATAL)
        self._failed.update({_LACKS[code].code for code in fatal if code in _LACKS})

    def reached(self, left: int) -> Issue | None:
        """What is to be said when the trials that are left (so many) had better not start; `why` then says it short."""
        for lack in dict.fromkeys(_LACKS.values()):
            failed = self._failed[lack.code]
            if left and failed >= LEAST and 2 * failed > self.ended:
                self.why = lack.why
                told = f"{failed} of {self.ended} trials {lack.told}: {left} trials are not started"
                return Issue(Severity.ERROR, None, lack.code, told, (Evidence("way out", lack.way_out),))
        return None
