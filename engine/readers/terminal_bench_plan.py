"""What one Terminal-Bench 0.x run measures: from its run_metadata.json and tb.lock."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.readers import json_values as values
from engine.readers.foreign_times import in_utc
from engine.readers.inside import folders_in, is_inside
from engine.readers.json_file import read_json
from engine.readers.told_parameters import told_parameters

METADATA = "run_metadata.json"
LOCK = "tb.lock"
RESULTS = "results.json"
_MOST_HEAD = 4 << 20
_MOST_RUNS = 100
_MOST_ASKED = 3
MOST_ATTEMPTS = 1_000
MOST_TRIALS = 200_000
"""Of one run; what claims more is no plan that anybody made."""
_DATE = re.compile(r"^\d{8}_|^\d{4}-\d{2}-\d{2}[_-]*")


@dataclass(frozen=True)
class TerminalBenchPlan:
    """One run folder. `tasks` is empty where neither file names them; `ended` is its own word for its end."""

    folder: Path
    run: str = ""
    uuid: str = ""
    agent: str = ""
    model: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    dataset: str = ""
    dataset_version: str = ""
    tasks: tuple[str, ...] = ()
    attempts: int = 1
    concurrency: int = 1
    timeout_factor: float = 1.0
    version: str = ""
    started: datetime | None = None
    ended: datetime | None = None

    @property
    def measured(self) -> tuple[object, ...]:
        """What has to be the same for several run folders to be attempts of one run."""
        return self.agent, self.model, self.parameters, self.dataset, self.dataset_version, frozenset(self.tasks)

    def trial_names(self, task: str) -> list[str]:
        """As Terminal-Bench names the folders of a task's trials."""
        return [f"{task}.{number}-of-{self.attempts}.{self.run}" for number in range(1, self.attempts + 1)]


def run_plan(folder: Path) -> TerminalBenchPlan:
    """Of a single run folder; what can't be read is left at its default."""
    metadata, lock = (read_json(folder, folder / name, _MOST_HEAD) for name in (METADATA, LOCK))
    listed = values.within(metadata, "task_ids") or values.within(lock, "dataset", "task_ids")
    tasks = [task for task in listed if isinstance(task, str) and _is_name(task)] if isinstance(listed, list) else []
    attempts = values.count(values.within(metadata, "n_attempts")) or values.count(
        values.within(lock, "run_config", "n_attempts")
    )
    agent = values.within(lock, "agent")
    told = {
        "import_path": values.within(agent, "import_path"),
        "kwargs": values.within(metadata, "agent_kwargs") or values.within(agent, "extra_kwargs"),
    }
    run = values.text(values.within(metadata, "run_id"))
    tasks = tasks[:MOST_TRIALS]
    return TerminalBenchPlan(
        folder=folder,
        run=run if _is_name(run) else folder.name,
        uuid=values.text(values.within(metadata, "uuid")),
        agent=values.text(values.within(metadata, "agent_name")) or values.text(values.within(agent, "name")),
        model=values.text(values.within(metadata, "model_name")) or values.text(values.within(agent, "model_name")),
        parameters=tuple(sorted(told_parameters(told).items())),
        dataset=values.text(values.within(metadata, "dataset_name"))
        or values.text(values.within(lock, "dataset", "name")),
        dataset_version=values.text(values.within(metadata, "dataset_version"))
        or values.text(values.within(lock, "dataset", "version")),
        tasks=tuple(dict.fromkeys(tasks)),
        attempts=min(MOST_ATTEMPTS, attempts or 1, max(1, MOST_TRIALS // max(1, len(tasks)))),
        concurrency=values.count(values.within(metadata, "n_concurrent_trials")) or 1,
        timeout_factor=values.number(values.within(lock, "run_config", "global_timeout_multiplier")) or 1.0,
        version=values.text(values.within(lock, "harness", "version")),
        started=in_utc(values.within(metadata, "start_time")),
        ended=in_utc(values.within(metadata, "end_time")),
    )


def _is_name(said: str) -> bool:
    """Names of tasks and runs are names of folders: they lead nowhere else."""
    return 0 < len(said) < 256 and said not in (".", "..") and not set(said) & {"/", "\0"}


def is_single_run(folder: Path) -> bool:
    """By its own description, else by the results of a trial where trials lie."""
    metadata = values.mapping(read_json(folder, folder / METADATA, _MOST_HEAD))
    if "run_id" in metadata and ("agent_name" in metadata or "task_ids" in metadata):
        return True
    if "harness" in values.mapping(read_json(folder, folder / LOCK, _MOST_HEAD)):
        return True
    for task in folders_in(folder, most=_MOST_ASKED):
        for trial in folders_in(task, most=_MOST_ASKED):
            found = values.mapping(read_json(folder, trial / RESULTS, _MOST_HEAD))
            if "is_resolved" in found and "task_id" in found:
                return True
    return False


def runs_of(folder: Path) -> list[TerminalBenchPlan]:
    """The run folders that make up one run, the earlier one first: `folder` itself, or its sub-folders where all of
    them are runs that measure the same. Empty where it is neither."""
    if is_single_run(folder):
        return [run_plan(folder)]
    inner = folders_in(folder, most=_MOST_RUNS + 1)
    if not 2 <= len(inner) <= _MOST_RUNS or not (inner[0] / METADATA).is_file():
        return []
    if not all((one / METADATA).is_file() and is_inside(folder, one) for one in inner):
        return []
    plans = [run_plan(one) for one in inner]
    if len({plan.measured for plan in plans}) != 1 or not plans[0].tasks:
        return []
    return sorted(plans, key=lambda plan: (plan.started.isoformat() if plan.started else "~", plan.folder.name))


def arm_name(folder: Path, plan: TerminalBenchPlan, *, submission: bool) -> str:
    """Of model and agent. A submission whose files name no model is known by its folder: `<date>_<agent>_<model>`."""
    if submission and not plan.model:
        return _DATE.sub("", folder.name) or folder.name
    return " ".join(part for part in (plan.model, plan.agent) if part) or folder.name


def identity(plans: list[TerminalBenchPlan], folder: Path) -> str:
    named = [plan.uuid or plan.run for plan in plans]
    if len(named) == 1:
        return plans[0].uuid or f"{plans[0].run}-{plans[0].started or ''}"
    if not named:
        return folder.name
    return hashlib.sha256("\n".join(sorted(named)).encode("utf-8", "backslashreplace")).hexdigest()
