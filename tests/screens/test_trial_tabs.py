"""The tabs beside the logs through the keyboard: steps, recordings, files, the card."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import TrialDeckApp
from engine import events as ev
from screens.trial_screen import TrialScreen
from screens.widgets.cast_view import CastView
from screens.widgets.files_view import FilesView
from screens.widgets.log_view import LogView
from screens.widgets.steps_view import StepsView
from tests.engine.trajectories import sessions
from tests.screens import casts, fake_trial
from tests.screens.deck import read_and_painted, screen_lines, screen_text, until
from tests.screens.fake_run import at
from tests.screens.fake_trial import SIMPLE, STEPS, TRIAL
from tests.screens.trial_waiting import trial_shown

pytestmark = pytest.mark.anyio

SIZES = [(80, 24), (120, 40), (200, 60)]


def with_session(folder: Path, steps: int = 12, trial: str = SIMPLE) -> Path:
    fake_trial.write(folder)
    sessions.write_json(folder / trial / "agent" / "trajectory.json", sessions.atif(steps))
    return folder


@asynccontextmanager
async def opened(
    folder: Path, trial: str = SIMPLE, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[TrialDeckApp, Pilot[Any], TrialScreen]]:
    app = TrialDeckApp(folder, clock=lambda: at(13_251))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: read_and_painted(app), "the run is read")
        assert app.source is not None
        screen = TrialScreen(app.source, trial)
        await app.push_screen(screen)
        await trial_shown(pilot, screen)
        yield app, pilot, screen


async def settle(pilot: Pilot[Any]) -> None:
    screen = pilot.app.screen
    for _ in range(3):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
    if isinstance(screen, TrialScreen):
        await trial_shown(pilot, screen)


def steps_of(screen: TrialScreen) -> StepsView:
    assert isinstance(screen.view, StepsView)
    return screen.view


@pytest.mark.parametrize("size", SIZES)
async def test_a_session_opens_as_steps_at_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(with_session(tmp_path / "run"), size=size) as (app, pilot, screen):
        text = screen_text(app)
        assert "1 steps 13]" in text and "bash psql -c 'select" in text and "! exit 1" in text
        assert "13 steps" in text and "12.0K in" in text and "cost $0.12" in text
        await pilot.press("n", "n")
        if steps_of(screen).has_class("-one"):
            await pilot.press("enter")
        await until(pilot, lambda: "step 3 of 13" in screen_text(app), "the step is shown")
        text = screen_text(app)
        assert "Table 3 may be gone." in text
        assert "tokens 1.0K in (800 cached), 50 out" in text
        assert all(len(line) <= size[0] for line in screen_lines(app))
        await pilot.press("pagedown")
        await until(pilot, lambda: "no such table" in screen_text(app), "the end of its text is shown")
        assert "→ ! exit 1" in screen_text(app)


async def test_where_there_is_no_room_one_pane_stands_at_a_time(tmp_path: Path) -> None:
    async with opened(with_session(tmp_path / "run"), size=(80, 24)) as (app, pilot, screen):
        assert "step 1 of 13" not in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: "step 1 of 13" in screen_text(app), "the text is shown")
        assert "psql" not in screen_text(app)
        await pilot.press("n")
        await until(pilot, lambda: "step 2 of 13" in screen_text(app), "the next step is shown")
        await pilot.press("escape")
        await until(pilot, lambda: "step 2 of 13" not in screen_text(app), "the list is shown")
        assert app.screen is screen and "psql" in screen_text(app)


async def test_failures_and_a_users_words_are_a_key_away(tmp_path: Path) -> None:
    async with opened(with_session(tmp_path / "run")) as (app, pilot, screen):
        found = []
        for key in ("e", "e", "E", "e", "u", "U", "n", "p"):
            await pilot.press(key)
            await settle(pilot)
            step = steps_of(screen).step
            found.append(step.number if step else 0)
        assert found == [3, 6, 3, 6, 6, 1, 2, 1]
        assert "no message of a user there" in screen_text(app)


async def test_steps_are_searched_and_n_goes_to_the_next_hit(tmp_path: Path) -> None:
    async with opened(with_session(tmp_path / "run", 40)) as (app, pilot, screen):
        await pilot.press("slash")
        await pilot.press(*"no such", "enter")
        await until(pilot, lambda: "1 of 13" in screen_text(app), "the first hit is shown")
        view = steps_of(screen)
        assert view.step is not None and view.step.number == 3 and "▸ no such table" in screen_text(app)
        await pilot.press("n")
        await settle(pilot)
        assert view.step.number == 6 and "2 of 13" in screen_text(app)
        await pilot.press("N")
        await settle(pilot)
        assert view.step.number == 3
        await pilot.press("escape", "n")
        await settle(pilot)
        assert view.search is None and view.step.number == 4 and app.screen is screen
        await pilot.press("slash")
        await pilot.press(*"(", "enter")
        await settle(pilot)
        assert "not a regular expression" in screen_text(app)


async def test_l_goes_to_the_agents_log_and_escape_comes_back(tmp_path: Path) -> None:
    folder = with_session(tmp_path / "run")
    (folder / SIMPLE / "agent" / "terminus2.txt").write_text("2026-11-30T10:00:00Z begun\n")
    async with opened(folder) as (app, pilot, screen):
        await pilot.press("n", "n", "l")
        await settle(pilot)
        assert isinstance(screen.view, LogView) and screen.view.path.name == "terminus2.txt"
        await pilot.press("escape")
        await settle(pilot)
        view = steps_of(screen)
        assert view.step is not None and view.step.number == 3 and app.screen is screen


async def test_a_step_is_opened_by_its_number_even_before_the_session_is_found(tmp_path: Path) -> None:
    folder = with_session(tmp_path / "run", 300)
    async with opened(folder, STEPS) as (app, pilot, _):
        assert app.source is not None
        screen = TrialScreen(app.source, SIMPLE)
        app.push_screen(screen)
        await pilot.pause()
        screen.call_after_refresh(screen.open_step, 196)
        await settle(pilot)
        await until(pilot, lambda: "step 196 of 301" in screen_text(app), "the step is shown")
        await pilot.press("at")
        await pilot.press(*"42", "enter")
        await settle(pilot)
        assert "step 42 of 301" in screen_text(app)
        await pilot.press("2")
        await settle(pilot)
        screen.open_step(9_999)
        await settle(pilot)
        assert "step 301 of 301" in screen_text(app)


async def test_a_log_is_opened_at_a_line_and_nothing_outside_of_the_run(tmp_path: Path) -> None:
    folder = with_session(tmp_path / "run")
    (tmp_path / "secret.txt").write_text("secret")
    async with opened(folder) as (app, pilot, screen):
        screen.open_log_at(folder / SIMPLE / "agent" / "terminus2.txt", 3)
        await settle(pilot)
        assert isinstance(screen.view, LogView)
        for outside in (tmp_path / "secret.txt", Path("../../secret.txt"), Path("/etc/passwd")):
            screen.open_log_at(outside, 1)
            await settle(pilot)
            assert screen.view.path.name == "terminus2.txt"
        assert "no such file in this run" in screen_text(app)
        screen.open_log_at(folder / SIMPLE / "agent" / "trajectory.json", 0)
        await settle(pilot)
        assert isinstance(screen.view, StepsView)


async def test_the_step_that_a_line_of_a_session_belongs_to(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    path = sessions.write_lines(folder / SIMPLE / "agent" / "session.jsonl", sessions.claude_stream())
    async with opened(folder) as (_, pilot, screen):
        screen.open_log_at(path, 7)
        await settle(pilot)
        view = steps_of(screen)
        await until(pilot, lambda: view.step is not None and view.step.number == 2, "its step is shown")


async def test_commands_and_steps_are_copied_as_safe_text(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    made = sessions.atif(1)
    made["steps"][1]["tool_calls"][0]["arguments"]["command"] = "ls \x1b]52;c;AAAA\x07/app"
    sessions.write_json(folder / SIMPLE / "agent" / "trajectory.json", made)
    async with opened(folder) as (app, pilot, _):
        await pilot.press("y")
        assert app.clipboard == ""
        await pilot.press("n", "y")
        assert app.clipboard == "ls /app"
        await pilot.press("c")
        assert app.clipboard.startswith("step 2 (agent)\n\nTable 2 may be gone.") and "\x1b" not in app.clipboard


async def test_a_session_that_grows_is_followed_until_one_goes_elsewhere(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    lines = sessions.claude_stream()
    path = sessions.write_lines(folder / TRIAL / "agent" / "sessions" / "s.jsonl", lines[:4])
    async with opened(folder, TRIAL) as (app, pilot, screen):
        view = steps_of(screen)
        assert "1 steps 1]" in screen_text(app) and view.row == 0
        with path.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines[4:7])
        view._look()
        await until(pilot, lambda: "1 steps 2]" in screen_text(app), "the step has come")
        assert view.row == 1 and "follow" in screen_lines(app)[-2]
        await pilot.press("p")
        await settle(pilot)
        assert not view.following and "follow off" in screen_text(app)


async def test_a_session_that_appears_while_the_agent_runs_appears_by_itself(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    async with opened(folder, TRIAL) as (app, pilot, screen):
        assert "1 terminus2" in screen_text(app)
        sessions.write_lines(folder / TRIAL / "agent" / "claude.jsonl", sessions.claude_stream()[:5])
        screen.clock_ticked(at(13_252))
        await until(pilot, lambda: "1 steps 1]" in screen_text(app), "the steps are there")


async def test_several_sessions_are_gone_through(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    for number, name in enumerate(("a", "b"), 1):
        made = sessions.atif(number)
        if number == 2:
            del made["steps"][1]["metrics"]
        sessions.write_json(folder / SIMPLE / "steps" / name / "agent" / "trajectory.json", made)
    async with opened(folder) as (app, pilot, _):
        assert "session 1 of 2" in screen_text(app) and "1 steps 2]" in screen_text(app)
        await pilot.press("s")
        await settle(pilot)
        await until(pilot, lambda: "1 steps 3]" in screen_text(app), "the other is read")
        assert "session 2 of 2" in screen_text(app)
        assert "≥ 1.0K in (800 cached), 50 out  cost ≥ $0.01" in screen_text(app)  # case 68


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (40, 10)])
async def test_hostile_sessions_files_and_recordings_reach_no_strip(tmp_path: Path, size: tuple[int, int]) -> None:
    evil = fake_trial.HOSTILE_TEXT
    folder = fake_trial.write(tmp_path / "run")
    made = sessions.atif(3, agent=evil)
    made["agent"]["model_name"] = evil
    for step in made["steps"]:
        step["message"] = evil
    made["steps"][1]["tool_calls"][0] = {"tool_call_id": evil, "function_name": evil, "arguments": {"command": evil}}
    made["steps"][1]["extra"] = {"error": evil}
    made["steps"][2]["observation"]["results"][0]["content"] = evil * 50
    trial = folder / SIMPLE
    sessions.write_json(trial / "agent" / "trajectory.json", made)
    casts.version_2(trial / "agent" / "evil.cast", [(0.0, "o", evil), (0.0, "m", evil)])
    (trial / "artifacts").mkdir()
    (trial / "artifacts" / "[bold]\x1b]52;c;A\x07").write_text("x")
    (trial / "changes.json").write_text(json.dumps({"added": [evil], "changed": [3], "deleted": "x"}))
    async with opened(folder, size=size) as (app, pilot, screen):
        keys = screen.pages.keys
        for key in keys:
            screen.open_page(key)
            for press in ("n", "enter", "pagedown"):
                await trial_shown(pilot, screen)
                text = "".join(screen_lines(app))
                assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)
                assert all(len(line) <= size[0] for line in screen_lines(app))
                await pilot.press(press)
        assert app.screen is screen and app.is_running and len(keys) >= 6


async def test_ten_thousand_steps_are_one_list(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    sessions.write_json(folder / SIMPLE / "agent" / "trajectory.json", sessions.atif(10_000))
    async with opened(folder) as (app, pilot, _):
        await until(pilot, lambda: "1 steps 10,001]" in screen_text(app), "all are read")
        await pilot.press("end")
        await settle(pilot)
        assert "step 10,001 of 10,001" in screen_text(app)


async def test_a_recording_plays_and_says_where_it_is(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    casts.version_3(folder / SIMPLE / "agent" / "recording.cast")
    async with opened(folder) as (app, pilot, screen):
        key = str(folder / SIMPLE / "agent" / "recording.cast")
        view = screen.open_page(key)
        assert isinstance(view, CastView)
        await settle(pilot)
        assert "$ make" in screen_text(app) and "‖ paused  0:00 of 0:23" in screen_text(app)
        await pilot.press("n")
        await settle(pilot)
        assert "red and plain" in screen_text(app) and "0:01 of 0:23" in screen_text(app)
        assert "marker 1 of 2  tests begin" in screen_text(app)
        await pilot.press("end")
        await settle(pilot)
        assert "bye" in screen_text(app) and "■ end" in screen_text(app)
        await pilot.press("space")
        await settle(pilot)
        assert view.player.playing and "▶ playing" in screen_text(app)
        await pilot.press("space", "plus", "z")
        await settle(pilot)
        assert not view.player.playing and "2×" in screen_text(app) and "pauses ≤ 1.5 s" in screen_text(app)
        await pilot.press("at")
        await pilot.press(*"0:21", "enter")
        await settle(pilot)
        assert "0:21 of 0:23" in screen_text(app) and "cleared" in screen_text(app)


async def test_a_recording_that_stands_paints_nothing(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    casts.version_2(folder / SIMPLE / "agent" / "recording.cast")
    async with opened(folder) as (_, pilot, screen):
        view = screen.open_page(str(folder / SIMPLE / "agent" / "recording.cast"))
        assert isinstance(view, CastView)
        await settle(pilot)
        assert view._ticks is not None and not view._ticks._active.is_set()
        await pilot.press("space")
        assert view._ticks._active.is_set()
        await pilot.press("space")
        await settle(pilot)
        assert not view._ticks._active.is_set()


async def test_files_are_listed_and_text_opens(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    trial = folder / SIMPLE
    (trial / "artifacts" / "out").mkdir(parents=True)
    (trial / "artifacts" / "out" / "report.md").write_text("# The report\n")
    (trial / "artifacts" / "blob.bin").write_bytes(b"\0" * 100)
    (trial / "artifacts" / "link").symlink_to("/etc/passwd")
    (trial / "changes.json").write_text(json.dumps({"added": ["/app/new"], "changed": ["/app/old"], "deleted": []}))
    async with opened(folder) as (app, pilot, screen):
        view = screen.open_page("files")
        assert isinstance(view, FilesView)
        await settle(pilot)
        text = screen_text(app)
        assert "+ added    /app/new" in text and "~ changed  /app/old" in text
        assert "link  a link, not followed" in text and "report.md" in text and "2 changes in the container" in text
        view.table.move_to_key("artifacts/link")
        await pilot.press("enter")
        await settle(pilot)
        view.table.move_to_key("artifacts/blob.bin")
        await pilot.press("enter")
        await settle(pilot)
        assert screen.view is view and "no text file" in screen_text(app)
        view.table.move_to_key("artifacts/out/report.md")
        await pilot.press("enter")
        await settle(pilot)
        await until(pilot, lambda: "# The report" in screen_text(app), "the file is open")


async def test_all_logs_of_a_trial_are_one_by_time(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    async with opened(folder) as (app, pilot, screen):
        await pilot.press("M")
        await until(pilot, lambda: "15:40:00 collect" in screen_text(app), "they are merged")
        assert screen.pages.current == "merged"


async def test_the_card_is_shown_as_it_is_or_as_what_is_planned(tmp_path: Path) -> None:
    folder = fake_trial.write(tmp_path / "run")
    async with opened(folder) as (app, pilot, screen):
        screen.open_page("card")
        await settle(pilot)
        plan = screen.source.state.plan
        assert isinstance(plan, ev.RunPlanned) and plan.arms[0].name in screen_text(app) and "arm A" in screen_text(app)
    (folder / "card.toml").write_text('digest = "7f3a91c"\n')
    async with opened(folder) as (app, pilot, screen):
        screen.open_page("card")
        await settle(pilot)
        await until(pilot, lambda: 'digest = "7f3a91c"' in screen_text(app), "the card is open")


async def test_another_trial_begins_with_its_own_tabs(tmp_path: Path) -> None:
    folder = with_session(tmp_path / "run")
    async with opened(folder) as (app, pilot, screen):
        screen.show_trial(TRIAL)
        await settle(pilot)
        assert "[1 terminus2" in screen_text(app) and "steps 13" not in screen_text(app)
        screen.show_trial(SIMPLE)
        await settle(pilot)
        await until(pilot, lambda: "1 steps 13]" in screen_text(app), "its steps")


async def test_a_row_that_changed_back_before_it_was_painted_has_one_cursor(tmp_path: Path) -> None:
    async with opened(with_session(tmp_path / "run")) as (app, pilot, screen):
        steps_of(screen).table.move_to(1)
        steps_of(screen).table.move_to(2)
        await settle(pilot)
        assert sum(line.startswith("›") for line in screen_lines(app)) == 1
