"""Blind mode: nothing on the screen says which arm a trial belongs to, and labels say that they are blind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine import events as ev
from engine.state import RunState
from engine.triage.causes import Cause
from engine.trial_state import EarlierRun, TrialState
from screens.question_screen import QuestionScreen
from screens.triage_blindfold import Cover
from screens.triage_screen import TriageScreen
from screens.trial_facts import facts
from screens.widgets import log_taking
from screens.widgets.log_page import LogPage
from tests.screens import fake_triage
from tests.screens.deck import screen_text, until
from tests.screens.fake_triage import FAILURES, OOM, by_others, labels_in, settle, triage_opened, written

pytestmark = pytest.mark.anyio

TELLING = ("sonnet-5.5", "sol-6.1", "terminus2", "sonnet 5.5", "$0.31", "1.2K in")
"""Names of both arms, their agent and models; prices and tokens, by which models are known."""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return fake_triage.write(tmp_path / "run")


def leaks(text: str) -> list[str]:
    return [word for word in (*TELLING, *FAILURES) if word in text]


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_no_trial_gives_its_arm_away(run: Path, size: tuple[int, int]) -> None:
    for trial in FAILURES:
        by_others(run, trial, Cause.AGENT, who="bob", note="sonnet-5.5 did it, sol-6.1 would not")
    async with triage_opened(run, size, blind=True) as (app, pilot, screen):
        seen = set()
        for _ in FAILURES:
            for keys in (("2",), ("tab",), ("d",), ("d", "i")):
                assert leaks(screen_text(app)) == [], keys
                seen.add(screen.walk.current)
                await pilot.press(*keys)
                await settle(pilot)
        await written(pilot, screen)
        assert seen >= set(FAILURES)
        for _ in FAILURES:  # once more, with what others said
            assert leaks(screen_text(app)) == []
            await pilot.press("left_square_bracket")
            await settle(pilot)
        assert "▒▒▒ did it" in screen_text(app)
    assert all(label.blind for label in labels_in(run) if label.who == "ada")


async def test_questions_marks_and_undo_name_no_arm_either(run: Path) -> None:
    async with triage_opened(run, blind=True) as (app, pilot, screen):
        await pilot.press("asterisk", "right_square_bracket", "asterisk", "m")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        assert leaks(screen_text(app)) == [] and "case" in screen_text(app)
        await pilot.press("y", "u")
        await written(pilot, screen)
        assert leaks(screen_text(app)) == [] and "took back" in screen_text(app)


async def test_the_order_is_that_of_the_case_numbers(run: Path) -> None:
    async with triage_opened(run, blind=True) as (app, _, screen):
        numbers = [screen.walk.items[trial].case for trial in screen.walk.order]
        assert numbers == sorted(numbers) and len(numbers) == 5
        assert "mixed" in screen_text(app) and "blind" in screen_text(app)


async def test_it_says_once_that_logs_are_shown_as_they_are(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, _):
        assert "logs are shown as they are" not in screen_text(app)
        await pilot.press("B")
        await settle(pilot)
        assert "logs are shown as they are" in screen_text(app)
        await pilot.press("m")
        await settle(pilot)
        assert "logs are shown as they are" not in screen_text(app)


async def test_a_trial_seen_by_name_is_not_labelled_blind_and_it_is_said(run: Path) -> None:
    async with triage_opened(run, size=(200, 60)) as (app, pilot, screen):
        named = screen.walk.current
        await pilot.press("B")
        await settle(pilot)
        assert screen.walk.current == named and "its label will not count as blind" in screen_text(app)
        await pilot.press("i", "m")
        await written(pilot, screen)
    first, second = labels_in(run)
    assert first.trial == named and not first.blind and second.blind


async def test_left_blind_it_is_blind_when_it_is_opened_again(run: Path) -> None:
    """Whoever began blind and looked at something else labels both sides alike to the end."""
    async with triage_opened(run, blind=True) as (app, pilot, screen):
        await pilot.press("escape", "t")
        await until(pilot, lambda: isinstance(app.screen, TriageScreen) and app.screen is not screen)
        await settle(pilot)
        assert "blind" in screen_text(app) and leaks(screen_text(app)) == []
        await pilot.press("B", "escape", "t")
        await settle(pilot)
        assert "· blind ·" not in screen_text(app)


async def test_opening_the_trials_own_screen_is_asked_first(run: Path) -> None:
    async with triage_opened(run, blind=True) as (app, pilot, screen):
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        assert "will not count as blind" in screen_text(app) and leaks(screen_text(app)) == []
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen is screen
        await pilot.press("m")
        await written(pilot, screen)
    assert [label.blind for label in labels_in(run)] == [True]


@pytest.mark.parametrize(("keys", "what"), [("o", "pager"), ("O", "editor"), ("cp", "path"), ("cc", "command")])
async def test_before_the_path_of_a_log_is_given_away_it_is_asked(
    run: Path, monkeypatch: pytest.MonkeyPatch, keys: str, what: str
) -> None:
    """A trial's folder is called after its arm."""
    given: list[str] = []

    def shown(app: object, command: Sequence[str]) -> str:
        given.append(" ".join(command))
        return ""

    monkeypatch.setattr(log_taking, "run_outside", shown)
    async with triage_opened(run, blind=True) as (app, pilot, screen):
        monkeypatch.setattr(app, "copy_to_clipboard", given.append)
        trial = screen.walk.current
        await pilot.press("tab")
        await until(pilot, lambda: isinstance(app.focused, LogPage))
        for agreed in (False, True):
            await pilot.press(keys[0])
            if keys[1:]:
                await until(pilot, lambda: isinstance(app.screen, QuestionScreen), "what is to be copied")
                await pilot.press(keys[1])
                await until(pilot, lambda: "names the trial" in screen_text(app), "it is asked")
            await until(pilot, lambda: isinstance(app.screen, QuestionScreen), "it is asked")
            assert "will not count as blind" in screen_text(app) and not given
            await pilot.press("y" if agreed else "escape")
            await until(pilot, lambda: app.screen is screen)
            await settle(pilot)
            assert bool(given) is agreed and (trial in screen.desk.seen_by_name) is agreed
        assert trial is not None and trial in given[0]
        await pilot.press(keys[0], *keys[1:])
        await until(pilot, lambda: len(given) == 2, "whoever has seen it is not asked again")
        await pilot.press("m")
        await written(pilot, screen)
    assert [label.blind for label in labels_in(run)] == [False]


async def test_named_a_logs_path_is_given_without_a_question(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    async with triage_opened(run) as (app, pilot, screen):
        monkeypatch.setattr(app, "copy_to_clipboard", given.append)
        await pilot.press("tab")
        await until(pilot, lambda: isinstance(app.focused, LogPage))
        await pilot.press("c", "p")
        await until(pilot, lambda: bool(given) and app.screen is screen)


def test_off_it_changes_nothing() -> None:
    state = RunState()
    state.apply_all(fake_triage.story())
    cover = Cover(state)
    assert cover.text(f"{OOM} of sonnet-5.5") == f"{OOM} of sonnet-5.5"
    assert cover.trial(state.trials[OOM]) is state.trials[OOM]
    cover.on = True
    assert "sonnet" not in cover.text(f"{OOM} of sonnet-5.5")
    assert cover.trial(state.trials[OOM]).cost_usd is None


def test_every_price_and_every_count_of_tokens_is_hidden() -> None:
    """Models are known by them, whatever kind of tokens they are counted in, and by what an earlier run cost."""
    state = RunState()
    state.apply_all(fake_triage.story())
    cover = Cover(state)
    cover.on = True
    telling = [name for name in TrialState.__struct_fields__ if "cost" in name or "tokens" in name]
    given: dict[str, Any] = dict.fromkeys(telling, 1)
    earlier = EarlierRun(run_number=1, state="failed", reason="sonnet-5.5 went", folder="x", cost_usd=2.0)
    shown = cover.trial(msgspec.structs.replace(state.trials[OOM], **given, earlier=[earlier]))
    assert not [name for name in telling if getattr(shown, name)]
    assert (shown.earlier[0].cost_usd, shown.earlier[0].folder) == (None, "") and "sonnet" not in shown.earlier[
        0
    ].reason
    text = "".join(piece for line in facts(shown, 120) for pieces in line for piece, _ in pieces)
    assert "cost       ▒▒▒" in text and "tokens     ▒▒▒" in text and "unknown" not in text


def test_arms_that_are_planned_later_are_hidden_too() -> None:
    state = RunState()
    cover = Cover(state)
    cover.on = True
    assert cover.text("sonnet-5.5") == "sonnet-5.5"
    state.apply_all(event for event in fake_triage.story() if isinstance(event, ev.RunPlanned | ev.TrialPlanned))
    assert "sonnet" not in cover.text("sonnet-5.5")
