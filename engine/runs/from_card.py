"""From a card back to its plan: the tasks are read again and must be what they were."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from engine.issues import Code, Issue, Severity
from engine.runs.agent_refusals import fit_of
from engine.runs.card import CardInvalid, RunCard
from engine.runs.plan import Plan, make_plan
from engine.tasks.folder import read_task
from engine.tasks.invalid import TaskInvalid
from engine.tasks.task import Task
from engine.tasks.task_set import BrokenTask, TaskSet


def plan_from_card(card: RunCard, host_env: Mapping[str, str]) -> Plan:
    """The same plan as when the run began, but for what this host gives the arms now: keys, programs, an engine. Raises
    CardInvalid where a task is no longer what it was."""
    tasks: list[Task] = []
    broken: list[BrokenTask] = []
    for pinned in card.tasks:
        folder = Path(pinned.folder)
        try:
            task = read_task(folder)
        except TaskInvalid as invalid:
            if pinned.digest:
                raise CardInvalid(f"task {pinned.id} changed since the run began: {invalid}") from None
            broken.append(BrokenTask(id=pinned.id, folder=folder, issue=invalid.issue))
            continue
        if pinned.digest and task.digest != pinned.digest:
            raise CardInvalid(
                f"task {pinned.id} changed since the run began ({folder}): its content is {task.digest[:12]}, "
                f"the card says {pinned.digest[:12]}; restore it, or start another run with `trialdeck run`"
            )
        if not pinned.digest:
            issue = Issue(Severity.FATAL, None, Code.TASK_CHANGED, f"{pinned.refused} (when the run was planned)")
            broken.append(BrokenTask(id=pinned.id, folder=folder, issue=issue))
            continue
        tasks.append(task)
    task_set = TaskSet(
        name=card.task_set.name,
        version=card.task_set.version,
        digest=card.task_set.digest,
        tasks=tuple(tasks),
        broken=tuple(broken),
    )
    return make_plan(
        task_set,
        card.arms,
        attempts=card.attempts,
        seed=card.seed,
        host=card.conduct.host,
        allowed_host_env=host_env,
        allow_smaller_host=card.cpus_cap is not None,
        fits=fit_of(card.arms, os.environ, card.conduct.host),
    )
