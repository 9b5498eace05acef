"""The run screen as plain text at three sizes, against files that a person has looked at.

After a wanted change: run this file with TRIALDECK_NEW_DUMPS=1, and look at what git shows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.screens import fake_run
from tests.screens.deck import opened, screen_text, until

pytestmark = pytest.mark.anyio
DUMPS = Path(__file__).parent / "dumps"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def same(name: str, text: str) -> bool:
    path = DUMPS / f"{name}.txt"
    return path.is_file() and path.read_text(encoding="utf-8") == text + "\n"


@pytest.mark.parametrize(
    ("size", "keys"),
    [
        ((80, 24), ()),
        ((120, 40), ()),
        ((200, 60), ()),
        ((120, 40), ("exclamation_mark", "g", "g")),
        ((80, 24), ("question_mark",)),
        ((120, 40), ("question_mark",)),
        ((200, 60), ("question_mark",)),
        *((size, ("slash", "h", "e", "a", "enter", "M")) for size in ((80, 24), (120, 40), (200, 60))),
        *((size, ("slash", "slash", "left_parenthesis", "enter", "s")) for size in ((80, 24), (120, 40))),
    ],
)
async def test_the_run_screen_looks_as_it_was_looked_at(
    tmp_path: Path, size: tuple[int, int], keys: tuple[str, ...]
) -> None:
    name = "-".join(["run", f"{size[0]}x{size[1]}", *keys])
    async with opened(tmp_path / "run", fake_run.story(), size) as (app, pilot):
        await pilot.press(*keys)
        if os.environ.get("TRIALDECK_NEW_DUMPS"):
            await pilot.pause(0.5)
            DUMPS.mkdir(exist_ok=True)
            (DUMPS / f"{name}.txt").write_text(screen_text(app) + "\n", encoding="utf-8")
        await until(pilot, lambda: same(name, screen_text(app)), f"the same as {name}.txt")
