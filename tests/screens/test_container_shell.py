"""A shell is offered only where one can be had, and asked about where several can."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from engine import events as ev
from screens.question_screen import QuestionScreen
from screens.trial_screen import TrialScreen
from tests.screens import fake_trial
from tests.screens.deck import read_and_painted, until
from tests.screens.fake_run import at
from tests.screens.fake_trial import TRIAL
from tests.screens.test_trial_screen import settle, trial_opened

pytestmark = pytest.mark.anyio


async def test_of_several_services_one_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[list[str]] = []

    def outside(app: object, command: Sequence[str]) -> str:
        entered.append(list(command))
        return ""

    monkeypatch.setattr("screens.container_shell.run_outside", outside)
    async with trial_opened(fake_trial.write(tmp_path / "run"), size=(120, 40)) as (app, pilot, screen):
        trial = screen.trial
        assert trial is not None and app.source is not None
        await until(pilot, lambda: read_and_painted(app))
        for service, state, container in (
            ("main", "running", "0a1b2c"),
            ("db", "healthy", "--rm"),
            ("gone", "exited", "9"),
        ):
            app.source.state.apply(
                ev.ServiceChanged(at=at(13_260), trial=TRIAL, service=service, state=state, container=container)
            )
        monkeypatch.setattr(type(app.source), "live", property(lambda self: True))
        await pilot.press("S")
        await settle(pilot)
        assert isinstance(app.screen, QuestionScreen)
        assert [answer.value for answer in app.screen.answers] == ["main", "db"]
        await pilot.press("1")
        await settle(pilot)
        assert [command[:4] for command in entered] == [["docker", "exec", "-it", "0a1b2c"]]
        await pilot.press("S")
        await settle(pilot)
        await pilot.press("2")  # what the events call its container is none
        await settle(pilot)
        assert len(entered) == 1 and isinstance(app.screen, TrialScreen)


async def test_where_nothing_runs_nothing_is_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with trial_opened(fake_trial.write(tmp_path / "run")) as (app, pilot, _screen):
        await pilot.press("S")
        await settle(pilot)
        assert not isinstance(app.screen, QuestionScreen)
        said = [note.message for note in app._notifications]
        assert said == ["no container of this trial runs on this host's engine"]
        monkeypatch.setattr(type(app.source), "live", property(lambda self: False))
        await pilot.press("S")
        await settle(pilot)
        assert "nothing of this trial runs any more" in [note.message for note in app._notifications]


async def test_what_was_kept_up_is_entered_after_the_run_and_one_that_has_gone_since_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--keep failed` keeps it for this."""
    ends = iter(["", "docker ended with exit code 1"])
    entered: list[str] = []

    def outside(app: object, command: Sequence[str]) -> str:
        entered.append(command[3])
        return next(ends)

    monkeypatch.setattr("screens.container_shell.run_outside", outside)
    async with trial_opened(fake_trial.write(tmp_path / "run")) as (app, pilot, _screen):
        await until(pilot, lambda: read_and_painted(app))
        assert app.source is not None
        app.source.state.apply_all(
            [
                ev.ServiceChanged(at=at(13_260), trial=TRIAL, service="main", state="running", container="0a1b2c"),
                ev.TrialFinished(at=at(13_270), trial=TRIAL, outcome="scored", reward=0.0, passed=False, kept=True),
            ]
        )
        monkeypatch.setattr(type(app.source), "live", property(lambda self: False))
        await pilot.press("S")
        await settle(pilot)
        assert entered == ["0a1b2c"] and not app._notifications
        await pilot.press("S")
        await settle(pilot)
        assert [note.message for note in app._notifications] == [
            "main: docker ended with exit code 1: is its container still up?"
        ]
