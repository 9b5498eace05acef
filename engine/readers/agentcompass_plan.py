"""What AgentCompass's `run_info.json` says is measured: its plan, without anything that could be a secret."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.issues import Phase
from engine.readers import json_values as values
from engine.readers.told_parameters import told_parameters

_LONGEST = 200
MOST_ATTEMPTS = 1_000
MOST_TASKS = 100_000


@dataclass(frozen=True)
class AttemptPlan:
    """What is known of one attempt before it runs. `limits` are seconds."""

    cpus: float = 0
    memory_mb: int = 0
    limits: tuple[tuple[Phase, float], ...] = ()


@dataclass(frozen=True)
class RunInfo:
    """`tasks` in their order, where the request names them; `all_attempts`: every task gets all of its attempts, no
    strategy stops early. `status` is "" before the end."""

    run: str = ""
    benchmark: str = ""
    harness: str = ""
    model: str = ""
    environment: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    tasks: tuple[str, ...] = ()
    attempts: int = 1
    all_attempts: bool = True
    concurrency: int = 1
    timeout_factor: float = 1.0
    started_at: object = None
    finished_at: object = None
    status: str = ""
    error: str = ""

    @property
    def arm(self) -> str:
        return " ".join(part for part in (self.model, self.harness) if part) or "unnamed"

    @property
    def identity(self) -> str:
        """Stable for the life of the run: nothing in it is written later than the run's beginning."""
        parts = [self.run, self.benchmark, self.harness, self.model, str(self.started_at)]
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:16]
        return "-".join([*(re.sub(r"[^A-Za-z0-9._]+", "_", part)[:40] for part in (self.run, self.model)), digest])


def run_info(value: object) -> RunInfo:
    """From the parsed file, or from whatever stands in its place."""
    request = values.within(value, "request")
    attempts = values.within(request, "execution", "attempts")
    sample_ids = values.within(request, "benchmark", "params", "sample_ids")
    tasks = dict.fromkeys(str(item) for item in sample_ids if item) if isinstance(sample_ids, list) else {}
    return RunInfo(
        run=values.text(values.within(value, "run_id")),
        benchmark=values.text(values.within(request, "benchmark", "id")),
        harness=values.text(values.within(request, "harness", "id")),
        model=values.text(values.within(request, "model", "id")),
        environment=values.text(values.within(request, "environment", "id")),
        parameters=tuple(_parameters(request)),
        tasks=tuple(tasks)[:MOST_TASKS],
        attempts=min(MOST_ATTEMPTS, values.count(values.within(attempts, "k")) or 1),
        all_attempts=values.text(values.within(attempts, "strategy")) in ("", "avg"),
        concurrency=values.count(values.within(request, "execution", "task_concurrency")) or 1,
        timeout_factor=values.number(values.within(request, "execution", "timeout_multiplier")) or 1.0,
        started_at=values.within(value, "started_at"),
        finished_at=values.within(value, "finished_at"),
        status=values.text(values.within(value, "status")),
        error=values.text(values.within(value, "error")),
    )


def _parameters(request: object) -> Iterator[tuple[str, str]]:
    """Of harness and model; whatever may hold a secret stays out."""
    for part in ("harness", "model"):
        yield from told_parameters(values.within(request, part, "params")).items()
    protocol = values.text(values.within(request, "model", "api_protocol"))
    if protocol:
        yield "api_protocol", protocol[:_LONGEST]


def attempt_plan(value: object) -> AttemptPlan:
    """From a resolved execution plan, in `run_info.json` or in an event."""
    resources = values.within(value, "environment", "resources")
    limits = (
        (Phase.PREPARE, values.within(value, "environment", "setup", "build_timeout_seconds")),
        (Phase.AGENT, values.within(value, "run_timeout_seconds")),
        (Phase.COLLECT, values.within(value, "artifact_collect_timeout_seconds")),
        (Phase.VERIFY, values.within(value, "evaluation_timeout_seconds")),
    )
    return AttemptPlan(
        cpus=max(0.0, values.number(values.within(resources, "cpu")) or 0.0),
        memory_mb=values.count(values.within(resources, "memory_mb")) or 0,
        limits=tuple((phase, found) for phase, said in limits if (found := values.number(said)) and found > 0),
    )


def planned_attempts(value: object) -> dict[tuple[str, int], AttemptPlan]:
    """The plans that `run_info.json` has so far, by task and attempt."""
    found: dict[tuple[str, int], AttemptPlan] = {}
    for task, plans in values.mapping(values.within(value, "resolved_execution_plans")).items():
        for number, plan in values.mapping(values.within(plans, "attempts")).items():
            if number.isdecimal() and len(number) < 6:
                found[task, int(number)] = attempt_plan(plan)
    return found


def task_folder(task: str) -> str:
    """The name of a task's folder: what can be read of its id, and a digest of the whole."""
    readable = re.sub(r"[^A-Za-z0-9._=-]+", "_", task).strip("._-")[:80]
    return f"{readable or 'task'}--{hashlib.sha256(task.encode('utf-8', 'surrogatepass')).hexdigest()}"


def trial_id(task: str, attempt: int) -> str:
    """Without the state's folder, out of which a task moves when it ends."""
    return f"{task_folder(task)}/attempt-{attempt}"
