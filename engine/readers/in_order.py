"""Events of many trials, each told in its own order, as one stream."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from engine.events import AnyEvent


def in_order(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """Oldest first; within one trial as they were told, whatever their times say (a trial set aside and told anew
    begins before the end of what was told first)."""
    latest: dict[str, datetime] = {}
    keyed = []
    for event in events:
        trial = getattr(event, "trial", "")
        at = max(event.at, latest.get(trial, event.at)) if trial else event.at
        latest[trial] = at
        keyed.append((at, event))
    return [event for _, event in sorted(keyed, key=lambda pair: pair[0])]
