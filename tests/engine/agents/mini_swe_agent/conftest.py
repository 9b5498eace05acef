"""Real environments and real capsules."""

from __future__ import annotations

from tests.engine.agents.capsules.real import built_capsules
from tests.engine.environments.conftest import anyio_backend, provider, rig

__all__ = ["anyio_backend", "built_capsules", "provider", "rig"]
