"""Real environments, as the tests of environments have them; and an agent at a bench."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.agents.terminus2.bench import Bench
from tests.engine.environments.conftest import anyio_backend, provider, rig

__all__ = ["anyio_backend", "bench", "provider", "rig"]


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Bench]:
    return lambda *said, **given: Bench(tmp_path, *said, **given)
