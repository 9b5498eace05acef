"""The header of the run screen: how far, how well, at what cost, and how the host is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine import events as ev
from engine.readers.reader import Liveness
from screens.widgets.run_header import RunHeader
from tests.screens import fake_run
from tests.screens.deck import append, opened, screen_lines, screen_text, until

pytestmark = pytest.mark.anyio


async def test_the_header_says_how_far_how_well_and_how_the_host_is(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await until(pilot, lambda: "points" in screen_text(app), "the standings are worked out")
        lines = screen_lines(app)
        assert "runs › sonnet against sol" in lines[0]
        assert "terminal-bench 4.0.0 · card 7f3a91c · ● live" in lines[0]
        assert "10 of 24 · 4 running · 10 queued" in lines[1]
        assert "0:25:00 gone" in lines[1] and "≥ $4.1" in lines[1] and " unknown" in lines[1]
        assert "A  sonnet-5.5 " in lines[2] and "2/5 of 12" in lines[2] and "1 unscored" in lines[2]
        assert "3/5 of 12  60.0 %  23–88" in lines[3]
        assert "✗ 1 fatal  ! 1 error  ▵ 2 warnings" in lines[3]
        assert "cpu 71 %  mem 38/64G  disk 212G  nets 19/31" in lines[4]


@pytest.mark.parametrize(
    ("arms", "told"),
    [
        (("terminus2",), "A sonnet-5.5 2/5  B sol-6.1 3/5  C terminus2 0/0"),
        (("goose", "a-long-name"), "A sonnet-… 2/5  B sol-6.1 3/5  C goose 0/0  D a-long-… 0/0"),
        (tuple("abcdef"), "A 2/5  B 3/5  C 0/0  D 0/0  E 0/0  F 0/0  G 0/0  H 0/0"),
    ],
)
async def test_on_a_narrow_screen_every_arm_has_its_count(tmp_path: Path, arms: tuple[str, ...], told: str) -> None:
    planned, *rest = fake_run.story()
    assert isinstance(planned, ev.RunPlanned)
    more = tuple(ev.ArmInfo(name=name, agent="terminus2") for name in arms)
    story = [msgspec.structs.replace(planned, arms=(*planned.arms, *more)), *rest]
    async with opened(tmp_path / "run", story, (80, 24)) as (app, pilot):
        await until(pilot, lambda: told in screen_lines(app)[2].replace(" ✗1", ""), "every arm")
        assert "✗1" in screen_lines(app)[2] and " …" not in screen_lines(app)[2]


async def test_the_difference_is_that_of_the_comparison_screen(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await until(pilot, lambda: "points" in screen_text(app), "the standings are worked out")
        line = screen_lines(app)[2].partition("│ ")[2]
        await pilot.press("c")
        await until(pilot, lambda: "McNemar" in screen_text(app), "the comparison is there")
        compared = next(line for line in screen_lines(app) if "A − B" in line)
        assert line.split()[3] in compared and line.split()[4] == "points"


async def test_before_a_pair_has_finished_no_difference_is_made_up(tmp_path: Path) -> None:
    events = [*fake_run.plan(3), ev.EngineStarted(at=fake_run.START, pid=1, host="x", session=1)]
    async with opened(tmp_path / "run", events) as (app, pilot):
        await until(pilot, lambda: "no pair has finished yet" in screen_text(app))


async def test_case_82_the_header_counts_planned_trials_over_all_sessions(tmp_path: Path) -> None:
    arms = 2
    events = [*fake_run.plan(5), ev.EngineStarted(at=fake_run.START, pid=1, host="x", session=1)]
    trials = [event.trial for event in events if isinstance(event, ev.TrialPlanned)]
    assert len(trials) == 5 * arms
    for number, trial in enumerate(trials[:6]):
        events += [*fake_run.begun(trial, 10), *fake_run.ended(trial, 100, number < 4)]
    events += [
        *fake_run.begun(trials[6], 100),
        ev.TrialInterrupted(at=fake_run.at(200), trial=trials[6], run_number=1, reason="x"),
    ]
    events.append(ev.EngineStarted(at=fake_run.at(300), pid=2, host="x", session=2, resumed=True))
    for number, trial in enumerate(trials[6:]):
        events += [*fake_run.begun(trial, 310), *fake_run.ended(trial, 400, True if number == 0 else None)]
    async with opened(tmp_path / "run", events) as (app, _):
        assert "10 of 10" in screen_lines(app)[1]
        header = app.screen.query_one(RunHeader)
        arms_now = header.state.arms.values()
        assert sum(arm.passed for arm in arms_now) == 5
        assert sum(arm.finished for arm in arms_now) == 10


async def test_case_86_unscored_trials_stay_in_the_denominator(tmp_path: Path) -> None:
    events = [*fake_run.plan(10), ev.EngineStarted(at=fake_run.START, pid=1, host="x", session=1)]
    for number in range(10):
        passed = True if number < 4 else (False if number < 6 else None)
        trial = fake_run.trial_id(number, "sonnet-5.5", 1)
        events += [*fake_run.begun(trial, 10), *fake_run.ended(trial, 100, passed)]
    async with opened(tmp_path / "run", events) as (app, pilot):
        await until(pilot, lambda: "17–69" in screen_text(app), "the standings are worked out")
        line = screen_lines(app)[2]
        assert "4/10 of 10" in line and "40.0 %  17–69" in line and "4 unscored" in line


async def test_a_dead_engine_is_said_with_the_way_on_and_nothing_counts_as_running(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    async with opened(folder, fake_run.story()) as (app, _):
        assert app.source is not None
        app.source._look = lambda reader: None  # type: ignore[method-assign]
        app.source.liveness = Liveness.STALE
        app.screen.run_changed({""})  # type: ignore[attr-defined]
        text = screen_text(app)
        assert "✗ stale since" in text and "4 cut off" in text and "↺ cut off" in text
        assert "trialdeck resume goes on" in text and "running" not in text


async def test_of_a_run_that_nobody_works_on_what_was_cut_off_before_is_not_queued(tmp_path: Path) -> None:
    again = fake_run.story()
    running = next(event.trial for event in reversed(again) if isinstance(event, ev.TrialStarted))
    again.append(ev.TrialInterrupted(at=fake_run.at(1490), trial=running, run_number=1, reason="the engine was gone"))
    async with opened(tmp_path / "run", again) as (app, _):
        assert "3 running · 11 queued" in screen_lines(app)[1]
        assert app.source is not None
        app.source._look = lambda reader: None  # type: ignore[method-assign]
        app.source.liveness = Liveness.STALE
        app.screen.run_changed({""})  # type: ignore[attr-defined]
        assert "4 cut off · 10 queued" in screen_lines(app)[1]


async def test_a_paused_run_foretells_no_end(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        assert "to go" in screen_text(app)
        await append(app, pilot, [ev.RunPaused(at=fake_run.at(1500))])
        await until(pilot, lambda: "‖ paused" in screen_text(app) and "to go" not in screen_text(app))


async def test_an_end_that_nobody_can_foretell_yet_is_a_dash(tmp_path: Path) -> None:
    trial = fake_run.trial_id(0, "sonnet-5.5", 1)
    early = [*fake_run.plan(), ev.EngineStarted(at=fake_run.START, pid=1, host="bench", session=1)]
    async with opened(tmp_path / "run", [*early, *fake_run.begun(trial, 5)]) as (app, _):
        assert "gone · — to go" in screen_text(app)
