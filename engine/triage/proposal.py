"""What rules found in one trial, and the cause that they propose. A proposal decides nothing."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.issues import Evidence
from engine.triage.causes import Cause


class Strength(StrEnum):
    STRONG = "strong"  # a record of the engine, of Docker, of the provider's own error object
    WEAK = "weak"  # text of a log, absence of something, a pattern over attempts


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One rule that fired. `rule` is its stable name (`out_of_memory`, `provider_overloaded`); `text` says what it saw
    in words a person can judge; `source` where that stands ("docker inspect", "steps 196–209", "ctrf.json").
    `evidence` are the places to jump to: files relative to the trial's folder, lines from 1; `step` a step of the
    trajectory (0: none).
    """

    rule: str
    cause: Cause
    strength: Strength
    text: str
    source: str
    evidence: tuple[Evidence, ...] = ()
    step: int = 0


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """`cause` None: nothing fired. Findings of the proposed cause first, strong before weak; findings that speak for
    other causes follow, they are never hidden."""

    cause: Cause | None
    strength: Strength = Strength.WEAK
    findings: tuple[Finding, ...] = ()
