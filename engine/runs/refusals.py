"""What can't be run here, said before anything is started: never ignored, never done half."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.events import HostInfo
from engine.issues import Code, Evidence, Issue, Severity
from engine.tasks.host_env import missing_for
from engine.tasks.task import NetworkMode, NetworkPolicy, Task


def refusals(task: Task, host: HostInfo, allowed: Mapping[str, str], *, allow_smaller_host: bool) -> list[Issue]:
    """Why the task is not run on this host; empty if it can be."""
    return [
        *_network(task),
        *_hardware(task, host, allow_smaller_host=allow_smaller_host),
        *_host_variables(task, allowed),
    ]


def _refused(code: Code, message: str, way_out: str = "") -> Issue:
    return Issue(Severity.FATAL, None, code, message, (Evidence("way out", way_out),) if way_out else ())


def _network(task: Task) -> Iterator[Issue]:
    base = task.environment.network or NetworkPolicy()
    stages: list[tuple[str, NetworkPolicy | None, NetworkPolicy]] = [("agent", task.agent.network, base)]
    verifiers = [("verifier", task.verifier)] + [(f"steps.{step.name}.verifier", step.verifier) for step in task.steps]
    stages += [(f"steps.{step.name}.agent", step.agent.network, base) for step in task.steps]
    policies: list[tuple[str, NetworkPolicy]] = [("environment", base)]
    for name, verifier in verifiers:
        if task.verifier_mode(verifier) == "shared":
            stages.append((name, verifier.network, base))
            continue
        own = verifier.environment.network if verifier.environment is not None else base
        policies.append((f"{name}.environment", verifier.network or own or NetworkPolicy()))
    policies += [(name, found) for name, found, _ in stages if found is not None]
    for name, policy in policies:
        if policy.mode is NetworkMode.ALLOWLIST:
            hosts = ", ".join(policy.allowed_hosts) or "no host"
            yield _refused(Code.TASK_REFUSED, f"{name}.network_mode is allowlist ({hosts}), which is not supported yet")
            return
    for name, own_policy, before in stages:
        if own_policy is not None and own_policy != before:
            yield _refused(
                Code.TASK_REFUSED,
                f"{name}.network_mode is {own_policy.mode} while the environment's is {before.mode}: "
                "a network policy that changes between phases is not supported yet",
            )
            return


def _hardware(task: Task, host: HostInfo, *, allow_smaller_host: bool) -> Iterator[Issue]:
    every = {"environment": task.environment, "verifier.environment": task.verifier.environment} | {
        f"steps.{step.name}.verifier.environment": step.verifier.environment
        for step in task.steps
        if step.verifier.environment != task.verifier.environment
    }
    for name, settings in every.items():
        if settings is None:
            continue
        if settings.gpus or settings.tpu:
            what = f"{settings.gpus} GPU ({', '.join(settings.gpu_types) or 'any type'})" if settings.gpus else "a TPU"
            yield _refused(Code.TASK_REFUSED, f"{name} needs {what}, which this host cannot give")
        if settings.os.lower() != "linux":
            yield _refused(Code.TASK_REFUSED, f"{name}.os is {settings.os}: only linux is supported")
        way_out = "--allow-smaller-host runs it capped to what the host has, and records that"
        if settings.cpus is not None and host.cpus and settings.cpus > host.cpus and not allow_smaller_host:
            yield _refused(
                Code.HOST_TOO_SMALL, f"{name}.cpus is {settings.cpus:g}, the host has {host.cpus:g}", way_out
            )
        memory = settings.memory_mb
        if memory is not None and host.memory_mb and memory > host.memory_mb and not allow_smaller_host:
            yield _refused(Code.HOST_TOO_SMALL, f"{name}.memory_mb is {memory}, the host has {host.memory_mb}", way_out)


def _host_variables(task: Task, allowed: Mapping[str, str]) -> Iterator[Issue]:
    missing = missing_for(task, allowed)
    if missing:
        names = ", ".join(sorted({variable.name for variable in missing}))
        yield _refused(
            Code.TASK_REFUSED,
            f"needs host variables that are not allowed or not set: {names} (for {', '.join(v.key for v in missing)})",
            " ".join(f"--allow-host-env {name}" for name in sorted({variable.name for variable in missing})),
        )
