"""Running a trial again from its label: only as the card allows, asked first, nothing started unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.runs.card import RetryPolicy
from engine.triage.causes import Cause
from screens.question_screen import QuestionScreen
from tests.screens import fake_triage
from tests.screens.deck import screen_text, until
from tests.screens.fake_triage import OOM, by_others, labels_in, settle, triage_opened, written

pytestmark = pytest.mark.anyio


class Card:
    """A run card of which only the policy is asked."""

    def __init__(self, *causes: Cause) -> None:
        self.retries = RetryPolicy(causes=tuple(causes), most=1, redo_verdicts=tuple(causes))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return fake_triage.write(tmp_path / "run")


async def test_what_is_not_decided_or_disputed_is_not_run_again(run: Path) -> None:
    by_others(run, OOM, Cause.MODEL, who="bob")
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("r")
        await until(pilot, lambda: "decide its cause first" in screen_text(app))
        screen.desk.label((OOM,), Cause.INFRASTRUCTURE)
        await pilot.press("r")
        await until(pilot, lambda: "people disagree about its cause" in screen_text(app))


async def test_the_card_says_which_causes_run_again(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screens.triage_rerun.read_card", lambda folder: Card(Cause.PROVIDER))
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        screen.desk.label((OOM,), Cause.INFRASTRUCTURE)
        await pilot.press("r")
        await until(pilot, lambda: "it can't run again: its cause is infrastructure" in screen_text(app))


async def test_of_a_run_that_is_over_the_command_is_copied(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screens.triage_rerun.read_card", lambda folder: Card(Cause.INFRASTRUCTURE))
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        screen.desk.label((OOM,), Cause.INFRASTRUCTURE)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        assert "Run 1 trial again, all arms alike?" in screen_text(app)
        await pilot.press("y")
        await until(pilot, lambda: "✓ copied" in screen_text(app))
        assert app.clipboard == f"trialdeck rerun {run} {OOM}"
        await written(pilot, screen)
        await settle(pilot)
    assert [label.kind for label in labels_in(run)] == ["label"]


async def test_blind_it_is_asked_before_the_command_names_the_arm(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("screens.triage_rerun.read_card", lambda folder: Card(Cause.INFRASTRUCTURE))
    async with triage_opened(run, blind=True) as (app, pilot, screen):
        trial = screen.walk.current
        assert trial is not None
        screen.desk.label((trial,), Cause.INFRASTRUCTURE, blind=True)
        for answer in ("escape", "y"):
            await pilot.press("r")
            await until(pilot, lambda: "again, all arms alike?" in screen_text(app))
            await pilot.press("y")
            await until(pilot, lambda: "The command names the trial's arm" in screen_text(app))
            assert not app.clipboard
            await pilot.press(answer)
            await until(pilot, lambda: app.screen is screen)
        await until(pilot, lambda: "✓ copied" in screen_text(app))
        assert app.clipboard.endswith(trial) and trial in screen.desk.seen_by_name


async def test_a_card_that_cannot_be_read_is_said(run: Path) -> None:
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        screen.desk.label((OOM,), Cause.INFRASTRUCTURE)
        await pilot.press("r")
        await until(pilot, lambda: "! it can't run again: " in screen_text(app) and "card.toml" in screen_text(app))
