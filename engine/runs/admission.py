"""Admission: which trial may start next, by a cap on their number, by the host's CPU and memory, and by what only one
trial at a time can have."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.runs.plan import PlannedTrial

MAX_OVERTAKEN = 8
"""How often later trials may start before the first in line, which waits for room; then they wait too."""


class Admission:
    """Declared limits of the trials that run, against the host's. A capacity of 0 is not checked.

    A trial that alone needs more than there is starts when nothing else runs (the plan has capped or refused it).
    """

    def __init__(self, concurrency: int, cpus: float, memory_mb: int) -> None:
        self.concurrency = concurrency
        self.cpus = cpus
        self.memory_mb = memory_mb
        self.running: dict[str, PlannedTrial] = {}
        self.leaving: dict[str, PlannedTrial] = {}
        self._overtaken = 0
        self._head = ""

    def choose(self, queue: Sequence[PlannedTrial]) -> Choice:
        """The first in line that fits. Where it isn't the head, the head has been overtaken once more."""
        if not queue or len(self.running) >= self.concurrency:
            return Choice(trial=None, blocked=None, reason="")
        if queue[0].trial != self._head:
            self._head, self._overtaken = queue[0].trial, 0
        reason = self.lacks(queue[0])
        if not reason:
            return Choice(trial=queue[0], blocked=None, reason="")
        if self._overtaken < MAX_OVERTAKEN:
            for trial in queue[1:]:
                if not self.lacks(trial):
                    self._overtaken += 1
                    return Choice(trial=trial, blocked=queue[0], reason=reason)
        return Choice(trial=None, blocked=queue[0], reason=reason)

    def lacks(self, trial: PlannedTrial) -> str:
        """What there is too little of now, "" if the trial fits."""
        for other in (*self.running.values(), *self.leaving.values()):
            if both := set(other.task.alone) & set(trial.task.alone):
                return f"addresses ({', '.join(sorted(both))}, held by {other.trial})"
        if not self.running:
            return ""
        memory = sum(other.task.memory_mb for other in self.running.values())
        if self.memory_mb and memory + trial.task.memory_mb > self.memory_mb:
            return f"memory (needs {_size(trial.task.memory_mb)}, {_size(max(0, self.memory_mb - memory))} free)"
        cpus = sum(other.task.cpus for other in self.running.values())
        if self.cpus and cpus + trial.task.cpus > self.cpus + 1e-9:
            return f"cpu (needs {trial.task.cpus:g}, {max(0.0, self.cpus - cpus):g} free)"
        return ""

    def start(self, trial: PlannedTrial) -> None:
        self.running[trial.trial] = trial

    def leave(self, trial: PlannedTrial) -> None:
        """It only cleans up now, and makes room for another, unless as many clean up already as may run."""
        if trial.trial in self.running and len(self.leaving) < self.concurrency:
            self.leaving[trial.trial] = self.running.pop(trial.trial)

    def finish(self, trial: PlannedTrial) -> None:
        self.running.pop(trial.trial, None)
        self.leaving.pop(trial.trial, None)


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """`trial` may start now; `blocked` is the head of the queue if it has to wait, with the `reason`."""

    trial: PlannedTrial | None
    blocked: PlannedTrial | None
    reason: str


def _size(mebibytes: int) -> str:
    return f"{mebibytes / 1024:.3g} G" if mebibytes >= 1024 else f"{mebibytes} M"
