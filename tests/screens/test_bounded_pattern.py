"""Patterns that would take years: given up, said, and never in the way of keys."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from console.app import TrialDeckApp
from engine import events as ev
from screens.bounded_pattern import BoundedPattern, TooSlow
from screens.home_screen import HomeScreen
from screens.log_file import GrowingFile
from screens.log_pattern import Pattern
from screens.log_search import Search
from screens.row_pattern import TOO_SLOW, RowPattern
from screens.run_filter import FilterError
from screens.run_filter import parse as parse_runs
from screens.trial_filter import FilterError as TrialFilterError
from screens.trial_filter import parse as parse_trials
from tests.screens import fake_run
from tests.screens.deck import opened, pasted, screen_text, until

RUNS_AWAY = r"(?=x)(x|xx|x.?)+\1\1!$"
LINE = "x" * 200 + "?"


def test_a_pattern_that_runs_away_finds_nothing_and_is_asked_no_more() -> None:
    pattern = BoundedPattern(RUNS_AWAY)
    assert pattern.search("xxxx!") is not None
    for _ in range(3):
        assert pattern.search(LINE, 0.01) is None and list(pattern.finditer(LINE, 0.01)) == []
    assert pattern.gave_up and pattern.search("xxxx!") is None


def test_what_is_no_pattern_is_said_as_python_says_it() -> None:
    with pytest.raises(re.error, match="nothing to repeat"):
        BoundedPattern("*")
    assert BoundedPattern("/*").search("a/b") is not None


@pytest.mark.parametrize("source", ["(?a)(?u)x", "a{99999999999}", "a{" + "9" * 5_000 + "}", "(" * 5_000 + ")" * 5_000])
def test_whatever_python_says_of_a_pattern_a_filter_refuses_it(source: str) -> None:
    """Some of it is not said as an error of patterns."""
    with pytest.raises(re.error):
        BoundedPattern(source)
    with pytest.raises(re.error):
        BoundedPattern(source.encode())
    with pytest.raises(FilterError, match="regex: "):
        parse_runs(f"/{source}/")
    with pytest.raises(TrialFilterError, match="regex: "):
        parse_trials(f"/{source}/")


@pytest.mark.parametrize("source", [r"(a+)+$", r"(?<=x)(a+)+$", r"(\w+)+!", r"([a-z]+)*=\1"])
def test_nested_repetition_ends_on_a_line_that_never_matches(source: str) -> None:
    line = "x" + "a" * 60 + "é?"
    pattern = Pattern(source)
    assert pattern.in_text.search(line) is None
    try:
        assert pattern.find_all(line.encode()) == []
    except TooSlow:
        assert not source.startswith("(a"), "what is linear always ends"


def test_many_matches_before_a_line_that_runs_away_are_all_found() -> None:
    """Where lines match one after the other another way of looking takes over; it must end, too."""
    data = b"aa\n" * 200 + b"a" * 5_000 + b"b\naa\n"
    assert len(Pattern(r"^(a|aa|a.?)+$").find_all(data)) in (201, 202)


def test_a_search_says_that_its_pattern_is_too_slow_and_stays_stopped(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(f"{LINE}\n")
    file = GrowingFile(path)
    file.look()
    search = Search(file, Pattern(RUNS_AWAY))
    assert not search.extend() and search.too_slow and not search.complete
    assert not search.extend() and search.count == 0 and search.next_after(0) is None
    file.close()


SLOW_NAME = "x" * 200 + "?"


@pytest.mark.anyio
async def test_a_filter_of_trials_that_gives_up_says_so_until_it_is_another(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, task=SLOW_NAME) if isinstance(event, ev.TrialPlanned) else event
        for event in fake_run.story()
    ]
    async with opened(tmp_path / "run", events) as (app, pilot):
        await pilot.press("slash")
        await pasted(pilot, f"/{RUNS_AWAY}/")
        await pilot.press("enter")
        await until(pilot, lambda: TOO_SLOW[:18] in screen_text(app), "it is said")
        await pilot.press("slash", "ctrl+u", *"sonnet", "enter")
        await until(pilot, lambda: TOO_SLOW[:18] not in screen_text(app), "another filter")


@pytest.mark.anyio
async def test_a_filter_of_runs_that_gives_up_says_so(tmp_path: Path) -> None:
    fake_run.write(tmp_path / SLOW_NAME, fake_run.story())
    app = TrialDeckApp(places=[tmp_path], clock=lambda: fake_run.at(1500))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and bool(app.screen._known), "the runs are read")
        await pilot.press("slash")
        await pasted(pilot, f"/{RUNS_AWAY}/")
        await pilot.press("enter")
        await until(pilot, lambda: TOO_SLOW[:18] in screen_text(app), "it is said")
        await pilot.press("escape")
        await until(pilot, lambda: TOO_SLOW[:18] not in screen_text(app), "without the filter")


def test_a_filter_that_is_quick_has_nothing_to_say() -> None:
    pattern = RowPattern("x+")
    assert pattern.in_any([SLOW_NAME]) and not pattern.too_slow
    slow = RowPattern(RUNS_AWAY)
    assert not slow.in_any(["a", SLOW_NAME]) and slow.too_slow


@pytest.mark.parametrize(
    "source",
    [
        "a{99999999}",
        "(a{1000}){1000}",
        "((?:a{300}){300}){300,}",
        "(?P<x>[]a-z]{9000,}){3}",
        r"(\){200}){200}",
        "x{20001}",
    ],
)
def test_counts_that_would_take_all_the_memory_are_refused(source: str) -> None:
    with pytest.raises(re.error, match="20,000 repeats"):
        BoundedPattern(source)
    with pytest.raises(re.error, match="20,000 repeats"):
        BoundedPattern(source.encode())


@pytest.mark.parametrize(
    "source",
    [
        "[0-9a-f]{64} [0-9a-f]{64} [0-9a-f]{64}",
        r"\d{4}-\d{2}-\d{2}T(\d{2}:){2}\d{2}(\.\d{1,9})?",
        "a{0,99999}",
        r"\{99999999\}",
        "[{99999999}]",
        "x{19000}",
        "(?:(?<=a)b{100}){100}",
    ],
)
def test_counts_as_people_write_them_are_fine(source: str) -> None:
    BoundedPattern(source)
