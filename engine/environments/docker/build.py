"""Builds images: each content once in a run, however many trials ask at the same time."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from engine.environments.docker import labels
from engine.environments.docker.compose import tool_environment
from engine.environments.docker.failures import Failure, classify, fail
from engine.environments.docker.host_tools import ToolResult, plugin, run_tool
from engine.environments.docker.once import Once
from engine.environments.docker.pull import BACK_OFF_SEC
from engine.issues import Code, Evidence, TrialFailed

BUILDS_AT_ONCE = 4
STEP = re.compile(r"^#\d+ (\[[^\]]+\] .+)$")
FAILED_LINE = re.compile(r"^(\S*Dockerfile\S*):(\d+)$")
POINTED = re.compile(r"^\s*\d+ \| >>> (.+)$")


class Built(msgspec.Struct, frozen=True, kw_only=True):
    image: str
    log: Path


class Builds:
    """All builds of one provider."""

    def __init__(self, reached_at: str) -> None:
        self._env = tool_environment(reached_at)
        self._once: Once[Built] = Once()
        self._slots = anyio.CapacityLimiter(BUILDS_AT_ONCE)

    async def image(
        self, tag: str, context: Path, run: str, log: Path, timeout_sec: float, activity: Callable[[str], None]
    ) -> str:
        """Build `context` as `tag`; raises TrialFailed with the step that failed."""

        async def make() -> Built:
            argv = [
                *plugin("buildx"),
                *("build", "--builder", "default", "--load", "--provenance=false", "--progress=plain", "--tag", tag),
                *(word for name, value in labels.of_run(run).items() for word in ("--label", f"{name}={value}")),
                str(context),
            ]

            async def once(left: float) -> ToolResult:
                return await run_tool(argv, env=self._env, log=log, timeout_sec=left, on_line=step_reporter(activity))

            async with self._slots:
                result = await patiently(once, timeout_sec)
            check(result, timeout_sec, log, "main")
            return Built(image=tag, log=log)

        return await self._shared(tag, log, make, activity)

    async def services(
        self,
        tags: dict[str, str],
        log: Path,
        timeout_sec: float,
        activity: Callable[[str], None],
        build: Callable[[list[str], float, Callable[[str], None]], Awaitable[ToolResult]],
    ) -> None:
        """Build the services of a Compose file that have a build section, each once per tag."""
        for service, tag in tags.items():

            async def make(service: str = service, tag: str = tag) -> Built:
                async with self._slots:
                    result = await patiently(lambda left: build([service], left, step_reporter(activity)), timeout_sec)
                check(result, timeout_sec, log, service)
                return Built(image=tag, log=log)

            await self._shared(tag, log, make, activity)

    async def _shared(
        self, tag: str, log: Path, make: Callable[[], Awaitable[Built]], activity: Callable[[str], None]
    ) -> str:
        activity("build image")
        built = await self._once.get(tag, make)
        if built.log != log and built.log.is_file():
            await anyio.to_thread.run_sync(_append, built.log, log)
        return built.image

    def forget(self, tag: str) -> None:
        self._once.forget(tag)


def _append(source: Path, log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as theirs, log.open("ab") as ours:
        shutil.copyfileobj(theirs, ours)


def step_reporter(activity: Callable[[str], None]) -> Callable[[str], None]:
    """Turns BuildKit's plain lines into what the trial does right now."""

    def report(line: str) -> None:
        match = STEP.match(line)
        if match and not match.group(1).startswith("[internal]"):
            activity(f"build {match.group(1)[:100]}")

    return report


async def patiently(build: Callable[[float], Awaitable[ToolResult]], timeout_sec: float) -> ToolResult:
    """Builds again, as a pull is tried again, where a registry didn't give the base image; all tries share the limit,
    and `build` is told what is left of it."""
    until = time.monotonic() + timeout_sec
    for pause in (*BACK_OFF_SEC, None):
        result = await build(until - time.monotonic())
        if pause is None or not result.exit_code or result.timed_out or until - time.monotonic() <= pause:
            break
        known = _registrys_words(result.tail)
        if known is None or not known.retryable or known.code not in (Code.PULL_FAILED, Code.PULL_RATE_LIMITED):
            break
        await anyio.sleep(pause)
    return result


def check(result: ToolResult, timeout_sec: float, log: Path, service: str) -> None:
    """Raises TrialFailed unless the build ended well."""
    if result.timed_out:
        raise fail(
            Code.BUILD_TIMEOUT,
            f"the image of {service} was not built within {timeout_sec:g} s",
            Evidence("last output", _last(result.tail), file=log.name),
            service=service,
        )
    if result.exit_code:
        raise build_failed(result.tail, log, service)


def build_failed(tail: str, log: Path, service: str) -> TrialFailed:
    """Which step of which Dockerfile, and the end of the output. A base image that can't be had is a pull's failure."""
    step = failed_step(tail)
    known = _registrys_words(tail)
    evidence = (Evidence("step", step),) if step else ()
    ending = Evidence("last output", _last(tail), file=log.name)
    if known and known.code in (Code.PULL_FAILED, Code.PULL_RATE_LIMITED, Code.DAEMON_UNREACHABLE, Code.DISK_FULL):
        return fail(known.code, f"the image of {service}: {known.message}", *evidence, ending, service=service)
    if re.search("no space left on device", tail, re.IGNORECASE):
        return fail(Code.DISK_FULL, f"the image of {service}: the disk is full", *evidence, ending, service=service)
    where = f" at {step}" if step else ""
    return fail(Code.BUILD_FAILED, f"the image of {service} failed to build{where}", *evidence, ending, service=service)


def failed_step(tail: str) -> str:
    """`Dockerfile:3 RUN false`, empty where the output doesn't say."""
    lines = tail.splitlines()
    place = next((line.strip() for line in reversed(lines) if FAILED_LINE.match(line.strip())), "")
    pointed = [match.group(1).strip() for match in map(POINTED.match, lines) if match]
    return " ".join(part for part in (place, pointed[0] if pointed else "") if part)


def _registrys_words(tail: str) -> Failure | None:
    """What BuildKit's own last words mean. A line that quotes the command of a failed step is the task's text."""
    lines = (line for line in tail.splitlines() if line.startswith(("ERROR", "failed to solve")))
    return classify("\n".join(line for line in lines if "did not complete successfully" not in line))


def _last(tail: str, lines: int = 25) -> str:
    return "\n".join(tail.strip().splitlines()[-lines:])
