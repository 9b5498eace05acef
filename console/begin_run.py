"""From a plan to a run that has begun: its folder, its card, its engine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

from console.errors import Unusable, say
from engine import events as ev
from engine.issues import Issue
from engine.runs.card import CardTask, RunCard
from engine.runs.plan import Plan
from engine.runs.start import EngineStandingBy, new_run_folder, new_run_id, save_card
from engine.tasks.task_set import TaskSet
from engine.text import clean_line


def say_refusals(plan: Plan) -> None:
    """Raises Unusable where nothing is left to run."""
    for line in refusal_lines(plan):
        say(line)
    if not any(trial.runnable for trial in plan.trials):
        raise Unusable("nothing to run: every task is refused")


def refusal_lines(plan: Plan) -> list[str]:
    """What is not run and why: whole arms, whole tasks, then tasks with one arm. Each is said once, however many
    attempts there are."""
    lines = [
        f"arm {arm} is not run: {_words(issue).removeprefix(f'arm {arm}: ')}"
        for arm, issues in plan.unfit.items()
        for issue in issues
    ]
    lines += [f"{task.id} is not run: {_words(issue)}" for task in plan.tasks for issue in task.refused]
    lines += [
        f"{trial.task.id} is not run with arm {trial.arm.name}: {_words(issue)}"
        for trial in plan.trials
        if not trial.task.refused and trial.arm.name not in plan.unfit
        for issue in trial.unfit
    ]
    return list(dict.fromkeys(clean_line(line) for line in lines))


def _words(issue: Issue) -> str:
    ways = "".join(f" ({item.text})" for item in issue.evidence if item.label == "way out")
    return f"{issue.message}{ways}"


def begin_run(
    card: RunCard, task_set: TaskSet, plan: Plan, standing_by: EngineStandingBy, runs_dir: Path
) -> tuple[Path, subprocess.Popen[bytes]]:
    """The run's folder and its engine's process. `card` says what is measured; the run's own name for itself and the
    tasks, with what the plan refuses, are filled in. Raises FolderUnusable.
    """
    folder = new_run_folder(runs_dir, card.name)
    tasks = tuple(
        CardTask(
            id=task.id,
            folder=str(task.task.folder if task.task else _folder_of(task_set, task.id)),
            digest=task.task.digest if task.task else "",
            refused="; ".join(issue.message for issue in task.refused),
        )
        for task in plan.tasks
    )
    save_card(folder, msgspec.structs.replace(card, run=new_run_id(folder), created=ev.now(), tasks=tasks))
    return folder, standing_by.launch(folder)


def _folder_of(task_set: TaskSet, task: str) -> Path:
    return next(broken.folder for broken in task_set.broken if broken.id == task)
