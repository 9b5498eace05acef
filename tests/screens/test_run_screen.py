"""The run screen through the keyboard and the mouse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.strip import Strip

from engine import events as ev
from engine.issues import Code, Phase, Severity
from screens.run_screen import RunScreen
from screens.trial_screen import TrialScreen
from screens.widgets.filter_bar import FilterBar
from screens.widgets.run_header import RunHeader
from screens.widgets.trials_table import TrialsTable
from screens.widgets.warnings_feed import WarningsFeed, told
from tests.screens import fake_run
from tests.screens.deck import append, opened, screen_lines, screen_text, trials_table, until

pytestmark = pytest.mark.anyio
A, B = "sonnet-5.5", "sol-6.1"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 10), (20, 5)])
async def test_every_size_is_painted_and_no_line_is_too_wide(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(tmp_path / "run", fake_run.story(), size) as (app, pilot):
        for key in ("g", "w", "escape", "exclamation_mark", "slash", "x", "escape", "question_mark"):
            await pilot.press(key)
            await pilot.pause()
            strips = app.screen._compositor.render_strips()
            assert len(strips) == size[1] and all(strip.cell_length == size[0] for strip in strips)


async def test_at_80_by_24_the_header_folds_and_warnings_become_a_count(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story(), (80, 24)) as (app, pilot):
        lines = screen_lines(app)
        assert "A sonnet-5.5 2/5 40.0 % ✗1  B sol-6.1 3/5 60.0 %" in lines[2]
        assert "task" in lines[4] and "mem" not in lines[4] and "cpu" not in lines[4] and "issues" in lines[4]
        assert "4 warnings, 4 new" in lines[-1]
        await pilot.resize_terminal(200, 60)
        await until(pilot, lambda: "mem" in screen_text(app) and "─ warnings (4 new)" in screen_text(app))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "4 warnings, 4 new" in screen_lines(app)[-1])


async def test_the_cursor_stays_on_its_trial_while_rows_move(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("down", "down")
        key = trials_table(app).cursor_key
        assert key is not None and app.source is not None
        for press in ("s", "s", "r", "S", "g", "g", "g", "g"):
            await pilot.press(press)
            assert trials_table(app).cursor_key == key, press
        await append(app, pilot, fake_run.ended(key, 1500, True))
        assert trials_table(app).cursor_key == key
        line = next(line for line in screen_lines(app) if line.startswith("›"))
        assert "✓ passed" in line


async def test_the_cursor_comes_back_to_its_trial_when_the_filter_goes(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("down", "down", "down")
        key = trials_table(app).cursor_key
        await pilot.press("slash", *"hello", "enter")
        assert trials_table(app).cursor_key != key and "hello-world" in screen_text(app)
        await pilot.press("escape")
        assert trials_table(app).cursor_key == key


async def test_a_filter_is_seen_kept_changed_and_given_up(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("slash", *"arm:b", "enter")
        assert "/ arm:b" in screen_text(app) and "12 of 24" in screen_text(app)
        trial = fake_run.trial_id(1, B, 1)
        await append(app, pilot, fake_run.ended(trial, 1500, True))
        assert "/ arm:b" in screen_text(app) and "12 of 24" in screen_text(app)
        await pilot.press("slash", *" state:passed", "enter")
        assert "/ arm:b state:passed" in screen_text(app) and "4 of 24" in screen_text(app)
        await pilot.press("escape")
        assert "all trials" in screen_text(app) and "24 of 24" in screen_text(app)
        await pilot.press("slash", "up", "enter")
        assert "/ arm:b state:passed" in screen_text(app)


async def test_a_wrong_regex_is_said_and_the_last_good_filter_stays(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("slash", *"/*")
        assert "nothing to repeat" in screen_text(app)
        await pilot.press("enter")
        assert "nothing to repeat" in screen_text(app)
        await pilot.press("escape")
        assert "24 of 24" in screen_text(app)


async def test_problems_only(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("exclamation_mark")
        assert "! problems only" in screen_text(app) and "6 of 24" in screen_text(app)
        await pilot.press("exclamation_mark")
        assert "24 of 24" in screen_text(app)


async def test_a_group_is_closed_with_enter_and_opened_again(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("g", "g", "home", "enter")
        assert "▸ A  sonnet-5.5" in screen_text(app) and "▾ B  sol-6.1" in screen_text(app)
        await pilot.press("enter")
        assert "▾ A  sonnet-5.5" in screen_text(app)
        await pilot.press("down", "left")
        assert "▸ A  sonnet-5.5" in screen_text(app)


async def test_a_click_on_the_header_sorts_and_a_click_on_a_row_selects(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        at = screen_lines(app)[6].index("time")
        await pilot.click(TrialsTable, offset=(at, 0))
        assert "sort: time ↓" in screen_text(app) and "time ↓" in screen_lines(app)[6]
        await pilot.click(TrialsTable, offset=(at, 0))
        assert "sort: time ↑" in screen_text(app)
        await pilot.click(TrialsTable, offset=(5, 4))
        assert screen_lines(app)[10].startswith("›")


async def test_enter_opens_the_trial_and_esc_finds_everything_as_it_was(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story(), (80, 24)) as (app, pilot):
        await pilot.press("slash", *"arm:b", "enter", "s", "end")
        before = screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, RunScreen), "the trial is open")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and screen_text(app) == before, "as it was")


async def test_double_click_opens(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.click(TrialsTable, offset=(5, 3), times=2)
        await until(pilot, lambda: not isinstance(app.screen, RunScreen), "the trial is open")


async def test_a_warning_jumps_to_its_trial_even_out_of_a_filter(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("slash", *"hello", "enter", "w")
        await until(pilot, lambda: app.screen.query_one(WarningsFeed).has_focus)
        await pilot.press("end", "enter")
        assert trials_table(app).cursor_key == fake_run.trial_id(0, A, 1)
        assert trials_table(app).has_focus and "24 of 24" in screen_text(app)
        assert "warnings (4)" in screen_text(app), "all are read now"


async def test_new_warnings_are_counted(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("w", "escape")
        assert "warnings (4)" in screen_text(app)
        trial = fake_run.trial_id(1, A, 1)
        found = fake_run.issue(Severity.ERROR, Phase.AGENT, Code.HARNESS_FAILED, "529 overloaded")
        await append(app, pilot, [ev.IssueRaised(at=fake_run.at(1500), trial=trial, issue=found)])
        assert "warnings (1 new)" in screen_text(app) and "529 overloaded" in screen_text(app)


async def test_nothing_from_a_task_reaches_the_terminal_as_a_control_code_or_markup(tmp_path: Path) -> None:
    hostile = "\x1b[2J\x1b]52;c;AAAA\x07[/red][bold]\x9b31m\x00\u202e"
    plan = fake_run.plan(1)
    trial = fake_run.trial_id(0, A, 1)
    events = [
        *plan,
        ev.EngineStarted(at=fake_run.START, pid=1, host="x", session=1),
        ev.TrialPlanned(at=fake_run.START, trial="h", task=f"t{hostile}", arm=A, attempt=1, position=9),
        ev.TrialWaiting(at=fake_run.START, trial="h", reason=f"r{hostile}"),
        *fake_run.begun(trial, 10),
        ev.ActivityChanged(at=fake_run.at(20), trial=trial, activity=f"a{hostile}"),
        ev.RunIssue(
            at=fake_run.at(30),
            issue=fake_run.issue(Severity.ERROR, None, Code.DISK_FULL, f"m{hostile}"),
        ),
    ]
    async with opened(tmp_path / "run", events, (200, 60)) as (app, pilot):
        for keys in ((), ("g",), ("g",), ("x",)):
            await pilot.press(*keys)
            for strip in app.screen._compositor.render_strips():
                for segment in strip:
                    assert not [
                        char for char in segment.text if ord(char) < 32 or 127 <= ord(char) < 160 or char == "\u202e"
                    ]
        assert "[/red][bold]" in screen_text(app)


async def test_an_event_paints_only_the_rows_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        painted: list[int] = []
        widget = trials_table(app)
        await until(pilot, lambda: screen_text(app).count("?") >= 5, "the causes are proposed")
        original = widget.render_line

        def render_line(y: int) -> Strip:
            painted.append(y)
            return original(y)

        monkeypatch.setattr(widget, "render_line", render_line)
        trial = fake_run.trial_id(1, B, 1)
        await append(app, pilot, [ev.ActivityChanged(at=fake_run.at(1500), trial=trial, activity="edit")])
        await until(pilot, lambda: "edit · 0:00" in screen_text(app))
        row = widget.find(trial)
        # Rows whose causes are still being worked out may come in between; the whole table never does.
        assert row is not None and row + 1 in painted and len(set(painted)) < 12


async def test_a_finished_run_says_so_and_takes_no_commands(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.finish(fake_run.story())) as (app, pilot):
        await until(pilot, lambda: "✓ finished" in screen_lines(app)[0])
        assert "24 of 24" in screen_lines(app)[1] and "to go" not in screen_text(app)
        await pilot.press("x")
        await until(pilot, lambda: "no engine runs this run now" in screen_text(app))


async def test_marked_trials_are_cancelled_together_after_one_question(tmp_path: Path) -> None:
    sent: list[Any] = []

    class Control:
        def send(self, command: Any) -> Any:
            sent.append(command)
            return {"ok": True}

    async with opened(tmp_path / "run", fake_run.story(), control=lambda folder: Control()) as (app, pilot):
        await pilot.press("home", "down", "space", "space", "end", "space")
        assert "3 marked" in screen_text(app) and screen_text(app).count("* ") >= 2
        await pilot.press("x")
        assert "Cancel these 3 trials?" in screen_text(app)
        await pilot.press("y")
        await until(pilot, lambda: len(sent) == 3, "all three are asked for")
        assert len({command["trial"] for command in sent}) == 3
        await pilot.press("escape")
        assert "marked" not in screen_text(app) and isinstance(app.screen, RunScreen)


async def test_a_group_is_marked_as_a_whole_and_unmarked_again(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("g", "g", "home", "space")
        assert "12 marked" in screen_text(app)
        await pilot.press("home", "space")
        assert "marked" not in screen_text(app)


async def test_n_goes_from_problem_to_problem_and_round(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("home")
        first = trials_table(app).cursor_key
        seen = []
        for _ in range(6):
            await pilot.press("n")
            seen.append(trials_table(app).cursor_key)
        assert len(set(seen)) == 6 and seen[-1] == first
        await pilot.press("N")
        assert trials_table(app).cursor_key == seen[-2]


async def test_the_next_trial_is_the_next_row_of_the_table(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("s", "slash", *"arm:b", "enter", "home")
        rows = list(trials_table(app).keys)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen) and app.screen.is_mounted, "the trial is open")
        await pilot.press("right_square_bracket")
        assert isinstance(app.screen, TrialScreen) and app.screen.trial_id == rows[1]
        await pilot.press("left_square_bracket", "left_square_bracket")
        assert app.screen.trial_id == rows[-1]


async def test_a_run_that_is_over_spends_no_column_on_what_is_being_done(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.finish(fake_run.story())) as (app, pilot):
        await until(pilot, lambda: "✓ finished" in screen_lines(app)[0])
        assert "activity" not in screen_text(app) and "live-database-cutover" in screen_text(app)
        assert screen_lines(app)[7].startswith("›"), "the cursor waits at the top"


def test_the_feed_names_a_service_that_the_message_leaves_out_and_only_then() -> None:
    def of(message: str) -> str:
        return told(fake_run.issue(Severity.ERROR, Phase.AGENT, Code.OUT_OF_MEMORY, message, service="main"))

    assert of("service main hit its limit") == "service main hit its limit"
    assert of("main.py is missing") == "main: main.py is missing"
    assert of("hook exit 3") == "main: hook exit 3"
    assert of("the remaining domain-main hook") == "main: the remaining domain-main hook"


async def test_a_tick_that_comes_while_the_screen_is_taken_down_harms_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, RunScreen)
        await screen.query_one(RunHeader).remove()
        screen.clock_ticked(fake_run.at(1500))
        screen.run_changed({""})
        await pilot.pause()


async def test_what_is_typed_fast_after_the_slash_goes_into_the_filter(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        for char in "/g s /x/":
            app.post_message(events.Key(_name(char), char))
        await until(pilot, lambda: app.screen.query_one(FilterBar).text == "g s /x/", "all of it is in the filter")
        assert (
            not trials_table(app).rows.marked
            and not trials_table(app).rows.grouping
            and trials_table(app).rows.sort == "state"
        )


def _name(char: str) -> str:
    return {"/": "slash", " ": "space"}.get(char, char)
