"""Several runs compared: both followed, arms picked, trials side by side, labels at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from console.app import TrialDeckApp
from engine import events as ev
from engine.readers.open_run import open_run
from engine.triage.causes import Cause
from engine.triage.label_store import open_labels
from engine.triage.labels import Label
from screens.arm_picker import ArmPicker, ArmTable
from screens.compare_screen import CompareScreen
from screens.comparing import Wish
from screens.side_by_side import SideBySide
from screens.trial_screen import TrialScreen
from tests.screens import fake_run
from tests.screens.deck import screen_lines, screen_text, until
from tests.screens.fake_run import at, trial_id
from tests.screens.test_compare_screen import A, B, verdicts

pytestmark = pytest.mark.anyio


def one_arm(events: list[ev.Event], arm: str, **changed: Any) -> list[ev.Event]:
    """The run as if this arm alone had been planned."""
    planned = events[0]
    assert isinstance(planned, ev.RunPlanned)
    arms = tuple(info for info in planned.arms if info.name == arm)
    kept = [event for event in events[1:] if f"-{arm}-" in getattr(event, "trial", f"-{arm}-")]
    return [msgspec.structs.replace(planned, arms=arms, run=f"run-{arm}", **changed), *kept]


def two_runs(folder: Path, **changed: Any) -> list[Path]:
    events = verdicts(3, 3, 2, 2, 1.0, 2.0)
    return [
        fake_run.write(folder / "one", one_arm(events, A)),
        fake_run.write(folder / "two", one_arm(events, B, **changed)),
    ]


@asynccontextmanager
async def compared(
    folders: list[Path], wish: Wish | None = None, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[TrialDeckApp, Pilot[Any], CompareScreen]]:
    app = TrialDeckApp(runs_dir=folders[0].parent, compared=folders, wish=wish, clock=lambda: at(1500))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, CompareScreen), "the comparison opens")
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: screen.worked is not None, "it is worked out")
        await pilot.pause()
        yield app, pilot, screen


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60)])
async def test_both_arms_are_named_however_long_their_runs_are_called(tmp_path: Path, size: tuple[int, int]) -> None:
    events = verdicts(3, 3, 2, 2, 1.0, 2.0)
    names = ("2026-11-30__15-50-43__a-long-name", "2026-11-30__15-22-28__a-long-name")
    folders = [fake_run.write(tmp_path / name, events) for name in names]
    async with compared(folders, size=size) as (app, _, screen):
        labels = [arm.name for arm in (screen.comparing.a, screen.comparing.b) if arm is not None]
        head = " ".join(screen_lines(app)[1:4])
        assert len(labels) == 2 and f"A {labels[0]}"[:50] in head and f"B {labels[1]}"[:50] in head


async def test_two_runs_are_compared_and_both_are_followed(tmp_path: Path) -> None:
    folders = two_runs(tmp_path, timeout_factor=1.5)
    held = trial_id(9, B, 1)
    events = one_arm(verdicts(3, 3, 2, 2, 1.0, 2.0), B)
    late = [event for event in events if getattr(event, "trial", "") == held and isinstance(event, ev.TrialFinished)]
    async with compared(folders) as (app, pilot, screen):
        await until(pilot, lambda: screen.found is not None and screen.found.tasks == 10, "all pairs are there")
        assert screen.found is not None
        assert (screen.found.table.both, screen.found.table.a_only, screen.found.table.b_only) == (3, 3, 2)
        assert "B ran with a timeout factor of 1.5" in screen_text(app)
        assert "2 runs › compare" in screen_lines(app)[0]
        passed = [msgspec.structs.replace(event, passed=True, reward=1.0) for event in late]
        fake_run.write(folders[1], passed)
        await until(
            pilot, lambda: screen.found is not None and screen.found.table.b_only == 3, "the second is followed"
        )
        await pilot.press("d")
        await until(pilot, lambda: "The run cards differ" in screen_text(app), "all differences")
        assert "model: A sonnet-5.5, B sol-6.1" in screen_text(app)
        assert "controlled model" in screen_text(app)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: not isinstance(app.screen, CompareScreen), "back to the list")
        await until(pilot, lambda: not app.open_runs, "nobody shows them: they are closed")


async def test_tasks_on_one_side_only_are_refused_until_the_common_ones_are_asked_for(tmp_path: Path) -> None:
    folders = [
        fake_run.write(tmp_path / "one", one_arm(verdicts(3, 3, 0, 2, 1.0, 1.0), A)),
        fake_run.write(tmp_path / "two", one_arm(verdicts(3, 0, 2, 0, 1.0, 1.0), B)),
    ]
    async with compared(folders) as (app, pilot, screen):
        await until(pilot, lambda: "3 tasks only in A" in screen_text(app), "it is refused")
        assert screen.found is None and "o compares the common ones" in " ".join(screen_text(app).split())
        await pilot.press("o")
        await until(pilot, lambda: screen.found is not None and screen.found.tasks == 5, "the common five")
        assert "3 tasks only in A, left out" in screen_text(app)


async def test_the_wish_of_a_command_line_is_followed(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", verdicts(3, 3, 2, 2, 1.0, 2.0))
    async with compared([folder], Wish(baseline=B)) as (_app, pilot, screen):
        await until(pilot, lambda: screen.found is not None, "the numbers are there")
        assert screen.found is not None and [arm.name for arm in screen.found.arms] == [B, A]
    async with compared([folder], Wish(arms=("nobody",))) as (app, pilot, screen):
        await until(pilot, lambda: "no arm 'nobody'; there are sonnet-5.5, sol-6.1" in screen_text(app), "it is said")


async def test_arms_are_picked_and_a_run_is_added_by_its_path(tmp_path: Path) -> None:
    folders = two_runs(tmp_path)
    third = fake_run.write(tmp_path / "three", one_arm(verdicts(10, 0, 0, 0, 1.0, 1.0), A))
    async with compared(folders) as (app, pilot, screen):
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, ArmPicker), "the picker opens")
        await pilot.press("plus")
        path = app.screen.query_one("#path", Input)
        path.value = str(tmp_path / "nowhere")
        await pilot.press("enter")
        await until(pilot, lambda: "no such folder" in screen_text(app), "a wrong path is said")
        path.value = str(third)
        await pilot.press("enter")
        await until(pilot, lambda: "three" in screen_text(app) and "3 in 3 runs" in screen_text(app), "it is there")
        await pilot.press("home", "space", "end", "a", "enter")
        await until(pilot, lambda: app.screen is screen, "chosen")
        await until(pilot, lambda: screen.found is not None, "worked out")
        assert screen.found is not None
        assert [arm.name for arm in screen.found.arms] == ["sonnet-5.5 (three)", B]
        assert len(app.open_runs) == 3


async def test_arms_are_taken_in_and_out_by_mouse(tmp_path: Path) -> None:
    async with compared(two_runs(tmp_path)) as (app, pilot, _):
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, ArmPicker), "the picker opens")
        table = app.screen.query_one(ArmTable)
        chosen = list(table.chosen)
        await pilot.click(ArmTable, offset=(5, 1), control=True)
        assert table.chosen == [ref for ref in chosen if ref != table.refs[0]]
        await pilot.click(ArmTable, offset=(5, 1), control=True)
        assert table.chosen[-1] == table.refs[0] and set(table.chosen) == set(chosen)
        await pilot.click(ArmTable, offset=(5, 2), shift=True)
        assert set(table.chosen) == {*chosen, *table.refs[:2]}


async def test_one_arm_is_no_choice_and_esc_changes_nothing(tmp_path: Path) -> None:
    async with compared(two_runs(tmp_path)) as (app, pilot, screen):
        before = list(screen.comparing.arms)
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, ArmPicker), "the picker opens")
        await pilot.press("home", "space", "enter")
        await until(pilot, lambda: "choose two arms or more" in screen_text(app), "it is said")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "back")
        assert screen.comparing.arms == before


async def test_enter_shows_both_trials_and_brackets_go_through_the_list(tmp_path: Path) -> None:
    folders = two_runs(tmp_path)
    second, third = sorted(fake_run.TASKS[3:6])[1:]  # tasks that A alone resolved, as the list has them
    number = fake_run.TASKS.index(second)
    for folder, arm in zip(folders, (A, B), strict=True):
        log = folder / trial_id(number, arm, 1) / "agent" / "agent.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"what {arm} did\n")
    async with compared(folders) as (app, pilot, screen):
        await until(pilot, lambda: screen.found is not None and len(screen.found.a_only) == 3, "the list is there")
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, SideBySide), "both trials")
        sides = app.screen
        assert isinstance(sides, SideBySide) and sides.pair.task == second
        await until(pilot, lambda: f"what {A} did" in screen_text(app) and f"what {B} did" in screen_text(app), "logs")
        assert "passed" in screen_text(app) and "failed" in screen_text(app)
        await pilot.press("tab")
        assert sides.side == 1
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen), "that side alone")
        assert isinstance(app.screen, TrialScreen) and app.screen.trial_id == trial_id(number, B, 1)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is sides, "back to both")
        await pilot.press("right_square_bracket")
        assert sides.pair.task == third
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen, "back to the list")
        assert screen.query_one("#a-only").cursor_key == third  # type: ignore[attr-defined]


async def test_where_it_is_narrow_one_side_is_shown_at_a_time(tmp_path: Path) -> None:
    async with compared(two_runs(tmp_path), size=(80, 24)) as (app, pilot, screen):
        await until(pilot, lambda: screen.found is not None and len(screen.found.a_only) == 3, "the list is there")
        await pilot.press("enter")
        await until(pilot, lambda: "side A, tab for the other" in screen_text(app), "one side")
        assert "no log of this trial" in screen_text(app)
        assert "failed" not in screen_text(app)
        await pilot.press("tab")
        await until(pilot, lambda: "side B" in screen_text(app) and "failed" in screen_text(app), "the other")


async def test_a_label_moves_the_sensitivity_at_once(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", verdicts(3, 3, 2, 2, 1.0, 2.0))
    async with compared([folder]) as (app, pilot, screen):
        await until(pilot, lambda: screen.found is not None and screen.found.tasks == 10, "the numbers are there")
        assert "every reading agrees" in screen_text(app)
        run = open_run(folder)
        trial = trial_id(3, B, 1)
        label = Label(
            id="l1",
            at=at(1),
            who="ada",
            run=run.identity,
            trial=trial,
            task=fake_run.TASKS[3],
            arm=B,
            attempt=1,
            cause=Cause.INFRASTRUCTURE,
        )
        open_labels(run).append(label)
        await until(pilot, lambda: "infrastructure left out (1 pair)" in screen_text(app), "the label counts")
        assert screen.found is not None and screen.found.arms[1].excluded == 1
        await pilot.press("s")
        await until(pilot, lambda: "trials that move it" in screen_text(app), "the detail")
        assert any(fake_run.TASKS[3] in line and "infrastructure" in line for line in screen_lines(app))


async def test_a_table_is_compared_on_the_screen_and_followed(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("task_id,a_pass,b_pass\nt1,1,0\nt2,1,1\n")
    async with compared([path]) as (app, pilot, screen):
        await until(pilot, lambda: screen.found is not None and screen.found.tasks == 2, "both tasks")
        assert "A only  1" in screen_text(app) and "results.csv" in screen_lines(app)[0]
        path.write_text("task_id,a_pass,b_pass\nt1,1,0\nt2,1,1\nt3,0,1\n")
        await until(pilot, lambda: screen.found is not None and screen.found.tasks == 3, "the third one came")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SideBySide), "both trials, though nothing is known of them")
        await pilot.press("escape", "A")
        await until(pilot, lambda: "2 arms · 1 benchmark" in screen_text(app), "and the analysis")
