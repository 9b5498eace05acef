"""When a project is ready, decided from its containers' own state: Compose's `--wait` takes a one-shot that did its
work for a failure, and its exit status lies at times."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

import msgspec

from engine.environments.docker.containers import Container, sharing_network
from engine.environments.docker.failures import fail
from engine.issues import Code, Evidence, TrialFailed
from engine.tasks.task import MAIN

PROBES_SHOWN = 3
PROBE_CHARS = 2000
LOG_CHARS = 4000


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """`code` is set where the container has failed; ready and not failed: nothing more to wait for."""

    ready: bool = False
    code: Code | None = None
    why: str = ""


READY = Verdict(ready=True)
WAITING = Verdict()


def judge(container: Container) -> Verdict:
    """One container. A service without a restart policy and without a health check may end with 0; `main` may not."""
    if container.state == "running":
        if not container.has_healthcheck or container.health == "healthy":
            return READY
        if container.health == "unhealthy":
            return Verdict(code=Code.SERVICE_UNHEALTHY, why="is unhealthy")
        return WAITING
    if container.state in ("restarting", "paused"):
        return WAITING
    if container.state == "created":
        if not container.error:
            return WAITING
        return Verdict(code=Code.ENVIRONMENT_FAILED, why=f"did not start: {container.error}")
    if container.exit_code == 0 and container.service != MAIN and not container.has_healthcheck:
        return READY
    memory = " (the memory limit was hit)" if container.oom_killed else ""
    return Verdict(code=Code.SERVICE_EXITED, why=f"ended with exit code {container.exit_code}{memory}")


def first_failed(containers: Collection[Container]) -> tuple[Container, Verdict] | None:
    """A container that has failed. One that did its work and ended well has failed too where it took the network of
    another one with it."""
    for container in containers:
        verdict = judge(container)
        sharing = [] if container.running else sharing_network(container, containers)
        if verdict.ready and sharing:
            lost = f"(whose network {', '.join(sharing)} shares) ended with exit code 0"
            verdict = Verdict(code=Code.SERVICE_EXITED, why=lost)
        if verdict.code is not None:
            return container, verdict
    return None


def waiting_for(containers: Iterable[Container]) -> list[str]:
    """The services that are not ready yet."""
    return sorted({container.service for container in containers if not judge(container).ready})


def had_seconds(container: Container) -> float | None:
    """From its start to its end, or to its last health check while it runs."""
    last = container.probes[-1].ended if container.running and container.probes else container.finished
    began, ended = read_time(container.started), read_time(last)
    if began is None or ended is None or ended < began:
        return None
    return (ended - began).total_seconds()


def read_time(text: str) -> datetime | None:
    """Docker's times have nanoseconds; the zero time means never."""
    if not text or text.startswith("0001-"):
        return None
    head, dot, rest = text.partition(".")
    zone = "+00:00" if text.endswith("Z") else text[-6:] if "+" in rest or "-" in rest else "+00:00"
    digits = "".join(letter for letter in rest[:6] if letter.isdigit())
    body = f"{head}.{digits}" if dot and digits else head.removesuffix("Z")
    try:
        return datetime.fromisoformat(body.removesuffix("Z") + ("" if body[-6:-5] == "+" else zone))
    except ValueError:
        return None


def not_ready(container: Container, verdict: Verdict, log: str) -> TrialFailed:
    """The issue of a service that failed at the start, with what a person needs to judge task and host by."""
    had = had_seconds(container)
    evidence = [Evidence("probe", probe_text(container))] if container.probes else []
    if container.state != "running":
        evidence.append(Evidence("exit code", str(container.exit_code)))
    if container.service == MAIN and container.state == "exited" and container.exit_code == 0:
        evidence.append(Evidence("way out", "the command of main must keep it alive until the trial ends"))
    if had is not None:
        evidence.append(Evidence("time it had", f"{had:.1f} s"))
    if log:
        evidence.append(Evidence("log", log[-LOG_CHARS:], file=f"services/{container.service}.log"))
    within = f" after {had:.1f} s" if had is not None else ""
    code = verdict.code or Code.ENVIRONMENT_FAILED
    return fail(code, f"service {container.service} {verdict.why}{within}", *evidence, service=container.service)


def start_timeout(containers: Iterable[Container], limit: float, logs: dict[str, str]) -> TrialFailed:
    states: list[str] = []
    evidence: list[Evidence] = []
    late = ""
    for container in containers:
        health = f", health {container.health}" if container.health else ""
        states.append(f"{container.service}: {container.state}{health}")
        if judge(container).ready:
            continue
        late = late or container.service
        if container.probes:
            evidence.append(Evidence(f"probe of {container.service}", probe_text(container)))
        if logs.get(container.service):
            text = logs[container.service][-LOG_CHARS:]
            evidence.append(Evidence(f"log of {container.service}", text, file=f"services/{container.service}.log"))
    whom = f"service {late} was" if late else "the services were"
    return fail(
        Code.START_TIMEOUT,
        f"{whom} not ready within {limit:g} s",
        Evidence("state", "\n".join(states) or "no container yet"),
        *evidence,
        service=late,
    )


def probe_text(container: Container) -> str:
    """The last health checks' own output."""
    shown = container.probes[-PROBES_SHOWN:]
    return "\n".join(f"exit {p.exit_code}: {p.output.strip()[:PROBE_CHARS] or '(no output)'}" for p in shown)
