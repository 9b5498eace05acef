"""The plan as text: what `--dry-run` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from console.begin_run import refusal_lines
from engine.events import ArmInfo, HostInfo
from engine.runs.plan import Plan, PlannedTask
from engine.tasks.task import Task
from engine.tasks.task_set import TaskSet
from engine.tasks.verifier_image import verifier_image
from engine.text import clean_line
from screens.format import count

LEAST_NAME = 34


def plan_lines(
    plan: Plan,
    task_set: TaskSet,
    host: HostInfo,
    arms: Sequence[ArmInfo],
    *,
    seed: int,
    concurrency: int,
    timeout_factor: float = 1.0,
) -> Iterator[str]:
    """The arms, trials in their order, what each task takes, its images, what is refused and why. Time limits are those
    that hold, the factor applied."""
    runnable = [trial for trial in plan.trials if trial.runnable]
    version = f" {task_set.version}" if task_set.version else ""
    tasks = count(len(plan.tasks), "task")
    yield f"task set  {clean_line(task_set.name)}{version} · digest {task_set.digest[:12]} · {tasks}"
    engine = f"Docker {host.docker or '—'} · Compose {host.compose or '—'}"
    yield f"host      {host.cpus:g} CPUs · {host.memory_mb} MiB · {engine}"
    for number, arm in enumerate(arms):
        yield f"{'' if number else 'arms':<9} {arm_text(arm)}"
    yield f"trials    {len(runnable)} of {len(plan.trials)} · {concurrency} at once · order interleaved, seed {seed}"
    yield ""
    tasks_that_run = [(task, task.task) for task in plan.tasks if task.task is not None and not task.refused]
    names = [clean_line(planned.id) for planned, _ in tasks_that_run]
    wide = max([LEAST_NAME, *map(_cells, names)])
    yield f"{'task':<{wide}} {'cpus':>5} {'MiB':>7} {'agent s':>8} {'verify s':>8}  images"
    for name, (planned, task) in zip(names, tasks_that_run, strict=True):
        yield f"{name}{' ' * (wide - _cells(name))} {_task_numbers(planned, task, timeout_factor)}"
    if refused := refusal_lines(plan):
        yield from ("", "refused", *(f"  {line}" for line in refused))
    yield from _notes("warnings", [(task.id, issue.message) for task in plan.tasks for issue in task.warnings])
    yield from ("", "order") if runnable else ("", "nothing can be run")
    for trial in runnable:
        yield f"{trial.position:>5}  {clean_line(trial.task.id)} · {trial.arm.name} · attempt {trial.attempt}"


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # here: most plans need no table of widths

    return cell_len(text)


def arm_text(arm: ArmInfo) -> str:
    """Agent and model of an arm, and where its model is reached, in a line."""
    agent = f"{arm.agent} {arm.agent_version}".strip()
    parts = [f"{arm.name}: {agent}" if arm.name != arm.agent else agent]
    if arm.model:
        parts.append(f"model {arm.model}" + (f" over {arm.protocol}" if arm.protocol else ""))
    said = (("from", arm.provider), ("effort", arm.effort), ("at", arm.endpoint.base_url))
    parts += [f"{what} {value}" for what, value in said if value]
    if arm.temperature is not None:
        parts.append(f"temperature {arm.temperature:g}")
    if key := arm.endpoint.key_env or arm.endpoint.key_file:
        parts.append(f"key from {key}")
    if arm.capsules:
        tags = [tag if digest else f"{tag} (built when the run begins)" for tag, digest in arm.capsules.items()]
        parts.append(f"{'capsule' if len(tags) == 1 else 'capsules'} {', '.join(tags)}")
    return clean_line(" · ".join(parts), 400)


def _task_numbers(planned: PlannedTask, task: Task, timeout_factor: float) -> str:
    agent = _seconds([stage.agent.timeout_sec for stage in task.steps or [task]], timeout_factor)
    verify = _seconds([stage.verifier.timeout_sec for stage in task.steps or [task]], timeout_factor)
    return f"{planned.cpus or '—':>5} {planned.memory_mb or '—':>7} {agent:>8} {verify:>8}  {_images(task)}"


def _seconds(limits: Sequence[float | None], factor: float) -> str:
    """Of all steps together; a dash where one of them has no limit."""
    known = [limit for limit in limits if limit is not None]
    return f"{factor * sum(known):g}" if len(known) == len(limits) else "—"


def _images(task: Task) -> str:
    def own(image: str | None, compose: object) -> str:
        return (image or "built") + (" + Compose" if compose else "")

    parts = [own(task.environment.docker_image, task.compose_file)]
    verifier = verifier_image(task)
    if verifier is None:
        parts.append("shared verifier")
    else:
        parts.append(f"fresh verifier: {own(verifier.settings.docker_image, verifier.compose_file)}")
    if task.steps:
        parts.append(f"{len(task.steps)} steps")
    return ", ".join(parts)


def _notes(title: str, notes: list[tuple[str, str]]) -> Iterator[str]:
    if notes:
        yield ""
        yield title
        for task, message in notes:
            yield f"  {clean_line(task)}: {clean_line(message)}"
