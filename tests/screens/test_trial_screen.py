"""The trial screen through keyboard and mouse: what it shows, where it leads, what it never lets through."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import TrialDeckApp
from engine import events as ev
from engine.issues import Phase
from screens.run_screen import RunScreen
from screens.trial_screen import TrialScreen
from screens.widgets.issue_list import IssueList
from screens.widgets.log_tabs import LogTabs
from screens.widgets.log_view import LogView
from tests.screens import fake_run, fake_trial
from tests.screens.deck import read_and_painted, screen_lines, screen_text, until
from tests.screens.fake_run import at
from tests.screens.fake_trial import STEPS, TRIAL
from tests.screens.trial_waiting import trial_shown

pytestmark = pytest.mark.anyio

SIZES = [(80, 24), (120, 40), (200, 60)]


@asynccontextmanager
async def trial_opened(
    folder: Path, trial: str = TRIAL, size: tuple[int, int] = (120, 40), order: tuple[str, ...] = ()
) -> AsyncIterator[tuple[TrialDeckApp, Pilot[Any], TrialScreen]]:
    app = TrialDeckApp(folder, clock=lambda: at(13_251))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: read_and_painted(app), "the run is read")
        assert app.source is not None
        screen = TrialScreen(app.source, trial, order)
        await app.push_screen(screen)
        await trial_shown(pilot, screen)
        await settle(pilot)
        yield app, pilot, screen


async def settle(pilot: Pilot[Any]) -> None:
    await pilot.app.workers.wait_for_complete()
    for _ in range(3):
        await pilot.pause()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return fake_trial.write(tmp_path / "run")


@pytest.mark.parametrize("size", SIZES)
async def test_what_decides_is_on_the_screen_at_every_size(run: Path, size: tuple[int, int]) -> None:
    async with trial_opened(run, size=size) as (app, _, _screen):
        text = screen_text(app)
        lines = screen_lines(app)
        assert "live-database-cutover" in lines[0] and lines[0].rstrip().endswith("● collect  3:40:41")
        assert "prepare 0:31" in text and "agent 3:38:38" in text and "collect 0:51" in text and "cleanup" in text
        assert "hook 2/3 · agent exit 0 · files +12 ~4 −1 · 214 steps" in text
        assert "! artifact_collect_failed" in text and "→ hooks, line 2" in text
        assert "▵ killed_cause_unknown" in text and "→ main, line 3" in text
        assert "1 terminus2" in text and "2 main" in text and "3 db" in text and "4 hooks" in text
        assert "select count(*) from orders_59" in text
        assert "follow · no wrap" in text
        if size[0] == 200:
            assert "12 added, 4 changed, 1 deleted" in text and "missing" in text


async def test_bars_go_by_time_and_every_line_fits(run: Path) -> None:
    for size in SIZES:
        async with trial_opened(run, size=size) as (app, _, _screen):
            assert all(len(line) <= size[0] for line in screen_lines(app))
            bars = next(line for line in screen_lines(app) if line.strip().startswith("━"))
            prepare, agent = (len(part) for part in bars.split()[:2])
            assert agent > 2 * prepare


async def test_steps_stand_above_their_phases(run: Path) -> None:
    async with trial_opened(run, STEPS) as (app, _, _screen):
        lines = screen_lines(app)
        steps = next(line for line in lines if "schema" in line and "backfill" in line and "cutover" in line)
        phases = lines[lines.index(steps) + 1]
        assert "agent 4:00" in phases and "✗ v" in phases
        assert phases.index("agent 4:00") == steps.index("backfill")


async def test_enter_on_an_issue_goes_to_the_line_where_its_evidence_was_found(run: Path) -> None:
    async with trial_opened(run) as (app, pilot, screen):
        await pilot.press("i", "enter")
        await settle(pilot)
        view = screen.view
        assert isinstance(view, LogView) and view.path.name == "hooks.log"
        line = view.log_window.reader.numbered(2)
        assert line is not None and view.here == line.start
        assert "[4 hooks]" in screen_text(app)


async def test_space_shows_the_evidence_itself(run: Path) -> None:
    async with trial_opened(run) as (app, pilot, screen):
        await pilot.press("i", "space")
        await pilot.pause()
        assert 'output  pg_dump: error: no such table "orders"' in screen_text(app)
        assert "> /out/shop.dump" in screen_text(app)
        await pilot.press("space")
        await pilot.pause()
        assert len(screen.query_one(IssueList).keys) == 2


async def test_numbers_commas_and_the_mouse_open_logs(run: Path) -> None:
    async with trial_opened(run) as (app, pilot, screen):
        await pilot.press("3")
        await settle(pilot)
        assert "[3 db]" in screen_text(app) and "wrote 59 buffers" in screen_text(app)
        await pilot.press("full_stop")
        await settle(pilot)
        assert "[4 hooks]" in screen_text(app)
        tabs = screen.query_one(LogTabs)
        line = screen_lines(app)[tabs.region.y]
        await pilot.click(LogTabs, offset=(line.index("2 main") + 3, 0))
        await settle(pilot)
        assert "[2 main]" in screen_text(app)
        await pilot.press("0")
        await settle(pilot)
        assert "artifacts  missing          db:/out/shop.dump" in screen_text(app)
        assert "hooks      1/3 db  exit 3" in screen_text(app)


async def test_a_log_keeps_its_place_while_others_are_looked_at(run: Path) -> None:
    async with trial_opened(run) as (app, pilot, _screen):
        await pilot.press("g", "w")
        await settle(pilot)
        assert "orders_0'" in screen_text(app) and "follow off · wrap" in screen_text(app)
        await pilot.press("3", "1")
        await settle(pilot)
        assert "orders_0'" in screen_text(app) and "follow off · wrap" in screen_text(app)


async def test_logs_that_appear_while_it_lives_appear_by_themselves(run: Path) -> None:
    async with trial_opened(run) as (app, pilot, screen):
        verifier = run / TRIAL / "verifier" / "test-stdout.txt"
        verifier.parent.mkdir()
        verifier.write_text("collected 7 items\n")
        screen.clock_ticked(at(13_252))
        assert "test-stdout" in screen_text(app) or await appears(pilot, app, "test-stdout")
        assert "[1 terminus2" in screen_text(app)


async def appears(pilot: Pilot[Any], app: TrialDeckApp, text: str) -> bool:
    await until(pilot, lambda: text in screen_text(app), f"{text} appears")
    return True


async def test_the_search_is_asked_for_from_anywhere_and_escape_ends_it_before_it_leaves(run: Path) -> None:
    async with trial_opened(run) as (app, pilot, screen):
        await pilot.press("i", "slash")
        await pilot.pause()
        await pilot.press(*"orders_1", "enter")
        await settle(pilot)
        assert "/orders_1 1 of 11" in screen_text(app) or "/orders_1 11 of 11" in screen_text(app)
        await pilot.press("n")
        await settle(pilot)
        assert "of 11" in screen_text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(screen.view, LogView) and screen.view.search is None
        assert app.screen is screen
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, RunScreen)


async def test_the_next_trial_is_the_next_of_the_order_given(run: Path) -> None:
    async with trial_opened(run, order=(TRIAL, "gone", STEPS)) as (app, pilot, screen):
        await pilot.press("right_square_bracket")
        await settle(pilot)
        assert screen.trial_id == STEPS and "redis-leaderboard" in screen_lines(app)[0]
        await pilot.press("right_square_bracket")
        await settle(pilot)
        assert screen.trial_id == TRIAL and "orders_59" in screen_text(app)


async def test_what_happens_to_the_trial_is_seen(run: Path) -> None:
    async with trial_opened(run) as (app, pilot, _screen):
        fake_run.write(
            run,
            [
                ev.PhaseFinished(at=at(13_251), trial=TRIAL, phase=Phase.COLLECT, seconds=52.0, ok=False),
                ev.RewardRecorded(at=at(13_252), trial=TRIAL, reward=0.0, tests_passed=3, tests_total=7),
                ev.TrialFinished(
                    at=at(13_253), trial=TRIAL, outcome="scored", reward=0.0, passed=False, seconds=13_243.0
                ),
            ],
        )
        await until(pilot, lambda: "− failed  3:40:43" in screen_text(app), "the verdict is painted")
        assert "reward 0.00 · 3 of 7 tests" in screen_text(app)
        assert "✗ collect 0:52" in screen_text(app)


@pytest.mark.parametrize("size", [*SIZES, (40, 10)])
async def test_hostile_text_reaches_no_strip_and_is_no_markup(tmp_path: Path, size: tuple[int, int]) -> None:
    trial = fake_run.trial_id(0, "sonnet-5.5", 1)
    folder = tmp_path / "run"
    fake_run.write(
        folder,
        [
            *fake_run.plan(2),
            ev.EngineStarted(at=fake_run.START, pid=1, host="h", session=1),
            *fake_trial.hostile_trial(trial),
        ],
    )
    fake_trial.write_logs(folder / trial)
    (folder / trial / "agent" / "[bold]\x1b]52;c;A\x07.txt").write_bytes(
        b"\x1b[2J\x1b]52;c;AAAA\x07 [/red] \x00\x9b31m\n"
    )
    async with trial_opened(folder, trial, size) as (app, pilot, _screen):
        for keys in ("1", "i", "space", "down", "enter", "0", "pagedown", "w", "question_mark", "escape"):
            await pilot.press(keys)
            await settle(pilot)
            text = "".join(screen_lines(app))
            assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)
            assert all(len(line) <= size[0] for line in screen_lines(app))
        assert app.is_running


async def test_evidence_outside_of_the_run_is_not_opened(tmp_path: Path) -> None:
    trial = fake_run.trial_id(0, "sonnet-5.5", 1)
    folder = tmp_path / "run"
    fake_run.write(folder, [*fake_run.plan(2), *fake_trial.hostile_trial(trial)])
    async with trial_opened(folder, trial) as (app, pilot, screen):
        assert "passwd" not in screen_text(app)
        await pilot.press("i", "enter")
        await settle(pilot)
        assert screen.view is None


async def test_a_trial_that_never_started_shows_its_facts(run: Path) -> None:
    async with trial_opened(run, fake_run.trial_id(0, "sonnet-5.5", 1)) as (app, pilot, _screen):
        assert "· queued" in screen_lines(app)[0]
        assert "[0 facts]" in screen_text(app)
        for key in ("1", "f", "w", "slash", "n", "i", "y", "Y", "g", "G"):
            await pilot.press(key)
        assert app.is_running


async def test_a_trial_that_is_not_there_says_so(run: Path) -> None:
    async with trial_opened(run, "nobody") as (app, _, _screen):
        assert "no such trial yet" in screen_text(app)


async def test_it_is_painted_anew_at_another_size(run: Path) -> None:
    async with trial_opened(run, size=(80, 24)) as (app, pilot, _screen):
        for size in ((200, 60), (60, 15), (120, 40), (20, 5)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
            lines = screen_lines(app)
            assert len(lines) == size[1] and all(len(line) <= size[0] for line in lines)
        await pilot.resize_terminal(200, 60)
        await settle(pilot)
        assert "12 added, 4 changed" in screen_text(app) and "orders_59" in screen_text(app)
