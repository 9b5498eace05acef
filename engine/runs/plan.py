"""The plan: which trials, in which order, what each takes, what is refused and why. Made before anything is started."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Mapping, Sequence

import msgspec

from engine.events import ArmInfo, HostInfo
from engine.issues import Code, Evidence, Issue, Severity
from engine.runs.agent_refusals import ArmFit, cannot_take, plain_fit
from engine.runs.refusals import refusals
from engine.tasks.compose_limits import declared_limits
from engine.tasks.compose_names import taken_alone
from engine.tasks.lint import plan_warnings
from engine.tasks.task import Task
from engine.tasks.task_set import TaskSet
from engine.tasks.verifier_image import verifier_image

_NAME_LIMIT = 100


class PlannedTask(msgspec.Struct, frozen=True, kw_only=True):
    """`task` is None where its files can't be read. `cpus` and `memory_mb` are the most that its environments, all
    services together, declare at any time, capped to the host. `alone`: what only one trial at a time can have."""

    id: str
    task: Task | None
    refused: tuple[Issue, ...] = ()
    warnings: tuple[Issue, ...] = ()
    cpus: float = 0
    memory_mb: int = 0
    alone: tuple[str, ...] = ()


class PlannedTrial(msgspec.Struct, frozen=True, kw_only=True):
    """`unfit`: why its arm's agent can't do its task."""

    trial: str
    task: PlannedTask
    arm: ArmInfo
    attempt: int
    position: int
    unfit: tuple[Issue, ...] = ()

    @property
    def refused(self) -> tuple[Issue, ...]:
        return (*self.task.refused, *self.unfit)

    @property
    def runnable(self) -> bool:
        return not self.refused


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """`trials` in the order in which they are to start. `unfit`: why arms can't run at all, by their names; their
    trials say so, too."""

    tasks: tuple[PlannedTask, ...]
    trials: tuple[PlannedTrial, ...]
    unfit: dict[str, tuple[Issue, ...]] = {}


def make_plan(
    task_set: TaskSet,
    arms: Sequence[ArmInfo],
    *,
    attempts: int,
    seed: int,
    host: HostInfo,
    allowed_host_env: Mapping[str, str],
    allow_smaller_host: bool = False,
    fits: Mapping[str, ArmFit] | None = None,
) -> Plan:
    """The same arguments give the same plan. `fits` is what `fit_of` says of the arms on this host (None: nothing is
    known but what their agents can take)."""
    fits = plain_fit(arms) if fits is None else fits
    tasks = [PlannedTask(id=broken.id, task=None, refused=(broken.issue,)) for broken in task_set.broken] + [
        _planned(task, arms, host, allowed_host_env, allow_smaller_host=allow_smaller_host) for task in task_set.tasks
    ]
    tasks.sort(key=lambda task: task.id)
    order = interleaved([task.id for task in tasks], [arm.name for arm in arms], attempts, seed)
    by_id = {task.id: task for task in tasks}
    by_name = {arm.name: arm for arm in arms}
    names: set[str] = set()
    unfit = {
        (task.id, arm.name): fits[arm.name].problems
        or (cannot_take(task.task, arm, fits[arm.name].traits) if task.task is not None else ())
        for task in tasks
        for arm in arms
    }
    trials = tuple(
        PlannedTrial(
            trial=trial_name(task, arm, attempt, names),
            task=by_id[task],
            arm=by_name[arm],
            attempt=attempt,
            position=position,
            unfit=unfit[task, arm],
        )
        for position, (task, arm, attempt) in enumerate(order, 1)
    )
    return Plan(
        tasks=tuple(tasks), trials=trials, unfit={name: fit.problems for name, fit in fits.items() if fit.problems}
    )


def interleaved(tasks: Sequence[str], arms: Sequence[str], attempts: int, seed: int) -> list[tuple[str, str, int]]:
    """(task, arm, attempt) in a seeded random order in which the arms of one task and attempt stand together, so that
    whatever changes while the run lasts meets both arms alike."""
    chance = random.Random(seed)
    order: list[tuple[str, str, int]] = []
    for attempt in range(1, attempts + 1):
        shuffled = list(tasks)
        chance.shuffle(shuffled)
        for task in shuffled:
            sides = list(arms)
            chance.shuffle(sides)
            order += [(task, arm, attempt) for arm in sides]
    return order


def trial_name(task: str, arm: str, attempt: int, taken: set[str]) -> str:
    """A folder's name: letters, digits, `.`, `_` and `-` only; two ids that clean to one name get different ones."""
    base = re.sub(r"[^A-Za-z0-9._-]+", "-", task).strip("-.") or "task"
    side = re.sub(r"[^A-Za-z0-9._-]+", "-", arm)
    name = f"{base[:_NAME_LIMIT]}__{side}__{attempt}"
    if base != task or len(base) > _NAME_LIMIT or side != arm or name in taken:
        digest = hashlib.sha256(f"{task}\0{arm}".encode("utf-8", "surrogateescape")).hexdigest()[:6]
        name = f"{base[:_NAME_LIMIT]}-{digest}__{side}__{attempt}"
    taken.add(name)
    return name


def _planned(
    task: Task, arms: Sequence[ArmInfo], host: HostInfo, allowed: Mapping[str, str], *, allow_smaller_host: bool
) -> PlannedTask:
    cpus, memory = base = declared_limits(task.environment, task.compose_file)
    cpus_at_once, memory_at_once = base
    alone = {*taken_alone(task.compose_file)}
    steps = task.steps or (None,)
    for step in steps:
        image = verifier_image(task, step)
        if image is not None:
            own = declared_limits(image.settings, image.compose_file)
            cpus, memory = max(cpus, own[0]), max(memory, own[1])
            beside = base if step is not steps[-1] else (0.0, 0)  # between steps the agent's environment lives on
            cpus_at_once = max(cpus_at_once, own[0] + beside[0])
            memory_at_once = max(memory_at_once, own[1] + beside[1])
            alone.update(taken_alone(image.compose_file))
    refused = refusals(task, host, allowed, allow_smaller_host=allow_smaller_host)
    warnings = list(plan_warnings(task, allowed))
    for what, needed, there in (("cpus", cpus, host.cpus), ("memory_mb", memory, host.memory_mb)):
        if there and needed > there and not any(issue.code is Code.HOST_TOO_SMALL for issue in refused):
            issue = Issue(
                Severity.WARNING if allow_smaller_host else Severity.FATAL,
                None,
                Code.HOST_TOO_SMALL,
                f"all services together declare {what} {needed:g}, the host has {there:g}"
                + ("; capped" if allow_smaller_host else ""),
                ()
                if allow_smaller_host
                else (Evidence("way out", "--allow-smaller-host runs it capped, and records that"),),
            )
            (warnings if allow_smaller_host else refused).append(issue)
    if (task.environment.mcp_servers or task.environment.skills_dir) and any(arm.agent == "command" for arm in arms):
        what = "MCP servers" if task.environment.mcp_servers else "a skills folder"
        warnings.append(
            Issue(
                Severity.WARNING, None, Code.TASK_WARNING, f"the task offers {what}, which agent command is not given"
            )
        )
    return PlannedTask(
        id=task.id,
        task=task,
        refused=tuple(refused),
        warnings=tuple(warnings),
        cpus=min(cpus_at_once, host.cpus or cpus_at_once),
        memory_mb=min(memory_at_once, host.memory_mb or memory_at_once),
        alone=tuple(sorted(alone)),
    )
