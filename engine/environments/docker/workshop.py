"""What all environments of one provider share."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
import anyio.abc

from engine.environments.docker.build import Builds
from engine.environments.docker.daemon_events import DaemonEvents
from engine.environments.docker.engine_api import Engine
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
