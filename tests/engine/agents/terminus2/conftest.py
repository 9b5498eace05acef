"""Real environments, as the tests of environments have them."""

from __future__ import annotations

from tests.engine.environments.conftest import anyio_backend, provider, rig

__all__ = ["anyio_backend", "provider", "rig"]
