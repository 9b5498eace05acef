from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from tests.screens import fake_run
from tests.screens.deck import opened, screen_text

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_no_state_of_a_trial_is_cut(size: tuple[int, int], tmp_path: Path) -> None:
    story = fake_run.story()
    running = next(event.trial for event in story if isinstance(event, ev.TrialStarted))
    story.append(ev.TrialInterrupted(at=fake_run.at(1490), trial=running, run_number=1, reason="the engine was gone"))
    async with opened(tmp_path / "run", story, size=size) as (app, _):
        assert "↺ interrupted  " in screen_text(app)
