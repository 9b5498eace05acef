"""From a card back to its plan: the tasks are read again and must be what they were."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from engine.issues import Code, Evidence, Issue, Severity
from engine.runs.agent_refusals import fit_of
from engine.runs.card import RunCard
from engine.runs.plan import Plan, make_plan
from engine.tasks.folder import read_task
from engine.tasks.invalid import TaskInvalid
from engine.tasks.task import Task
from engine.tasks.task_set import BrokenTask, TaskSet


def plan_from_card(card: RunCard, host_env: Mapping[str, str]) -> Plan:
    """The same plan as when the run began, but for what this host gives the arms now: keys, programs, an engine. A task
    that is no longer what it was is refused, since what its trials would measure is no part of the card (case 58)."""
    tasks: list[Task] = []
    broken: list[BrokenTask] = []
    for pinned in card.tasks:
        folder = Path(pinned.folder)
        try:
            task = read_task(folder)
        except TaskInvalid as invalid:
            issue = _changed(folder, str(invalid)) if pinned.digest else invalid.issue
            broken.append(BrokenTask(id=pinned.id, folder=folder, issue=issue))
            continue
        if pinned.digest and task.digest != pinned.digest:
            what = f"its content is {task.digest[:12]}, the card says {pinned.digest[:12]}"
            broken.append(BrokenTask(id=pinned.id, folder=folder, issue=_changed(folder, what)))
            continue
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


def changed_tasks(card: RunCard, plan: Plan) -> list[tuple[str, Issue]]:
    """Tasks that are no longer what the card pins, with the difference."""
    pinned = {task.id for task in card.tasks if task.digest}
    return [
        (task.id, issue)
        for task in plan.tasks
        for issue in task.refused
        if issue.code is Code.TASK_CHANGED and task.id in pinned
    ]


def _changed(folder: Path, what: str) -> Issue:
    way_out = Evidence("way out", "restore it and resume again, or start another run with `trialdeck run`")
    message = f"its files changed since the run began ({folder}): {what}"
    return Issue(Severity.FATAL, None, Code.TASK_CHANGED, message, (way_out,))
