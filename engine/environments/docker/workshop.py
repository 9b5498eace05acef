"""What all environments of one provider share."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.abc

from engine.environments.docker.build import Builds
from engine.environments.docker.daemon_events import DaemonEvents
from engine.environments.docker.engine_api import Engine
from engine.environments.docker.locality import Locality
from engine.environments.docker.neighbours import Neighbours
from engine.environments.docker.pull import Images
from engine.environments.docker.samples import Sampler


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """`tasks` owns every background task; `starts` bounds how many projects start at the same time, since the daemon
    gains nothing from more."""

    engine: Engine
    tasks: anyio.abc.TaskGroup
    events: DaemonEvents
    sampler: Sampler
    builds: Builds
    images: Images
    starts: anyio.CapacityLimiter
    neighbours: Neighbours
    locality: Locality

    def in_background(self, work: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        """Start what only tells or records. A fault in it goes to the engine's log and ends no trial."""
        self.tasks.start_soon(_guarded, work, arguments)


async def _guarded(work: Callable[..., Awaitable[None]], arguments: tuple[Any, ...]) -> None:
    try:
        await work(*arguments)
    except Exception:
        traceback.print_exc()
