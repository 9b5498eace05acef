"""The compare screen: the numbers of a run, live, and the way to the trials behind them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from console.app import TrialDeckApp
from engine import events as ev
from engine.readers.open_run import OpenedRun, open_run
from engine.readers.run_folder import TrialdeckFormat
from screens.compare_screen import CompareScreen
from screens.comparing import Comparing
from screens.export_files import default_folder, refuse_foreign
from screens.trial_screen import TrialScreen
from screens.widgets.discordant_list import DiscordantList
from tests.screens import fake_run
from tests.screens.deck import read_and_painted, screen_lines, screen_text, until
from tests.screens.fake_run import at, begun, ended, plan, trial_id

pytestmark = pytest.mark.anyio
A, B = "sonnet-5.5", "sol-6.1"
SIZES = [(80, 24), (120, 40), (200, 60)]


class Foreign(TrialdeckFormat):
    kind = "harbor"
    ours = False


def verdicts(
    both: int, a_only: int, b_only: int, neither: int, cost_a: float | None, cost_b: float | None
) -> list[ev.Event]:
    """A run of two arms with this 2×2 table, all trials over."""
    outcomes = [(True, True)] * both + [(True, False)] * a_only + [(False, True)] * b_only + [(False, False)] * neither
    found: list[ev.Event] = [*plan(len(outcomes)), ev.EngineStarted(at=fake_run.START, pid=1, host="h", session=1)]
    for task, (a, b) in enumerate(outcomes):
        for arm, passed, cost in ((A, a, cost_a), (B, b, cost_b)):
            trial = trial_id(task, arm, 1)
            found += [*begun(trial, task), *ended(trial, task + 300, passed, 300.0, cost)]
    return found


@asynccontextmanager
async def compared(
    folder: Path, events: Iterable[ev.Event], size: tuple[int, int] = (120, 40), wait: bool = True
) -> AsyncIterator[tuple[TrialDeckApp, Pilot[Any], CompareScreen]]:
    fake_run.write(folder, events)
    app = TrialDeckApp(folder, clock=lambda: at(1500))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: read_and_painted(app), "the run is read")
        assert app.source is not None
        screen = CompareScreen(app.source)
        await app.push_screen(screen)
        if wait:
            await until(pilot, lambda: screen.found is not None, "the numbers are there")
        await pilot.pause()
        yield app, pilot, screen


@pytest.mark.parametrize("size", SIZES)
async def test_the_worked_example_reads_as_published(tmp_path: Path, size: tuple[int, int]) -> None:
    """100 tasks, 50/20/10/20: exact McNemar 0.0987; $200/70 = $2.86 and $120/60 = $2.00."""
    events = verdicts(50, 20, 10, 20, 2.0, 1.2)
    async with compared(tmp_path / "run", events, size) as (app, pilot, _screen):
        text = screen_text(app)
        assert "B resolved" in text and "A resolved" in text
        assert "70/100" in text and "70.0 %" in text and "60/100" in text and "60.0 %" in text
        assert "+10.0 points" in text and "0.099" in text and "30 discordant" in text
        assert "$2.86" in text and "$2.00" in text
        assert "of completed" in text and "of assigned" in text
        assert "A only  20" in text and "B only  10" in text
        assert "terminal-bench 4.0.0 · card 7f3a91c" in text or size[0] == 80
        await pilot.press("n")
        await pilot.pause()
        assert "terminal-bench 4.0.0 · card 7f3a91c" in screen_text(app)
        assert all(len(line) <= size[0] for line in screen_lines(app))


async def test_at_sixty_columns_no_number_that_decides_is_cut(tmp_path: Path) -> None:
    events = verdicts(50, 20, 10, 20, 2.0, 1.2)
    async with compared(tmp_path / "run", events, (60, 20)) as (app, pilot, _screen):
        text = screen_text(app)
        assert "both 50   A only 20   B only 10   neither 20" in text
        assert "A − B  +10.0 points" in text and "exact McNemar p 0.099" in text
        numbers = [line for line in screen_lines(app) if "%" in line or "points" in line]
        assert len(numbers) >= 4 and not [line for line in numbers if line.rstrip().endswith("…")]
        assert f"A {A}" in text and f"B {B}" in text
        await pilot.press("s")
        await pilot.pause()
        lines = screen_lines(app)
        at = next(y for y, line in enumerate(lines) if "infrastructure excluded" in line)
        assert " to " in lines[at + 1] and not lines[at + 1].rstrip().endswith("…")


async def test_an_unknown_cost_makes_a_lower_bound_and_never_a_zero(tmp_path: Path) -> None:
    events = verdicts(2, 1, 0, 0, None, 1.0)
    events = [
        msgspec.structs.replace(event, cost_usd=None)
        if isinstance(event, ev.TrialFinished) and event.trial == trial_id(0, B, 1)
        else event
        for event in events
        if not isinstance(event, ev.AgentStepped)
    ]
    async with compared(tmp_path / "run", events) as (app, _, _screen):
        text = screen_text(app)
        assert "cost unknown" in text
        assert "≥ $1.00" in text
        assert "$0.00" not in text


async def test_a_and_b_open_a_side_and_brackets_follow_the_list(tmp_path: Path) -> None:
    async with compared(tmp_path / "run", verdicts(1, 2, 1, 1, 1.0, 1.0)) as (app, pilot, screen):
        await pilot.press("down", "a")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen), "A's trial opens")
        assert isinstance(app.screen, TrialScreen) and app.screen.trial_id == trial_id(2, A, 1)
        await pilot.press("left_square_bracket")
        assert app.screen.trial_id == trial_id(1, A, 1)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "back")
        await pilot.press("right", "b")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen), "B's trial opens")
        assert isinstance(app.screen, TrialScreen) and app.screen.trial_id == trial_id(3, B, 1)


async def test_an_unfinished_run_says_so_and_follows_what_comes(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    events = verdicts(2, 1, 1, 1, 1.0, 1.0)
    later = [event for event in events if getattr(event, "trial", "") == trial_id(4, B, 1)]
    now = [event for event in events if event not in later or isinstance(event, ev.TrialPlanned)]
    async with compared(folder, now) as (app, pilot, screen):
        assert "1 trial to go" in screen_lines(app)[0]
        assert screen.found is not None and screen.found.unfinished == 1
        assert "1 trial not finished" in screen_text(app)
        fake_run.write(folder, [event for event in later if not isinstance(event, ev.TrialPlanned)])
        await until(pilot, lambda: screen.found is not None and screen.found.unfinished == 0, "the last one counts")
        await pilot.pause()
        assert "to go" not in screen_lines(app)[0]


async def test_while_runs_are_read_the_cursor_stays_at_the_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = [False]
    monkeypatch.setattr(Comparing, "caught_up", property(lambda _: read[0]))
    async with compared(tmp_path / "run", verdicts(1, 3, 1, 1, 1.0, 1.0)) as (_app, pilot, screen):
        table = screen.query_one("#a-only", DiscordantList)
        found = screen.found
        assert found is not None and len(found.a_only) == 3
        table.set_tasks(found.a_only[2:])
        screen._show_found()
        assert table.cursor_key == found.a_only[0].task
        read[0] = True
        screen._show_found()
        await pilot.press("down")
        screen._show_found()
        assert table.cursor_key == found.a_only[1].task


async def test_the_cursor_stays_on_its_task_when_others_join(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    events = verdicts(1, 3, 1, 1, 1.0, 1.0)
    held = {trial_id(1, A, 1), trial_id(1, B, 1)}
    now = [event for event in events if isinstance(event, ev.TrialPlanned) or getattr(event, "trial", "") not in held]
    async with compared(folder, now) as (_app, pilot, screen):
        table = screen.query_one("#a-only", DiscordantList)
        await pilot.press("down")
        chosen = table.cursor_key
        fake_run.write(folder, [event for event in events if event not in now])
        await until(pilot, lambda: len(table.keys) == 3, "the third one joins")
        assert table.cursor_key == chosen


async def test_export_writes_whole_files_and_says_where(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    async with compared(folder, verdicts(50, 20, 10, 20, 2.0, 1.2), (200, 60)) as (app, pilot, _screen):
        await pilot.press("e")
        await until(pilot, lambda: "Export the comparison" in screen_text(app), "what and where is asked")
        await pilot.press("3", "4", "5", "enter")
        await until(pilot, lambda: any("written to" in said.message for said in app._notifications), "it is said")
        written = json.loads((folder / "comparison.json").read_text())
        assert written["table"] == {"both": 50, "a_only": 20, "b_only": 10, "neither": 20}
        assert written["sources"][0]["card_digest"] == "sha256:7f3a91c0d4"
        assert "## sonnet" in (folder / "comparison.md").read_text()
        assert len([row for row in (folder / "comparison.csv").read_text().splitlines() if row[:2] != "# "]) > 100
        assert "<svg" in (folder / "comparison.html").read_text() and (folder / "comparison.svg").exists()
        assert not list(folder.glob(".comparison*"))


async def test_before_an_export_replaces_files_it_is_asked_which(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    async with compared(folder, verdicts(2, 1, 1, 1, 1.0, 1.0)) as (app, pilot, screen):
        mine = folder / "comparison.md"
        mine.write_text("somebody's own")
        for answer in ("escape", "y"):
            await pilot.press("e")
            await until(pilot, lambda: "Export the comparison" in screen_text(app), "what and where is asked")
            await pilot.press("enter")
            await until(pilot, lambda: "There are files of that name" in screen_text(app), "it is asked")
            assert "comparison.md" in screen_text(app) and mine.read_text() == "somebody's own"
            assert not (folder / "comparison.json").exists()
            await pilot.press(answer)
            await until(pilot, lambda: app.screen is screen, "it is answered")
        await until(pilot, lambda: any("written to" in said.message for said in app._notifications), "it is said")
        assert mine.read_text().startswith("## ") and (folder / "comparison.json").exists()


async def test_an_export_goes_to_the_folder_asked_for_and_esc_writes_nothing(tmp_path: Path) -> None:
    async with compared(tmp_path / "run", verdicts(2, 1, 1, 1, 1.0, 1.0)) as (app, pilot, _screen):
        await pilot.press("e", "escape", "e", "1", "tab")
        app.screen.query_one("#folder", Input).value = str(tmp_path)
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "comparison.json").exists(), "it is written")
        assert not (tmp_path / "comparison.md").exists() and not list((tmp_path / "run").glob("comparison*"))
        await pilot.press("e", "tab")
        app.screen.query_one("#folder", Input).value = str(tmp_path / "nowhere")
        await pilot.press("enter")
        await until(pilot, lambda: any("not written" in said.message for said in app._notifications), "it is said")


def test_no_byte_is_written_into_a_folder_of_another_system(tmp_path: Path) -> None:
    (tmp_path / "job" / "trial").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "job")
    for inside in ("job", "job/trial", "link", "job/../job"):
        with pytest.raises(ValueError, match="another system's run"):
            refuse_foreign(tmp_path / inside, [tmp_path / "job"])
    refuse_foreign(tmp_path, [tmp_path / "job"])
    assert default_folder([OpenedRun(tmp_path / "job", Foreign())]) == Path.cwd()
    ours = open_run(tmp_path / "ours")
    assert default_folder([ours]) == tmp_path / "ours" and default_folder([ours, ours]) == Path.cwd()


async def test_with_more_arms_the_pair_is_chosen_with_keys(tmp_path: Path) -> None:
    events = verdicts(2, 1, 1, 1, 1.0, 1.0)
    planned = events[0]
    assert isinstance(planned, ev.RunPlanned)
    third = ev.ArmInfo(name="third", agent="nop")
    events[0] = msgspec.structs.replace(planned, arms=(*planned.arms, third))
    for task in range(5):
        trial = trial_id(task, "third", 1)
        name = fake_run.TASKS[task]
        events.append(ev.TrialPlanned(at=at(0), trial=trial, task=name, arm="third", attempt=1, position=50 + task))
        events += [*begun(trial, task), *ended(trial, task + 300, False)]
    async with compared(tmp_path / "run", events) as (app, pilot, screen):
        assert "of 3 arms" in screen_text(app)
        assert "p 1.00 raw, Holm-adjusted p 1.00, over 2 arms compared with A" in screen_text(app)
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: screen.found is not None and screen.found.arms[1].name == "third", "A against third")
        assert screen.found is not None and screen.found.arms[0].name == A
        await pilot.press("B")
        await until(pilot, lambda: screen.found is not None and screen.found.arms[0].name == B, "another baseline")


async def test_one_arm_alone_and_an_empty_run_say_so(tmp_path: Path) -> None:
    planned = plan(2)
    first = planned[0]
    assert isinstance(first, ev.RunPlanned)
    alone = [
        msgspec.structs.replace(first, arms=first.arms[:1]),
        *(event for event in planned[1:] if getattr(event, "arm", "") == A),
    ]
    async with compared(tmp_path / "run", alone, wait=False) as (app, pilot, _screen):
        await until(pilot, lambda: "one arm alone" in screen_text(app), "it is said")
        for key in ("enter", "a", "b", "e", "s", "d", "n", "n", "t", "o", "right_square_bracket"):
            await pilot.press(key)
        assert app.is_running


async def test_nothing_finished_yet_is_no_crash(tmp_path: Path) -> None:
    async with compared(tmp_path / "run", plan(3)) as (app, _, _screen):
        assert "nothing to compare yet" in screen_text(app)


@pytest.mark.parametrize("size", [*SIZES, (40, 10), (20, 5)])
async def test_hostile_names_reach_no_strip(tmp_path: Path, size: tuple[int, int]) -> None:
    hostile = "\x1b]52;c;AAAA\x07[/red] \x9b31m[@click=app.quit]x"
    events = [
        msgspec.structs.replace(event, task=f"{event.task}{hostile}") if isinstance(event, ev.TrialPlanned) else event
        for event in verdicts(1, 2, 2, 1, 1.0, None)
    ]
    first = events[0]
    assert isinstance(first, ev.RunPlanned)
    events[0] = msgspec.structs.replace(first, name=hostile, task_set=ev.TaskSetInfo(name=hostile, version=hostile))
    async with compared(tmp_path / "run", events, size) as (app, pilot, _screen):
        for keys in ("n", "s", "d", "d", "right", "left"):
            await pilot.press(keys)
            await pilot.pause()
            text = "".join(screen_lines(app))
            assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)
            assert all(len(line) <= size[0] for line in screen_lines(app))


async def test_families_of_tasks_are_asked_on_a_line_and_shown_beside_the_difference(tmp_path: Path) -> None:
    async with compared(tmp_path / "run", verdicts(3, 3, 2, 6, 1.0, 2.0)) as (app, pilot, _screen):
        assert "by family" not in screen_text(app)
        await pilot.press("f", *"prefix:-", "enter")
        await until(pilot, lambda: "by family" in screen_text(app), "the families count")
        await pilot.press("f", *(["backspace"] * 10), *"nowhere.csv", "enter")
        await until(pilot, lambda: "families 'nowhere.csv'" in screen_text(app), "no such file")
        await until(pilot, lambda: "by family" in screen_text(app), "the comparison that stood before stands again")
        await pilot.press("f", *(["backspace"] * 8), "enter")
        await until(pilot, lambda: "A − B" in screen_text(app) and "by family" not in screen_text(app), "without again")
