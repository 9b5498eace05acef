"""Recordings that other systems keep among a trial's logs: they play, and no tab shows them as text."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from screens.widgets.cast_view import CastView
from screens.widgets.log_view import LogView
from tests.screens import casts
from tests.screens.deck import screen_text
from tests.screens.test_trial_tabs import opened, settle
from tests.shared_data import shared_data

pytestmark = pytest.mark.anyio


async def test_a_recording_among_the_logs_of_a_harbor_trial_plays_in_its_tab(tmp_path: Path) -> None:
    job = tmp_path / "job"
    shutil.copytree(shared_data("harbor-jobs", "finished"), job)
    trial = next(job.glob("hello__*"))
    recording = casts.version_3(trial / "agent" / "recording.cast")
    (trial / "agent" / "broken.cast").write_text("no recording\n")
    async with opened(job, trial.name) as (app, pilot, screen):
        await settle(pilot)
        assert [log.label for log in screen.logs if log.kind == "agent"] == ["oracle", "broken.cast"]
        assert isinstance(screen.view, LogView) and screen.view.path.name == "oracle.txt"
        keys = screen.pages.keys
        assert len(keys) == len(set(keys))
        assert isinstance(screen.open_page(str(recording)), CastView)
        await settle(pilot)
        assert "$ make" in screen_text(app)
        screen.open_log_at(recording, 2)
        assert isinstance(screen.view, CastView)
        assert len(screen.pages.keys) == len(keys)
