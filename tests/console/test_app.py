"""The app around the screens: ways in, ways out, what Ctrl-C does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import TrialDeckApp
from engine import events as ev
from engine.readers.reader import Liveness
from screens.actions import all_places
from screens.home_screen import HomeScreen
from screens.question_screen import QuestionScreen
from screens.run_screen import RunScreen
from tests.screens import fake_run
from tests.screens.deck import opened, screen_lines, screen_text, until

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Recorder:
    """Stands for the engine's end of the socket."""

    def __init__(self, problem: str = "") -> None:
        self.commands: list[Mapping[str, Any]] = []
        self.problem = problem

    def send(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        self.commands.append(command)
        return {"ok": not self.problem, "error": self.problem}

    def __call__(self, folder: Path) -> Recorder:
        return self


async def appended(app: TrialDeckApp, pilot: Pilot[Any], *events: ev.Event, then: Callable[[], bool]) -> None:
    assert app.source is not None
    fake_run.write(app.source.folder, events)
    await until(pilot, then)


async def test_watching_q_and_ctrl_c_leave(tmp_path: Path) -> None:
    for key in ("q", "ctrl+c", "ctrl+q"):
        async with opened(tmp_path / key, fake_run.story()) as (app, pilot):
            await pilot.press(key)
            assert app._exit and app.return_code == 0


@pytest.mark.parametrize("action", ["screen.compare", "screen.analyse", "screen.triage", "app.keys"])
async def test_what_was_typed_ahead_of_the_end_opens_nothing_more(tmp_path: Path, action: str) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, _):
        before = list(app.screen_stack)
        app.leave()
        await app.run_action(action)
        assert app.screen_stack == before and app.return_code == 0


async def test_a_run_that_goes_on_again_has_its_comparison_when_it_ends_and_not_before(
    tmp_path: Path, monkeypatch: Any
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(RunScreen, "action_compare", lambda self: asked.append(1))
    async with opened(tmp_path / "run", fake_run.story(), started_here=True) as (app, pilot):
        assert app.source is not None and app.source.state.finished is None
        app.source._look = lambda reader: None  # type: ignore[method-assign]
        app.source.liveness = Liveness.FINISHED  # as its earlier end was seen, a moment ago
        app._look_for_the_end()
        assert not asked
        rest = fake_run.finish(fake_run.story())[len(fake_run.story()) :]
        await appended(app, pilot, *rest, then=lambda: bool(asked))
        assert asked == [1]


async def test_ctrl_c_where_the_run_was_started_asks_then_cancels_then_forces(tmp_path: Path) -> None:
    engine = Recorder()
    async with opened(tmp_path / "run", fake_run.story(), started_here=True, control=engine) as (app, pilot):
        await pilot.press("ctrl+c")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        assert "cancel the run" in screen_text(app) and "leave it running" in screen_text(app)
        assert not engine.commands
        await pilot.press("ctrl+c")
        await until(pilot, lambda: bool(engine.commands))
        assert engine.commands == [{"command": "cancel", "trial": "", "force": False}]
        assert app.source is not None
        state = app.source.state
        await appended(app, pilot, ev.CancelRequested(), then=lambda: state.cancelling)
        await until(pilot, lambda: "⊘ cancelling" in screen_lines(app)[0])
        await pilot.press("ctrl+c")
        await until(pilot, lambda: len(engine.commands) == 2)
        assert engine.commands[1]["force"] is True
        over = ev.RunFinished(exit_code=130, seconds=1500)
        await appended(app, pilot, over, then=lambda: app._exit)
        assert app.return_code == 130


async def test_ctrl_c_then_stay_and_then_leave_it_running(tmp_path: Path) -> None:
    engine = Recorder()
    async with opened(tmp_path / "run", fake_run.story(), started_here=True, control=engine) as (app, pilot):
        await pilot.press("ctrl+c")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        await pilot.press("escape")
        assert isinstance(app.screen, RunScreen) and not app._exit
        await pilot.press("ctrl+c")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        await pilot.press("l")
        await until(pilot, lambda: app._exit)
        assert app.return_code == 0 and not engine.commands


async def test_the_comparison_opens_once_when_a_run_started_here_ends(tmp_path: Path, monkeypatch: Any) -> None:
    asked: list[int] = []
    monkeypatch.setattr(RunScreen, "action_compare", lambda self: asked.append(1))
    async with opened(tmp_path / "run", fake_run.story(), started_here=True) as (app, pilot):
        assert not asked
        assert app.source is not None
        rest = fake_run.finish(fake_run.story())[len(fake_run.story()) :]
        await appended(app, pilot, *rest, then=lambda: bool(asked))
        await pilot.press("q")
        assert asked == [1] and app.return_code == 3


async def test_watching_a_finished_run_opens_no_comparison(tmp_path: Path, monkeypatch: Any) -> None:
    asked: list[int] = []
    monkeypatch.setattr(RunScreen, "action_compare", lambda self: asked.append(1))
    async with opened(tmp_path / "run", fake_run.finish(fake_run.story())) as (_, pilot):
        await pilot.pause(0.3)
        assert not asked


async def test_cancelling_a_trial_asks_and_a_refusal_is_said(tmp_path: Path) -> None:
    engine = Recorder("the engine is stopping")
    async with opened(tmp_path / "run", fake_run.story(), control=engine) as (app, pilot):
        await pilot.press("down", "x")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        await pilot.press("escape")
        assert not engine.commands
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen))
        await pilot.press("y")
        await until(pilot, lambda: "cancel: the engine is stopping" in screen_text(app))
        assert engine.commands[0]["command"] == "cancel" and engine.commands[0]["trial"]


async def test_leaving_a_run_whose_engine_died_says_so_and_is_no_success(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    async with opened(folder, fake_run.story(), started_here=True) as (app, _):
        (folder / "engine.log").write_text("Traceback …\nMemoryError: none left\n")
        assert app.source is not None
        app.source._look = lambda reader: None  # type: ignore[method-assign]
        app.source.liveness = Liveness.STALE
        app.leave()
        assert app.return_code == 1
        said = str(app._exit_renderables[0])
        assert "MemoryError: none left" in said


async def test_pause_and_concurrency(tmp_path: Path) -> None:
    engine = Recorder()
    async with opened(tmp_path / "run", fake_run.story(), control=engine) as (app, pilot):
        await pilot.press("p", "plus")
        await until(pilot, lambda: len(engine.commands) == 2)
        assert {"command": "pause"} in engine.commands and {"command": "concurrency", "value": 5} in engine.commands
        await until(pilot, lambda: "at most 5 trials at the same time" in screen_text(app))
        await appended(app, pilot, ev.RunPaused(), then=lambda: "‖ paused" in screen_lines(app)[0])


async def test_the_list_of_runs_opens_one_and_esc_comes_back_to_it(tmp_path: Path) -> None:
    fake_run.write(tmp_path / "one", fake_run.finish(fake_run.story()))
    fake_run.write(tmp_path / "two", fake_run.story())
    app = TrialDeckApp(runs_dir=tmp_path, clock=lambda: fake_run.at(1500))
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "2 runs in" in screen_text(app))
        text = screen_text(app)
        assert "● live" in text and "✓ finished" in text and "10/24" in text and "24/24" in text
        assert "A 40.0 %   B 60.0 %" in text
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and "kv-live-surgery" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        assert any(line.startswith("›") for line in screen_lines(app)[4:6])


async def test_esc_from_a_run_that_was_opened_by_name_goes_to_the_list(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and "1 run in" in screen_text(app))
        await pilot.press("escape", "enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen) and "kv-live-surgery" in screen_text(app))


async def test_an_empty_folder_says_how_to_start(tmp_path: Path) -> None:
    app = TrialDeckApp(runs_dir=tmp_path / "nothing")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "`trialdeck run` starts one" in screen_text(app))


async def test_help_lists_the_keys_of_where_one_is(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story(), (120, 70)) as (app, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: "In a table" in screen_text(app))
        text = screen_text(app)
        for place in ("run", "table", "everywhere"):
            for action in all_places()[place].actions:
                assert action.help in text or action.name == "back", action.name  # Esc is the run's own here
        await pilot.press("escape")
        assert isinstance(app.screen, RunScreen)


async def test_the_palette_runs_what_the_screen_can_do(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("colon")
        await until(pilot, lambda: "Open the trial under the cursor" in screen_text(app))
        await pilot.press(*"sort by rew")
        await until(pilot, lambda: "Sort by reward" in screen_text(app) and "Sort by task" not in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: "sort: reward ↓" in screen_text(app))


async def test_no_color_uses_the_terminals_own_colours_from_the_start(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(tmp_path / "run", fake_run.story()) as (app, _):
        assert app.native_ansi_color and app.no_color
        for strip in app.screen._compositor.render_strips():
            for segment in strip:
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    assert colour is None or colour.is_default or colour.number is not None, segment


async def test_a_picture_of_the_screen_can_be_saved(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(tmp_path / "run", fake_run.story()) as (_, pilot):
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(list(tmp_path.glob("trialdeck-run-*.svg"))))
