"""Habits on the run screen: holding, what is remembered, own keys, looking only, replay, large runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.app import TrialDeckApp
from console.habits import Habits
from console.screen_state import recall, remember
from console.settings import Settings, read_settings
from engine import events as ev
from engine.issues import Code, Phase, Severity
from screens import trial_rows
from screens.question_screen import QuestionScreen
from screens.run_memory import RunMemory
from screens.widgets.filter_bar import FilterBar
from tests.screens import fake_run
from tests.screens.deck import opened, run_screen, screen_lines, screen_text, trials_table, type_filter, until

pytestmark = pytest.mark.anyio
A, B = "sonnet-5.5", "sol-6.1"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield tmp_path / "state" / "trialdeck" / "runs"


# --- undecided failures ---


async def test_u_goes_from_undecided_failure_to_undecided_failure(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        rows = run_screen(app).rows
        seen = []
        for _ in range(6):
            seen.append(trials_table(app).cursor_key)
            await pilot.press("u")
        states = [rows.state.trials[key or ""].state for key in seen]
        assert set(states) == {"failed", "unscored"} and seen[0] == seen[5]


# --- holding, replay, looking only ---


async def test_a_held_screen_stands_still_says_so_and_then_takes_all_in(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        source = run_screen(app).source
        await pilot.press("P")
        await until(pilot, lambda: "‖ as of " in screen_lines(app)[0])
        trial = fake_run.trial_id(1, B, 1)
        before = source.state.events
        fake_run.write(source.folder, fake_run.ended(trial, 1500, True))
        await until(pilot, lambda: source.pending >= 3)
        app.screen.clock_ticked(app.clock())  # type: ignore[attr-defined]
        await until(pilot, lambda: "3 changes waiting" in screen_lines(app)[0])
        assert source.state.events == before and source.state.trials[trial].state == "running"
        await pilot.press("P")
        await until(pilot, lambda: source.state.trials[trial].state == "passed")
        await until(pilot, lambda: "as of" not in screen_lines(app)[0])


async def test_a_replay_begins_with_the_plan_and_goes_to_the_end(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", fake_run.finish(fake_run.story()), alive=False)
    app = TrialDeckApp(folder, habits=Habits(replay_speed=0.01))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "▶ replay ×0.01" in screen_text(app) and "0 of 24" in screen_text(app))
        await pilot.press("plus", "plus", "p")
        await until(pilot, lambda: "‖ replay ×0.04" in screen_lines(app)[0])
        await pilot.press("p", "greater_than_sign")
        await until(pilot, lambda: "✓ finished" in screen_lines(app)[0] and "24 of 24" in screen_text(app))


async def test_looking_only_gives_no_command_and_writes_no_file(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(tmp_path / "run", fake_run.story(), habits=Habits(read_only=True)) as (app, pilot):
        assert "read-only" in screen_lines(app)[0]
        assert "x cancel" not in screen_lines(app)[-1]
        await pilot.press("x")
        await until(pilot, lambda: "no engine runs this run now" in screen_text(app) or "read-only" in screen_text(app))
        assert not isinstance(app.screen, QuestionScreen)
        await pilot.press("e", "ctrl+s")
        await until(pilot, lambda: "nothing is written" in screen_text(app))
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


# --- remembered ---


async def test_filter_order_marks_and_cursor_are_as_they_were(tmp_path: Path, state: Path) -> None:
    habits = Habits(remembers=True)
    async with opened(tmp_path / "run", fake_run.story(), habits=habits) as (app, pilot):
        await type_filter(app, pilot, "arm:b")
        await pilot.press("s", "down", "down", "space")
        rows = run_screen(app).rows
        left = (rows.sort, rows.second, set(rows.marked), trials_table(app).cursor_key)
    for thread in threading.enumerate():
        if thread.name == "remember a run":
            thread.join()
    assert len(list(state.glob("*.json"))) == 1
    async with opened(tmp_path / "run", [], habits=habits) as (app, pilot):
        rows = run_screen(app).rows
        await until(pilot, lambda: rows.shown == 12)
        assert (rows.sort, rows.second, rows.marked, trials_table(app).cursor_key) == left
        assert app.screen.query_one(FilterBar).text == "arm:b"
        await pilot.press("slash", "ctrl+u", "up")
        assert app.screen.query_one(FilterBar).entry.value == "arm:b", "earlier filters are recalled"


def test_a_broken_file_is_passed_over_with_a_word(tmp_path: Path) -> None:
    remember("run", RunMemory(filter="a"), tmp_path)
    assert recall("run", tmp_path)[0] == RunMemory(filter="a")
    assert recall("other", tmp_path) == (None, "")
    next(tmp_path.glob("*.json")).write_bytes(b'{"run": "run", "scr')
    found, problem = recall("run", tmp_path)
    assert found is None and "is damaged" in problem


def test_only_so_many_runs_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.screen_state.MOST_RUNS", 3)
    for number in range(6):
        remember(f"run {number}", RunMemory(), tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 3


# --- settings ---


async def test_own_keys_work_and_help_footer_and_palette_show_them(tmp_path: Path) -> None:
    habits = Habits(keys={"run.filter": ("F",), "run.triage": ("f5",)})
    async with opened(tmp_path / "run", fake_run.story(), habits=habits) as (app, pilot):
        assert "F filter" in screen_lines(app)[-1] and "/ filter" not in screen_lines(app)[-1]
        await pilot.press("slash")
        assert not app.screen.query_one(FilterBar).editing
        await pilot.press("F")
        assert app.screen.query_one(FilterBar).editing
        await pilot.press("escape", "question_mark")
        await until(pilot, lambda: "F              Filter the trials" in screen_text(app))


async def test_the_theme_and_the_times_of_the_settings_are_used(tmp_path: Path) -> None:
    habits = Habits(Settings(theme="light", times="utc"))
    async with opened(tmp_path / "run", fake_run.story(), habits=habits) as (app, pilot):
        assert app.theme == "light" and "12:25:00" in screen_lines(app)[0]
        await pilot.press("ctrl+t")
        assert app.theme == "high-contrast"


async def test_a_chosen_theme_is_kept_in_the_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "config" / "trialdeck" / "settings.toml"
    async with opened(tmp_path / "run", fake_run.story(), habits=Habits(remembers=True)) as (app, pilot):
        await pilot.press("ctrl+t")
        await until(pilot, lambda: file.is_file() and file.read_text() == 'theme = "light"\n')
        app.theme = "high-contrast"  # as the list of the palette does
        await until(pilot, lambda: file.read_text() == 'theme = "high-contrast"\n')


async def test_a_theme_that_the_terminal_asked_for_is_not_taken_for_a_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(tmp_path / "run", fake_run.story(), habits=Habits(remembers=True)) as (_, pilot):
        await pilot.pause()
        assert not (tmp_path / "config").exists()


# --- said by itself ---


async def test_the_end_of_a_run_is_said_once(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        source = run_screen(app).source
        fake_run.write(source.folder, [ev.RunFinished(at=fake_run.at(1500), exit_code=3, seconds=1500.0)])
        await until(pilot, lambda: "has ended: 5 of 10 trials passed" in screen_text(app))
        assert len(app._notifications) == 1


async def test_an_arm_that_fails_all_the_same_way_is_said_in_the_header(tmp_path: Path) -> None:
    events = [*fake_run.plan(), ev.EngineStarted(at=fake_run.START, pid=1, host="bench", session=1)]
    for number in range(5):
        trial = fake_run.trial_id(number, B, 1)
        broken = fake_run.issue(Severity.FATAL, Phase.PREPARE, Code.BUILD_FAILED, "no route to host")
        events += [
            ev.TrialStarted(at=fake_run.at(number), trial=trial),
            ev.IssueRaised(at=fake_run.at(number + 1), trial=trial, issue=broken),
            *fake_run.ended(trial, 100 + number, None, 90.0, None),
        ]
    async with opened(tmp_path / "run", events) as (app, pilot):
        await until(pilot, lambda: "B: the last 5 trials all ended with image_build_failed" in screen_text(app))
        trial = fake_run.trial_id(6, B, 1)
        fake_run.write(
            run_screen(app).source.folder, [*fake_run.begun(trial, 1400), *fake_run.ended(trial, 1500, True)]
        )
        await until(pilot, lambda: "all ended with" not in screen_text(app))


# --- large runs ---


async def test_a_large_run_is_arranged_between_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_rows, "LARGE", 10)
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        rows = run_screen(app).rows
        await until(pilot, lambda: rows.shown == 24 and not rows.behind)
        await type_filter(app, pilot, "state:failed")
        await until(pilot, lambda: rows.shown == 4)
        await pilot.press("g", "g")
        await until(pilot, lambda: len(rows.groups) == 2)
        await pilot.press("escape", "g", "g")
        await until(pilot, lambda: not rows.groups and len(rows.keys) == 24)


async def test_a_hidden_column_is_gone_and_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "config" / "trialdeck" / "settings.toml"
    async with opened(tmp_path / "run", fake_run.story(), habits=Habits(remembers=True)) as (app, pilot):
        hide = dict(run_screen(app).more_commands())["Hide the column memory"]
        hide()
        await until(pilot, lambda: "   mem  " not in screen_text(app))
        await until(pilot, lambda: file.is_file() and "memory" in file.read_text())
    kept = Habits(read_settings(file), remembers=True)
    async with opened(tmp_path / "run", [], habits=kept) as (app, _):
        assert trials_table(app).hidden_columns == {"memory"}
        assert "Show the column memory" in dict(run_screen(app).more_commands())


async def test_how_a_held_run_stands_is_in_sight_on_a_narrow_screen(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.finish(fake_run.story()), (80, 24)) as (app, pilot):
        await pilot.press("P")
        await until(pilot, lambda: "‖ as of " in screen_lines(app)[0])
        assert screen_lines(app)[0].endswith("✓ finished")


async def test_a_filter_stands_where_it_stood_while_it_is_edited(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story(), (80, 24)) as (app, pilot):
        await type_filter(app, pilot, "arm:b")
        before = next(line for line in screen_lines(app) if line.startswith(" / arm:b"))
        await pilot.press("slash")
        await until(pilot, lambda: app.screen.query_one(FilterBar).editing)
        await pilot.pause()
        assert any(line.startswith(before[:8]) for line in screen_lines(app))


async def test_the_last_word_of_a_full_footer_is_whole(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story(), (80, 24)) as (app, pilot):
        for width in range(60, 100):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            assert "…" not in screen_lines(app)[-1]


async def test_what_is_not_known_of_a_run_leaves_no_separator_behind(tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    table.write_text("task,arm,attempt,reward,cost\nt1,a,1,1,0.1\nt1,b,1,0,0.2\n")
    app = TrialDeckApp(table)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "✓ finished" in screen_text(app) and "$0.30" in screen_text(app))
        lines = screen_lines(app)
        assert "·" not in lines[0] and "·" not in lines[1]
