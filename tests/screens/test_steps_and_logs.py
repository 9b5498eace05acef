"""From a step of a session to the logs at that time."""

from __future__ import annotations

from pathlib import Path

import pytest

from screens.widgets.merged_log import MergedLogView
from tests.screens.fake_trial import SIMPLE
from tests.screens.test_trial_tabs import opened, settle, steps_of, with_session

pytestmark = pytest.mark.anyio


async def test_where_the_agents_log_tells_no_time_a_step_leads_to_all_logs_by_time(tmp_path: Path) -> None:
    folder = with_session(tmp_path / "run")
    (folder / SIMPLE / "agent" / "terminus2.txt").write_text("no time\n" * 50)
    async with opened(folder) as (_, pilot, screen):
        await pilot.press("n", "n")
        step = steps_of(screen).step
        assert step is not None and step.at is not None
        await pilot.press("l")
        await settle(pilot)
        view = screen.view
        assert isinstance(view, MergedLogView)
        line = view.log_window.reader.line_at(view.here)
        assert line is not None
        told = view.times().of_line(view.log_window.reader, line)
        last = view.times().last(view.log_window.reader)
        assert told is not None and last is not None
        assert told >= step.at.timestamp() or told == last[1]
        await pilot.press("escape")
        await settle(pilot)
        assert steps_of(screen).step == step
