"""Both trials of a task that the arms disagree on: steps and logs of each, and the difference in their heads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from console.app import TrialDeckApp
from engine import events as ev
from engine.readers.open_run import open_run
from engine.triage.causes import Cause
from engine.triage.label_store import open_labels
from engine.triage.labels import Label
from engine.triage.who import who_am_i
from screens.compare_screen import CompareScreen
from screens.side_by_side import SideBySide
from screens.side_by_side_column import TrialColumn
from screens.trial_screen import TrialScreen
from screens.widgets.log_view import LogView
from screens.widgets.steps_view import StepsView
from tests.engine.trajectories import sessions
from tests.screens import fake_run
from tests.screens.deck import read_and_painted, screen_lines, screen_text, until
from tests.screens.fake_run import at, begun, ended, trial_id
from tests.screens.looks import SIZES, looks_as_kept, size_name

pytestmark = pytest.mark.anyio

A, B = "sonnet-5.5", "sol-6.1"
TASKS = (3, 5)
"""Tasks that A alone resolved."""


def spent(trial: str, steps: int) -> ev.AgentStepped:
    return ev.AgentStepped(at=at(50), trial=trial, number=steps, tokens_in=1_000 * steps, tokens_out=50 * steps)


def disagreeing(folder: Path, *, sessions_of: tuple[str, ...] = (A, B), cost_b: float | None = 2.5) -> Path:
    events: list[ev.Event] = [*fake_run.plan(6)]
    for task in TASKS:
        a, b = trial_id(task, A, 1), trial_id(task, B, 1)
        events += [*begun(a, 10), spent(a, 12), *ended(a, 310, True, cost=1.25)]
        events += [*begun(b, 10), spent(b, 20), *ended(b, 250, False, took=240.0, cost=cost_b)]
    fake_run.write(folder, events)
    for arm, steps in ((A, 12), (B, 20)):
        for task in TASKS:
            agent = folder / trial_id(task, arm, 1) / "agent"
            agent.mkdir(parents=True, exist_ok=True)
            (agent / f"{arm}.txt").write_text("".join(f"{arm} wrote line {n}\n" for n in range(40)))
            (agent.parent / "verifier").mkdir(exist_ok=True)
            (agent.parent / "verifier" / "test-stdout.txt").write_text(f"tests of {arm}\n")
            if arm in sessions_of:
                sessions.write_json(agent / "trajectory.json", sessions.atif(steps))
    return folder


@asynccontextmanager
async def both_sides(
    folder: Path, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[TrialDeckApp, Pilot[Any], SideBySide]]:
    """Opened from the comparison, as a person does; what each side begins with is read."""
    app = TrialDeckApp(folder, clock=lambda: at(13_251))
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: read_and_painted(app), "the run is read")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen), "the comparison")
        compare = app.screen
        assert isinstance(compare, CompareScreen)
        await until(
            pilot, lambda: compare.found is not None and len(compare.found.a_only) == 2, "the numbers are there"
        )
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SideBySide), "both trials")
        sides = app.screen
        assert isinstance(sides, SideBySide)
        await until(pilot, lambda: all(shown(column) for column in sides.columns), "both sides show something")
        yield app, pilot, sides


def shown(column: TrialColumn) -> bool:
    """The folder is looked through, and what is open is read."""
    view = column.pages.view if column.finds is not None else None
    if isinstance(view, StepsView):
        return view.trajectory is not None and bool(view.table.steps)
    return isinstance(view, LogView) and view.is_mounted


def steps_of(column: TrialColumn) -> StepsView:
    view = column.pages.view
    assert isinstance(view, StepsView)
    return view


def number_of(column: TrialColumn) -> int:
    step = steps_of(column).step
    return step.number if step is not None else 0


async def moved(pilot: Pilot[Any], column: TrialColumn, key: str) -> int:
    """The step that a key leads to."""
    before = number_of(column)
    await pilot.press(key)
    await until(pilot, lambda: number_of(column) != before, f"{key} moves")
    return number_of(column)


@pytest.mark.parametrize("size", SIZES, ids=size_name)
async def test_each_side_opens_at_its_steps_and_says_how_it_differs(tmp_path: Path, size: tuple[int, int]) -> None:
    async with both_sides(disagreeing(tmp_path / "run"), size) as (app, pilot, _):
        text = screen_text(app)
        assert "[1 steps 13]" in text and "bash psql" in text and "13.2K" in text
        assert all(word in text for word in ("+1.00", "−8", "−8.0K", "−400", "−$1.25", "+1:00", "than B"))
        assert ("[steps 21]" in text) is (size[0] > 100)
        assert all(len(line) <= size[0] for line in screen_lines(app))
        await pilot.press("tab")
        await until(pilot, lambda: "[1 steps 21]" in screen_text(app), "the other side has the keys")
        text = screen_text(app)
        assert all(word in text for word in ("−1.00", "+8", "+8.0K", "+400", "+$1.25", "−1:00", "than A"))


async def test_steps_are_gone_through_with_the_keys_of_the_trial_screen(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run")) as (app, pilot, sides):
        a, b = sides.columns
        found = []
        for key in ("n", "e", "e", "E", "U", "n", "p"):
            found.append(await moved(pilot, a, key))
        assert found == [2, 3, 6, 3, 1, 2, 1]
        await pilot.press("tab", "n", "n")
        await until(pilot, lambda: number_of(b) == 3, "the keys go to the other side")
        assert number_of(a) == 1
        await until(pilot, lambda: "step 3 of 21" in screen_text(app), "the step is shown in full")


async def test_the_same_step_is_opened_at_the_other_side(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run")) as (_app, pilot, sides):
        a, b = sides.columns
        await pilot.press("n", "n", "n", "n")
        await until(pilot, lambda: number_of(a) == 5, "the fifth step")
        await pilot.press("equals_sign")
        await until(pilot, lambda: number_of(b) == 5, "the fifth step there")
        assert sides.side == 0
        await pilot.press("tab", "2")
        await until(pilot, lambda: isinstance(b.pages.view, LogView), "a log there")
        await pilot.press("tab", "equals_sign")
        await until(pilot, lambda: isinstance(b.pages.view, StepsView), "the steps again")


async def test_where_it_is_narrow_what_is_opened_out_of_sight_is_said(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run"), (80, 24)) as (app, pilot, sides):
        await pilot.press("n", "equals_sign")
        await until(pilot, lambda: "side B shows step 2" in screen_text(app), "it is said")
        await pilot.press("tab")
        await until(pilot, lambda: "step 2 of 21" in screen_text(app), "the step of the other side in full")
        await pilot.press("escape")
        await until(pilot, lambda: "step 2 of 21" not in screen_text(app), "its list")
        assert app.screen is sides
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen), "back to the comparison")


async def test_an_agents_log_is_the_same_whatever_its_agent_is_called(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run")) as (app, pilot, _sides):
        await pilot.press("full_stop")
        await until(pilot, lambda: f"{A} wrote line 1" in screen_text(app), "the agent's log")
        await pilot.press("equals_sign")
        await until(pilot, lambda: f"{B} wrote line 1" in screen_text(app), "the other agent's")
        await pilot.press("3", "equals_sign")
        await until(pilot, lambda: f"tests of {A}" in screen_text(app), "the tests")
        await until(pilot, lambda: f"tests of {B}" in screen_text(app), "of both")


async def test_a_side_without_a_session_opens_at_its_log_and_says_what_it_lacks(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run", sessions_of=(A,))) as (app, pilot, sides):
        assert isinstance(sides.columns[1].pages.view, LogView)
        await pilot.press("equals_sign")
        await until(pilot, lambda: "the other side has no session with steps" in screen_text(app), "it is said")
        assert isinstance(sides.columns[1].pages.view, LogView)


async def test_l_goes_to_the_log_of_that_side_and_escape_comes_back(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run")) as (app, pilot, sides):
        column = sides.column
        for back in ("escape", "backspace"):
            await pilot.press("l")
            await until(pilot, lambda: isinstance(column.pages.view, LogView), "the log")
            assert isinstance(column.pages.view, LogView) and column.pages.view.path.name == f"{A}.txt"
            await pilot.press(back)
            await until(pilot, lambda: isinstance(column.pages.view, StepsView), "the steps again")
            assert app.screen is sides


async def test_a_step_asked_for_before_the_steps_have_the_keys_is_a_step(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run")) as (_app, pilot, sides):
        sides.set_focus(None)
        await pilot.press("n")
        await until(pilot, lambda: number_of(sides.column) == 2, "the next step")
        assert not isinstance(sides.focused, Input)


async def test_a_search_typed_fast_is_of_this_sides_steps(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run")) as (app, pilot, sides):
        a, b = sides.columns
        for key in ("slash", *"such", "enter"):
            app.simulate_key(key)
        await until(pilot, lambda: "1 of 4" in screen_text(app), "the first hit")
        assert number_of(a) == 3 and steps_of(b).search is None
        await pilot.press("n")
        await until(pilot, lambda: number_of(a) == 6, "the next hit")
        await pilot.press("escape")
        await until(pilot, lambda: steps_of(a).search is None, "the search is forgotten")
        assert app.screen is sides and not isinstance(sides.focused, Input)


async def test_brackets_keep_what_is_shown_and_go_to_the_other_task(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run")) as (app, pilot, sides):
        first = sides.pair.task
        await pilot.press("3", "right_square_bracket")
        await until(pilot, lambda: all(map(shown, sides.columns)), "the other task's")
        assert sides.pair.task != first
        a, b = sides.columns
        await until(pilot, lambda: f"tests of {A}" in screen_text(app), "the tests of the other task")
        assert isinstance(b.pages.view, StepsView)
        assert isinstance(a.pages.view, LogView)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen), "this side alone")


async def test_a_click_on_the_other_sides_tabs_opens_there_and_takes_the_keys_along(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run")) as (app, pilot, sides):
        row = next(n for n, line in enumerate(screen_lines(app)) if "[steps 21]" in line)
        column = screen_lines(app)[row].index(B, 60)
        await pilot.click(offset=(column, row))
        await until(pilot, lambda: isinstance(sides.columns[1].pages.view, LogView), "its log")
        assert sides.side == 1 and isinstance(sides.columns[0].pages.view, StepsView)


async def test_what_is_unknown_has_no_difference(tmp_path: Path) -> None:
    async with both_sides(disagreeing(tmp_path / "run", cost_b=None)) as (app, _, _):
        head = [line for line in screen_lines(app) if "than B" in line]
        assert len(head) == 1 and "$" not in head[0] and "—" in head[0] and "−8.0K" in head[0]


async def test_the_cause_that_a_person_gave_stands_in_the_head(tmp_path: Path) -> None:
    folder = disagreeing(tmp_path / "run")
    trial = trial_id(TASKS[0], B, 1)
    async with both_sides(folder) as (app, pilot, sides):
        if sides.pair.b[1] != trial:
            await pilot.press("right_square_bracket")
        run = open_run(folder)
        open_labels(run).append(
            Label(
                id="l1",
                at=at(1),
                who=who_am_i(),
                run=run.identity,
                trial=trial,
                task=fake_run.TASKS[TASKS[0]],
                arm=B,
                attempt=1,
                cause=Cause.INFRASTRUCTURE,
            )
        )
        await until(pilot, lambda: any("$2.50" in line and "infra" in line for line in screen_lines(app)), "its cause")


CASES: dict[str, tuple[str, ...]] = {
    "sides-steps": ("n", "n", "equals_sign"),
    "sides-step-in-full": ("e", "enter"),
    "sides-logs": ("2", "equals_sign"),
}


@pytest.mark.parametrize("size", SIZES, ids=size_name)
@pytest.mark.parametrize("case", CASES)
async def test_the_screen_looks_as_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, size: tuple[int, int]
) -> None:
    monkeypatch.chdir(tmp_path)
    async with both_sides(disagreeing(Path("run")), size) as (app, pilot, sides):
        for key in CASES[case]:
            await pilot.press(key)
            await until(pilot, lambda: all(map(shown, sides.columns)), "both sides show something")
        app.clear_notifications()
        for _ in range(3):
            await pilot.app.workers.wait_for_complete()
            await pilot.pause()
        await looks_as_kept(pilot, f"{case}-{size_name(size)}")
