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
from engine.trial.job import limits_of
from screens.format import count


def plan_lines(
    plan: Plan, task_set: TaskSet, host: HostInfo, arms: Sequence[ArmInfo], *, seed: int, concurrency: int
) -> Iterator[str]:
    """The arms, trials in their order, what each task takes, its images, what is refused and why."""
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
    yield f"{'task':<34} {'cpus':>5} {'MiB':>7} {'agent s':>8} {'verify s':>8}  images"
    for planned in plan.tasks:
        if planned.task is not None and not planned.refused:
            yield _task_line(planned, planned.task)
    if refused := refusal_lines(plan):
        yield from ("", "refused", *(f"  {line}" for line in refused))
    yield from _notes("warnings", [(task.id, issue.message) for task in plan.tasks for issue in task.warnings])
    yield from ("", "order") if runnable else ("", "nothing can be run")
    for trial in runnable:
        yield f"{trial.position:>5}  {clean_line(trial.task.id)} · {trial.arm.name} · attempt {trial.attempt}"


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


def _task_line(planned: PlannedTask, task: Task) -> str:
    limits = {str(phase): f"{seconds:g}" for phase, seconds in limits_of(task, 1.0).items()}
    return (
        f"{clean_line(planned.id):<34} {planned.cpus or '—':>5} {planned.memory_mb or '—':>7} "
        f"{limits.get('agent', '—'):>8} {limits['verify']:>8}  {_images(task)}"
    )


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
