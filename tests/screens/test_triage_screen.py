"""Triage through keyboard and mouse: one key decides and goes on, evidence is one key away, nothing leaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.app import TrialDeckApp
from engine import events as ev
from engine.triage.causes import Cause
from engine.triage.labels import Label
from screens.source import RunSource
from screens.triage_desks import desk_of
from screens.triage_screen import TriageScreen
from screens.trial_screen import TrialScreen
from tests.screens import fake_run, fake_triage
from tests.screens.deck import screen_lines, screen_text, until
from tests.screens.fake_triage import (
    BUILD,
    FAILURES,
    OOM,
    OOM_TOO,
    PASSED,
    PLAIN,
    A,
    B,
    by_others,
    causes,
    labels_in,
    settle,
    these_rules,
    triage_opened,
    written,
)

pytestmark = pytest.mark.anyio

SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return fake_triage.write(tmp_path / "run")


# --- what is shown ---


@pytest.mark.parametrize("size", SIZES)
async def test_what_decides_is_on_the_screen_at_every_size(run: Path, size: tuple[int, int]) -> None:
    async with triage_opened(run, size) as (app, _, _screen):
        text = screen_text(app)
        assert "0 of 5 decided" in text and "you: ada" in text
        assert "proposed  ● infrastructure" in text and "strong" in text
        assert "1 ● db container was OOM-killed" in text and "→ db, line 81" in text
        assert "− failed" in text and "3 of 7 tests" in text and "agent 6:18" in text
        assert "81  Killed" in text, "the evidence itself is on the screen"
        assert "? ambiguous" in text and "space agree" in text and "F1 help" in text
        assert all(len(line) <= size[0] for line in screen_lines(app))


async def test_the_most_telling_comes_first_and_passes_without_doubt_never(run: Path) -> None:
    async with triage_opened(run) as (_, _, screen):
        assert screen.walk.current in (OOM, OOM_TOO)
        assert set(screen.walk.order[:2]) == {OOM, OOM_TOO} and screen.walk.order[2] == BUILD
        assert set(screen.walk.order) == set(FAILURES)


async def test_it_opens_at_the_trial_that_it_is_given_even_one_that_passed(run: Path) -> None:
    async with triage_opened(run, trial=PASSED) as (app, pilot, screen):
        assert screen.walk.current == PASSED and "not in the queue" in screen_text(app)
        await pilot.press("g")
        await written(pilot, screen)
    assert causes(run) == [(PASSED, "grader")]


# --- going through the queue ---


async def test_skipped_trials_come_back_when_nothing_else_is_left(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        skipped = screen.walk.current
        await pilot.press("s", "m", "m", "m", "m")
        await written(pilot, screen)
        assert screen.walk.current == skipped and "↷ skipped" in screen_text(app)
        assert "4 of 5 decided" in screen_text(app)


async def test_brackets_go_to_and_fro_and_back_is_where_one_was(run: Path) -> None:
    async with triage_opened(run) as (app, pilot, screen):
        first = screen.walk.current
        await pilot.press("left_square_bracket")
        await settle(pilot)
        assert "this is the first one" in screen_text(app)
        await pilot.press("i", "right_square_bracket")
        await settle(pilot)
        third = screen.walk.current
        await pilot.press("left_square_bracket", "left_square_bracket")
        await settle(pilot)
        assert screen.walk.current == first
        await pilot.press("exclamation_mark", "right_square_bracket", "right_square_bracket")
        await settle(pilot)
        assert screen.walk.current == third and "undecided only" in screen_text(app)


# --- evidence ---


async def test_a_digit_goes_to_the_very_line_of_a_finding(run: Path) -> None:
    async with triage_opened(run, trial=OOM) as (app, pilot, _):
        await pilot.press("3")
        await settle(pilot)
        text = screen_text(app)
        assert "› 3 ○ model: 0 of 11 tests passed" in text
        assert "test-stdout, around line 3" in text and "3  0 passed, 11 failed" in text
        await pilot.press("up")
        await settle(pilot)
        assert "sonnet-5.5, around line 40" in screen_text(app) and "40  connection refused" in screen_text(app)


async def test_one_log_at_a_time_at_eighty_columns_and_tab_shows_the_other(run: Path) -> None:
    async with triage_opened(run, (80, 24), trial=OOM) as (app, pilot, _):
        assert "db, around line 81" in screen_text(app) and "sonnet-5.5, around" not in screen_text(app)
        seen = set()
        for _step in range(3):
            await pilot.press("tab")
            await settle(pilot)
            seen |= {name for name in ("db, around", "sonnet-5.5, around") if name in screen_text(app)}
        assert seen == {"db, around", "sonnet-5.5, around"}


async def test_evidence_outside_of_the_run_leads_nowhere(run: Path) -> None:
    async with triage_opened(run, trial=BUILD) as (app, _, _screen):
        text = screen_text(app)
        assert "could not be built" in text and "passwd" not in text and "root:" not in text


async def test_details_show_all_facts_in_place_of_the_logs(run: Path) -> None:
    async with triage_opened(run, trial=OOM) as (app, pilot, _):
        await pilot.press("d")
        await settle(pilot)
        assert "verdict" in screen_text(app) and "around line" not in screen_text(app)
        await pilot.press("d")
        await settle(pilot)
        assert "around line 81" in screen_text(app)


async def test_details_tell_every_note_in_full(run: Path) -> None:
    by_others(run, OOM, Cause.AGENT, who="bob", note=f"{'long ' * 60}and its end")
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("d", "tab", "end")
        await settle(pilot)
        assert "note of bob" not in screen_text(app)  # nobody is led by others
        screen.desk.label((OOM,), Cause.MODEL, note="[bold]mine")
        await pilot.press("end")
        await settle(pilot)
        text = screen_text(app)
        assert "note of bob, agent" in text and "and its end" in text
        assert "note of ada, model" in text and "   [bold]mine" in text


# --- two people ---


async def test_what_others_decided_is_hidden_until_ones_own_label_is_set(run: Path) -> None:
    by_others(run, OOM, Cause.AGENT, who="bob", note="harness died")
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        assert "bob" not in screen_text(app) and "harness died" not in screen_text(app)
        await pilot.press("i", "left_square_bracket")
        await written(pilot, screen)
        while screen.walk.current != OOM:
            await pilot.press("left_square_bracket")
            await settle(pilot)
        assert "≠ bob: agent" in screen_text(app) and "“harness died”" in screen_text(app)
        await pilot.press("u")
        await written(pilot, screen)
        assert "bob" not in screen_text(app)


async def test_labels_of_another_process_appear_while_one_works(run: Path) -> None:
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("i", "left_square_bracket")
        await written(pilot, screen)
        by_others(run, OOM, Cause.INFRASTRUCTURE, who="bob")
        screen.desk.write_again()  # looks at the file at once
        await until(pilot, lambda: "= bob: infrastructure" in screen_text(app), "the other's label is seen")


# --- hostile text ---


async def test_hostile_labels_of_others_are_shown_as_text(run: Path) -> None:
    by_others(run, OOM, Cause.AGENT, who="[red]bob\x1b[2J", note="[/] \x1b]52;c;AAAA\x07 [@click=app.quit]x[/]")
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("i", "left_square_bracket")
        await written(pilot, screen)
        while screen.walk.current != OOM:
            await pilot.press("left_square_bracket")
            await settle(pilot)
        text = screen_text(app)
        assert "[red]bob" in text and "[@click=app.quit]x[/]" in text
        assert "\x1b" not in text and "\x07" not in text


def test_the_labels_of_the_tests_are_what_the_engine_reads(run: Path) -> None:
    label = by_others(run, OOM, Cause.AGENT, who="bob")
    assert isinstance(label, Label) and labels_in(run) == [label]


# --- going in ---


async def test_enter_opens_the_trial_at_the_line_of_the_finding_and_esc_comes_back(run: Path) -> None:
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("2", "enter")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen))
        await until(pilot, lambda: "40  connection refused" in screen_text(app), "the line is shown")
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen is screen and screen.walk.current == OOM
        assert "› 2 ○" in screen_text(app), "where one was is where one is"


# --- a run that lives ---


async def test_new_failures_join_without_moving_what_is_looked_at(tmp_path: Path) -> None:
    run = tmp_path / "run"
    late = {OOM, PASSED, PLAIN}
    fake_run.write(run, [event for event in fake_triage.story() if not _ends(event, late)], alive=True)
    fake_triage.write_logs(run)
    async with triage_opened(run) as (app, pilot, screen):
        shown = screen.walk.current
        assert "0 of 3 decided" in screen_text(app)
        fake_run.write(run, [event for event in fake_triage.story() if _ends(event, late)], alive=True)
        await until(pilot, lambda: "2 came" in screen_text(app), "they are counted")
        assert screen.walk.current == shown and "0 of 5 decided" in screen_text(app)
        await pilot.press("m", "m", "m")
        await until(pilot, lambda: " came" not in screen_text(app) or "1 came" in screen_text(app))


def _ends(event: object, trials: set[str]) -> bool:
    return isinstance(event, ev.RunFinished) or (
        isinstance(event, ev.TrialFinished | ev.RewardRecorded) and event.trial in trials
    )


async def test_a_trial_that_still_runs_is_not_labelled(tmp_path: Path) -> None:
    run = tmp_path / "run"
    fake_run.write(run, [event for event in fake_triage.story() if not _ends(event, {OOM})], alive=True)
    async with triage_opened(run, trial=OOM) as (app, pilot, screen):
        await pilot.press("m")
        await settle(pilot)
        assert "this trial is not over yet" in screen_text(app) and screen.walk.current == OOM
    assert labels_in(run) == []


async def test_while_no_trial_of_the_queue_is_chosen_yet_nothing_is_said_of_its_end(tmp_path: Path) -> None:
    async with triage_opened(fake_run.write(tmp_path / "run", fake_triage.story())) as (app, pilot, screen):
        screen.walk.current = None
        screen._show_all()
        await pilot.pause()
        assert "reading …" in screen_text(app) and "nothing needs a decision" not in screen_text(app)


async def test_a_run_in_which_all_passed_says_so_when_it_is_read_after_its_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [*fake_run.plan(1), ev.EngineStarted(at=fake_run.START, pid=1, host="bench", session=1)]
    for arm in (A, B):
        trial = fake_run.trial_id(0, arm, 1)
        events += [*fake_run.begun(trial, 0), *fake_run.ended(trial, 400, True, 390.0)]
    run = fake_run.write(tmp_path / "run", fake_run.finish(events, 1500), alive=False)
    app = TrialDeckApp(run, clock=lambda: fake_run.at(2000))
    with these_rules():
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: app.source is not None and app.source.caught_up)
            assert app.source is not None
            read = [False]
            monkeypatch.setattr(
                RunSource, "caught_up", property(lambda _: read[0], lambda _, value: None), raising=False
            )
            screen = TriageScreen(app.source, desk_of(app, app.source))
            await app.push_screen(screen)
            await until(pilot, lambda: screen.desk.ready)
            await settle(pilot)
            assert "reading …" in screen_text(app)
            screen.run_changed({""})
            read[0] = True
            screen.run_changed({""})  # so soon after the last sorting that the next one waits
            await until(pilot, lambda: "nothing needs a decision" in screen_text(app))


async def test_a_run_without_failures_says_so(tmp_path: Path) -> None:
    run = fake_run.write(tmp_path / "run", fake_run.finish(fake_run.plan(1), 1500)[:2], alive=False)
    app = TrialDeckApp(run, clock=lambda: fake_run.at(2000))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.source is not None and app.source.caught_up)
        assert app.source is not None
        screen = TriageScreen(app.source, desk_of(app, app.source))
        await app.push_screen(screen)
        await until(pilot, lambda: "nothing needs a decision" in screen_text(app))
        await pilot.press("i", "space", "full_stop", "n", "u", "s", "1", "tab", "d", "enter", "w", "asterisk")
        await settle(pilot)
        assert app.screen is screen and labels_in(run) == []
