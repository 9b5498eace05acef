"""The screens of triage as they were looked at, at three sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.triage.causes import Cause
from tests.screens import fake_triage
from tests.screens.fake_triage import OOM, OOM_TOO, by_others, settle, triage_opened, written
from tests.screens.looks import SIZES, looks_as_kept, size_name

pytestmark = pytest.mark.anyio

CASES: dict[str, tuple[tuple[str, ...], bool]] = {
    "triage": ((), False),
    "triage-decided": (("i", "left_square_bracket"), False),
    "triage-blind": (("2",), True),
    "triage-disagreements": (("i", "D"), False),
    "triage-summary": (("i", "S"), False),
}


@pytest.mark.parametrize("size", SIZES, ids=size_name)
@pytest.mark.parametrize("case", CASES)
async def test_triage_looks_as_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, size: tuple[int, int]
) -> None:
    keys, blind = CASES[case]
    monkeypatch.chdir(tmp_path)
    run = fake_triage.write(Path("run"))
    by_others(run, OOM, Cause.AGENT, who="bob", note="the harness hung")
    by_others(run, OOM_TOO, Cause.INFRASTRUCTURE, who="bob")
    async with triage_opened(run, size, trial=OOM, blind=blind) as (_, pilot, screen):
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
        await written(pilot, screen)
        await settle(pilot)
        await looks_as_kept(pilot, f"{case}-{size_name(size)}")
