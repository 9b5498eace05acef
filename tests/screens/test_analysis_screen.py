"""The numbers over many runs on a screen: by sections, live, asked anew, and written out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import TrialDeckApp
from engine import events as ev
from screens.analysing import AnalysisWish, weights_in
from screens.analysis_screen import AnalysisScreen
from screens.compare_screen import CompareScreen
from screens.export_screen import ExportScreen
from screens.home_screen import HomeScreen
from screens.run_screen import RunScreen
from tests.screens import effort_runs, fake_run
from tests.screens.deck import opened, pasted, screen_text, until
from tests.screens.fake_run import at
from tests.screens.looks import SIZES, looks_as_kept, size_name
from tests.screens.test_compare_screen import A, B, verdicts

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def analysed(
    folders: Sequence[Path], wish: AnalysisWish | None = None, size: tuple[int, int] = (120, 40), **given: Any
) -> AsyncIterator[tuple[TrialDeckApp, Pilot[Any], AnalysisScreen]]:
    app = TrialDeckApp(
        runs_dir=folders[0].parent, analysed=folders, analysis_wish=wish, clock=lambda: at(1500), **given
    )
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AnalysisScreen), "the analysis opens")
        screen = app.screen
        assert isinstance(screen, AnalysisScreen)
        await until(pilot, lambda: screen.analysed is not None and not screen._working, "it is worked out")
        await pilot.pause()
        yield app, pilot, screen


async def test_every_section_is_reached_by_its_number_and_by_going_on(tmp_path: Path) -> None:
    async with analysed(effort_runs.write(tmp_path)) as (app, pilot, _screen):
        assert "Arms, ranked by overlap of their intervals" in screen_text(app)
        assert "3 arms · 2 benchmarks" in screen_text(app)
        await pilot.press("2")
        assert "Index: unweighted mean" in screen_text(app) and "[2 index]" in screen_text(app)
        seen = []
        for _ in range(9):
            await pilot.press("right")
            seen.append(screen_text(app))
        assert any("knee medium" in text for text in seen), "the sweep and its knee"
        assert any("score against steps, terminal-bench 4.0.0" in text and "┤" in text for text in seen), "its plot"
        assert any("all with a factor of 1" in text for text in seen)
        assert any("agent time" in text for text in seen)
        await pilot.press("0")
        assert "[0 all]" in screen_text(app)
        await pilot.press("end")
        await until(pilot, lambda: "effort: score against cost" in screen_text(app), "one page with all")
        await pilot.press("left")
        assert "[0 all]" not in screen_text(app)


async def test_weights_attempts_and_families_are_asked_on_a_line(tmp_path: Path) -> None:
    async with analysed(effort_runs.write(tmp_path)) as (app, pilot, screen):
        await pilot.press("w", "end", *(["backspace"] * 80))
        await pasted(pilot, "terminal-bench 4.0.0=3, repo-fixes 2.1=1")
        await pilot.press("enter", "2")
        await until(pilot, lambda: "weight 0.75  terminal-bench 4.0.0" in screen_text(app), "the weights count")
        assert "weights are not equal" in screen_text(app)
        await pilot.press("w", *(["backspace"] * 80), *"nobody=1", "enter")
        await until(pilot, lambda: "no benchmark 'nobody' to weigh" in screen_text(app), "it is refused in words")
        await pilot.press("w", *(["backspace"] * 80), "enter", "f", *(["backspace"] * 20), *"prefix:-", "enter", "3")
        await until(pilot, lambda: "families prefix:-" in screen_text(app) and screen.analysed is not None, "families")
        await pilot.press("t", *"5", "enter", "2")
        await until(pilot, lambda: "5 attempts a task stated" in screen_text(app), "attempts")
        await until(pilot, lambda: "incomplete" in screen_text(app), "one attempt is not five: the index is incomplete")
        await pilot.press("t", "backspace", *"x", "enter")
        await until(pilot, lambda: "'x' is no number from 1" in screen_text(app), "no number")


async def test_sessions_are_read_when_they_are_asked_for() -> None:
    demo = Path(__file__).resolve().parents[2] / "sample_runs" / "recorded" / "demo"
    async with analysed([demo]) as (app, pilot, screen):
        await pilot.press("r")
        await until(pilot, lambda: "sessions read" in screen_text(app), "they are read")
        await pilot.press("0", "end")
        await until(pilot, lambda: "fell back" in screen_text(app), "refusals and fallbacks, both ways")
    async with analysed([demo], AnalysisWish(sessions=True, arms=("replay",))) as (app, pilot, screen):
        assert screen.analysed is not None and screen.analysed.found is not None
        assert screen.analysed.found.refusals and screen.analysed.found.arms == ("replay",)


async def test_it_opens_from_a_run_from_the_comparison_and_from_marked_runs(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", verdicts(3, 3, 2, 2, 1.0, 2.0)) as (app, pilot):
        await pilot.press("a")
        await until(pilot, lambda: "Arms, ranked by overlap" in screen_text(app), "from the run")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen), "and on to the comparison")
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, AnalysisScreen), "and back by its key")
        await pilot.press("escape", "escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, RunScreen), "esc goes back")
    effort_runs.write(tmp_path / "two")
    app = TrialDeckApp(places=[tmp_path / "two"], clock=lambda: at(1500))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and bool(app.screen._known), "the runs are read")
        await pilot.press("space", "down", "space", "a")
        await until(pilot, lambda: "3 arms · 2 benchmarks" in screen_text(app), "both marked runs")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen), "back to the list")
        await until(pilot, lambda: not app.open_runs, "nobody shows them: they are closed")


async def test_it_follows_a_run_that_goes_on(tmp_path: Path) -> None:
    events = verdicts(3, 3, 2, 2, 1.0, 2.0)
    last = max(number for number, event in enumerate(events) if isinstance(event, ev.TrialFinished))
    folder = tmp_path / "run"
    fake_run.write(folder, events[:last])
    async with analysed([folder]) as (app, pilot, _screen):
        assert "1 trial to go" in screen_text(app) and "so far" in screen_text(app)
        fake_run.write(folder, events[last:])
        await until(
            pilot, lambda: "to go" not in screen_text(app) and "so far" not in screen_text(app), "it is taken in"
        )


@pytest.mark.parametrize("number", range(1, 7))
async def test_it_is_written_in_every_format(tmp_path: Path, number: int) -> None:
    folders = effort_runs.write(tmp_path / "runs")
    out = tmp_path / "out"
    out.mkdir()
    async with analysed(folders) as (app, pilot, screen):
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, ExportScreen), "it asks")
        chosen = {"txt": 1, "md": 2, "json": 3, "csv": 4, "html": 5, "svg": 6}
        (ending,) = (name for name, place in chosen.items() if place == number)
        await pilot.press(*(key for key in "23" if key != str(number)), *("" if number in (2, 3) else str(number)))
        await pilot.press("tab", "end", *(["ctrl+u"]))
        await pasted(pilot, str(out))
        await pilot.press("enter")
        await until(pilot, lambda: (out / f"analysis.{ending}").is_file(), "it is written")
        await until(pilot, lambda: app.screen is screen, "and the screen is back")
    assert [path.name for path in out.iterdir()] == [f"analysis.{ending}"]
    text = (out / f"analysis.{ending}").read_text(encoding="utf-8")
    if ending == "json":
        assert json.loads(text)["effort_sweeps"][0]["knee"] == "medium"
    else:
        assert "sol medium" in text and "terminal-bench 4.0.0" in text


async def test_a_read_only_console_writes_nothing_and_one_arm_alone_is_analysed(tmp_path: Path) -> None:
    events = [event for event in verdicts(3, 3, 2, 2, 1.0, 2.0) if f"-{B}-" not in getattr(event, "trial", "")]
    fake_run.write(tmp_path / "run", events)
    async with analysed([tmp_path / "run"], AnalysisWish(arms=(A,))) as (app, pilot, screen):
        assert screen.analysed is not None and screen.analysed.found is not None
        assert screen.analysed.found.arms == (A,)
        await pilot.press("c")
        await until(pilot, lambda: "one arm alone" in screen_text(app), "no comparison of one arm")
    async with analysed([tmp_path / "run"], AnalysisWish(arms=("nobody",))) as (app, pilot, screen):
        assert "no arm 'nobody'" in screen_text(app)
        await pilot.press("e", "right", "5", "i")
        await until(pilot, lambda: "nothing is worked out yet" in screen_text(app), "nothing to be written")


def test_weights_are_read_by_the_last_sign_of_equality() -> None:
    assert weights_in("a b=2, c=d=0.5,") == {"a b": 2.0, "c=d": 0.5}
    with pytest.raises(ValueError, match="expected BENCHMARK=NUMBER"):
        weights_in("a=2, b")


SECTIONS = {
    "ranks": (),
    "all": ("0",),
    "effort": ("0", "left", "left"),
    "tiers": ("4",),
    "weights": ("w",),
    "help": ("question_mark",),
}


@pytest.mark.parametrize("size", SIZES, ids=size_name)
@pytest.mark.parametrize("section", SECTIONS)
async def test_the_screen_looks_as_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, section: str, size: tuple[int, int]
) -> None:
    monkeypatch.chdir(tmp_path)
    async with analysed(effort_runs.write(Path("runs")), size=size) as (_app, pilot, _screen):
        await pilot.press(*SECTIONS[section])
        await looks_as_kept(pilot, f"analysis-{section}-{size_name(size)}")


async def test_reviews_are_read_from_a_file_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("task,arm,review_minutes,abstained\ntask-00,sol low,30,\ntask-19,sol low,,1\n")
    async with analysed(effort_runs.write(tmp_path / "runs")) as (app, pilot, _screen):
        await pilot.press("v")
        await pasted(pilot, str(path))
        await pilot.press("enter")
        await pilot.press("0", "end")
        await until(pilot, lambda: "30 minutes of review" in screen_text(app), "they stand at the end")
        await pilot.press("v", "end", "ctrl+u", *"x.csv", "enter")
        await until(pilot, lambda: "x.csv: No such file" in screen_text(app), "no such file")
