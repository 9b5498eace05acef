"""The task's own readiness check, run in `main` after Compose's health checks, with the meaning of Docker's fields."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio

from engine.environments.docker.failures import fail
from engine.environments.environment import ExecResult
from engine.issues import Code, Evidence
from engine.tasks.task import MAIN, Healthcheck

Run = Callable[[str, float], Awaitable[ExecResult]]
PAUSE_LEAST_SEC = 0.05


async def wait_healthy(check: Healthcheck, run: Run) -> None:
    """Failures inside the start period don't count; then `retries` in a row end it with `healthcheck_failed`."""
    began = time.monotonic()
    failures = 0
    while True:
        result = await run(check.command, check.timeout_sec)
        if result.exit_code == 0 and not result.timed_out:
            return
        had = time.monotonic() - began
        if had < check.start_period_sec:
            await anyio.sleep(max(PAUSE_LEAST_SEC, min(check.start_interval_sec, check.start_period_sec - had)))
            continue
        failures += 1
        if failures >= check.retries or not result.environment_alive:
            ending = "ran out of time" if result.timed_out else f"ended with exit code {result.exit_code}"
            raise fail(
                Code.HEALTHCHECK_FAILED,
                f"the task's health check failed {failures} times in {had:.1f} s; the last one {ending}",
                Evidence("command", check.command),
                Evidence("output", result.tail.strip() or "(no output)"),
                Evidence("time it had", f"{had:.1f} s"),
                service=MAIN,
            )
        await anyio.sleep(max(PAUSE_LEAST_SEC, check.interval_sec))
