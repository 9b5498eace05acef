"""Is the daemon on this host, so that it sees the same files?"""

from __future__ import annotations

import msgspec

from engine.environments.docker.endpoint import is_here
from engine.environments.docker.engine_api import Engine
from engine.environments.environment import EnvironmentSpec


class Locality:
    """Asks the daemon once, when somebody first wants to know."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._here: bool | None = None

    async def here(self) -> bool:
        """Raises EngineCallFailed."""
        if self._here is None:
            self._here = is_here(self._engine.endpoint, await self._engine.get("info"))
        return self._here

    async def fit(self, spec: EnvironmentSpec) -> EnvironmentSpec:
        """Without its mounts where the daemon wouldn't find them. Raises EngineCallFailed."""
        if not (spec.bind or spec.bind_read_only) or await self.here():
            return spec
        return msgspec.structs.replace(spec, bind={}, bind_read_only={})
