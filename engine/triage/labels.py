"""Labels: appended records of who decided what, when and why. Nothing is ever overwritten."""

from __future__ import annotations

from datetime import datetime

import msgspec

from engine.issues import Evidence
from engine.triage.causes import Cause


class Label(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a label file.

    `kind`: `label` (a person's decision), `undo` (takes back that person's latest standing record of this trial),
    `settle` (the decision of a disagreement, stands above all labels), `skip` (looked at, left undecided). `run` is the
    run's identity; task, arm and attempt stand there so that labels survive a move between tools. `proposed` is what
    the rules said at that moment, `blind` whether the arm was hidden. `id` is unique in the file.
    """

    id: str
    at: datetime
    who: str
    run: str
    trial: str
    task: str
    arm: str
    attempt: int
    kind: str = "label"
    cause: Cause | None = None
    note: str = ""
    evidence: tuple[Evidence, ...] = ()
    proposed: Cause | None = None
    blind: bool = False
    imported: bool = False
