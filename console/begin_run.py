"""From a plan to a run that has begun: its folder, its card, its engine."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from console.errors import Unusable, say
from engine import events as ev
from engine.runs.card import CardTask, Conduct, RetryPolicy, RunCard
from engine.runs.plan import Plan
from engine.runs.start import EngineStandingBy, new_run_folder, new_run_id, save_card
from engine.tasks.task_set import TaskSet
from engine.text import clean_line
from engine.version import VERSION


def say_refusals(plan: Plan) -> None:
    """Raises Unusable where nothing is left to run."""
    for task in plan.tasks:
        for issue in task.refused:
            ways = "".join(f" ({item.text})" for item in issue.evidence if item.label == "way out")
            say(clean_line(f"{task.id} is not run: {issue.message}{ways}"))
    if not any(trial.runnable for trial in plan.trials):
        raise Unusable("nothing to run: every task is refused")


def begin_run(
    task_set: TaskSet,
    plan: Plan,
    arms: Sequence[ev.ArmInfo],
    standing_by: EngineStandingBy,
    *,
    runs_dir: Path,
    name: str,
    attempts: int,
    seed: int,
    conduct: Conduct,
    timeout_factor: float = 1.0,
    allowed_host_env: tuple[str, ...] = (),
    capped: bool = False,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    retries: RetryPolicy | None = None,
) -> tuple[Path, subprocess.Popen[bytes]]:
    """The run's folder and its engine's process. `capped`: tasks get no more than the host has.

    Raises FolderUnusable.
    """
    folder = new_run_folder(runs_dir, name)
    card = RunCard(
        run=new_run_id(folder),
        name=name,
        created=ev.now(),
        engine_version=VERSION,
        arms=tuple(arms),
        task_set=ev.TaskSetInfo(name=task_set.name, version=task_set.version, digest=task_set.digest),
        tasks=tuple(
            CardTask(
                id=task.id,
                folder=str(task.task.folder if task.task else _folder_of(task_set, task.id)),
                digest=task.task.digest if task.task else "",
                refused="; ".join(issue.message for issue in task.refused),
            )
            for task in plan.tasks
        ),
        attempts=attempts,
        seed=seed,
        timeout_factor=timeout_factor,
        allowed_host_env=allowed_host_env,
        cpus_cap=conduct.host.cpus if capped else None,
        memory_mb_cap=conduct.host.memory_mb if capped else None,
        include=tuple(include),
        exclude=tuple(exclude),
        retries=retries or RetryPolicy(),
        conduct=conduct,
    )
    save_card(folder, card)
    return folder, standing_by.launch(folder)


def _folder_of(task_set: TaskSet, task: str) -> Path:
    return next(broken.folder for broken in task_set.broken if broken.id == task)
