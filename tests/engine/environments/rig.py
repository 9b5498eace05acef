"""Makes environments of a throw-away run for container tests, and always takes them down."""

from __future__ import annotations

import secrets
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.environments.docker.engine_api import filters
from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.provider import DockerProvider
from engine.environments.environment import EnvironmentSpec
from engine.events import Event, IssueRaised
from engine.issues import Code, Issue, TrialFailed

BASE_IMAGE = "debian:bookworm-slim"
IDLE = "{image: debian:bookworm-slim, init: true, command: [sleep, '600']}"
"""A service of a Compose file that only lives."""


def facts(issue: Issue) -> dict[str, str]:
    """The texts of its evidence by their labels."""
    return {evidence.label: evidence.text for evidence in issue.evidence}


class Recorder:
    """Takes what environments emit."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def issues(self, code: Code) -> list[Issue]:
        return [event.issue for event in self.of(IssueRaised) if event.issue.code is code]

    async def wait(self, met: Callable[[], object], seconds: float = 120.0) -> None:
        """Until something is true of what was emitted; fails loudly where it never is."""
        until = time.monotonic() + seconds
        while not met():
            assert time.monotonic() < until, f"not seen within {seconds} s"
            await anyio.sleep(0.02)


class Rig:
    """Makes environments of one throw-away run."""

    def __init__(self, provider: DockerProvider, folder: Path) -> None:
        self.provider = provider
        self.folder = folder
        self.run = f"test-{secrets.token_hex(4)}"
        self.recorder = Recorder()
        self._number = 0

    def spec(self, *, compose: str | None = None, name: str = "task", **settings: Any) -> EnvironmentSpec:
        """`compose` is the text of a Compose file, `dockerfile` that of a Dockerfile for `main`."""
        self._number += 1
        folder = self.folder / f"env-{self._number}"
        task = folder / "task" / "environment"
        task.mkdir(parents=True)
        dockerfile = settings.pop("dockerfile", None)
        if dockerfile is not None:
            (task / "Dockerfile").write_text(textwrap.dedent(dockerfile))
            settings.setdefault("build_context", task)
            settings.setdefault("content_digest", secrets.token_hex(16))
        if compose is not None:
            (task / "docker-compose.yaml").write_text(textwrap.dedent(compose))
            settings.setdefault("compose_file", task / "docker-compose.yaml")
        if dockerfile is None:
            settings.setdefault("image", BASE_IMAGE)
        defaults: dict[str, Any] = {
            "run": self.run,
            "trial": f"trial-{self._number}",
            "name": name,
            "environment": "agent",
            "trial_folder": folder,
            "log_folder": folder / "logs",
            "task_folder": folder / "task",
            "start_timeout_sec": 30.0,
        }
        return EnvironmentSpec(**{**defaults, **settings})

    @asynccontextmanager
    async def up(self, *, start: bool = True, **settings: Any) -> AsyncIterator[DockerEnvironment]:
        environment = self.provider.environment(self.spec(**settings), self.recorder)
        try:
            if start:
                await environment.start()
            yield environment
        finally:
            with anyio.CancelScope(shield=True):
                left = await environment.down()
            assert left == []

    async def refused(self, **settings: Any) -> Issue:
        """The issue with which a start fails."""
        with pytest.raises(TrialFailed) as failure:
            async with self.up(**settings):
                pass
        return failure.value.issue

    async def containers(self, label: str) -> list[str]:
        told = await self.provider.engine.get("containers/json", all=True, filters=filters(label=[label]))
        return [one["Names"][0] for one in told]
