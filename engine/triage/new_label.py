"""A label as it is about to be written: who decided what about which trial."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime

import msgspec

from engine.events import now
from engine.issues import Evidence
from engine.triage.causes import Cause
from engine.triage.labels import Label
from engine.triage.proposal import Proposal
from engine.trial_state import TrialState

MOST_NOTE = 20_000
"""Characters of a note; a longer one is refused."""
_MOST_EVIDENCE = 20
_EVIDENCE_CHARS = 500
"""A label points at its evidence; it does not copy it."""


def new_label(
    run: str,
    trial: TrialState,
    who: str,
    *,
    kind: str = "label",
    cause: Cause | None = None,
    note: str = "",
    proposal: Proposal | None = None,
    evidence: Iterable[Evidence] = (),
    blind: bool = False,
    at: datetime | None = None,
) -> Label:
    """`run` is the run's identity. What the rules said is written beside the person's word; without `evidence`
    of their own, the label takes that of the proposal's findings which speak for the same cause.

    Raises ValueError for a label or settlement without a cause, and for a note that is too long.
    """
    if (cause is not None) != (kind in ("label", "settle")):
        raise ValueError(f"a record of kind {kind!r} {'needs a' if cause is None else 'has no'} cause")
    if len(note) > MOST_NOTE:
        raise ValueError(f"a note of {len(note):,} characters; the longest is {MOST_NOTE:,}")
    shown = tuple(evidence)
    if not shown and proposal is not None and cause is not None:
        shown = tuple(item for finding in proposal.findings if finding.cause is cause for item in finding.evidence)
    return Label(
        id=uuid.uuid4().hex,
        at=at or now(),
        who=who,
        run=run,
        trial=trial.trial,
        task=trial.task,
        arm=trial.arm,
        attempt=trial.attempt,
        kind=kind,
        cause=cause,
        note=note,
        evidence=tuple(
            msgspec.structs.replace(item, text=item.text[:_EVIDENCE_CHARS]) for item in shown[:_MOST_EVIDENCE]
        ),
        proposed=proposal.cause if proposal is not None else None,
        blind=blind,
    )
