"""Values of the host's variables lie in no file of the run folder, however a start ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from engine.environments.docker import compose
from engine.environments.docker.compose import render
from engine.environments.docker.project import without_values


@pytest.mark.anyio
async def test_a_cancelled_merge_leaves_no_definition_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stands_still(*_: Any, **__: Any) -> None:
        assert "hunter2" in (tmp_path / "logs" / "compose.base.json").read_text()
        scope.cancel()
        await anyio.sleep_forever()

    monkeypatch.setattr(compose, "run_tool", stands_still)
    monkeypatch.setattr(compose, "plugin", lambda name: (name,))
    base = {"services": {"main": {"environment": {"KEY": "hunter2"}}}}
    with anyio.CancelScope() as scope:
        await render(base, tmp_path / "docker-compose.yaml", "p", {}, tmp_path / "logs" / "compose.log")
    assert [path.name for path in (tmp_path / "logs").iterdir()] == []


def test_a_value_that_begins_with_another_is_named_whole() -> None:
    told = json.dumps({"A": "secret-and-more", "B": "secret", "C": 'a$$b"c'})
    named = without_values(told, {"SHORT": "secret", "LONG": "secret-and-more", "ODD": 'a$b"c'})
    assert json.loads(named) == {"A": "${LONG}", "B": "${SHORT}", "C": "${ODD}"}
