"""The screens of triage as they were looked at, at three sizes. `UPDATE_DUMPS=1` writes the dumps anew; look at the
difference before keeping it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.triage.causes import Cause
from tests.screens import fake_triage
from tests.screens.deck import screen_text
from tests.screens.fake_triage import OOM, OOM_TOO, by_others, settle, triage_opened, written

pytestmark = pytest.mark.anyio

DUMPS = Path(__file__).parent / "dumps"
SIZES = [(80, 24), (120, 40), (200, 60)]
CASES: dict[str, tuple[tuple[str, ...], bool]] = {
    "triage": ((), False),
    "triage-decided": (("i", "left_square_bracket"), False),
    "triage-blind": (("2",), True),
    "triage-disagreements": (("i", "D"), False),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("case", CASES)
async def test_triage_looks_as_it_did(tmp_path: Path, case: str, size: tuple[int, int]) -> None:
    keys, blind = CASES[case]
    run = fake_triage.write(tmp_path / "run")
    by_others(run, OOM, Cause.AGENT, who="bob", note="the harness hung")
    by_others(run, OOM_TOO, Cause.INFRASTRUCTURE, who="bob")
    async with triage_opened(run, size, trial=OOM, blind=blind) as (app, pilot, screen):
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
        await written(pilot, screen)
        await settle(pilot)
        seen = screen_text(app) + "\n"
    path = DUMPS / f"{case}-{size[0]}x{size[1]}.txt"
    if os.environ.get("UPDATE_DUMPS"):
        path.write_text(seen, encoding="utf-8")
    assert seen == path.read_text(encoding="utf-8")
