"""Keys that come in a batch, as over a slow connection: each acts on what was there when it was pressed."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.events import Key
from textual.pilot import Pilot

from console.escape_signs import tell_signs_after_escape
from console.keys_in_turn import keys_meant
from console.palette import DeckPalette
from screens.help_screen import HelpScreen
from screens.question_screen import QuestionScreen
from screens.run_screen import RunScreen
from screens.trial_screen import TrialScreen
from screens.widgets.filter_bar import FilterBar
from screens.widgets.line_input import LineInput
from screens.widgets.log_view import LogView
from tests.screens import fake_run
from tests.screens.deck import opened, screen_text, until

pytestmark = pytest.mark.anyio


def press_at_once(pilot: Pilot[Any], *keys: str) -> None:
    """All are on their way before the first is looked at."""
    for key in keys:
        pilot.app.simulate_key(key)


class OneLine(App[None]):
    def compose(self) -> ComposeResult:
        yield LineInput()

    def on_input_submitted(self, event: LineInput.Submitted) -> None:
        self.exit(None, message=event.value)
        self.given = event.value


async def test_a_key_that_deletes_leaves_what_is_typed_after_it() -> None:
    app = OneLine()
    async with app.run_test() as pilot:
        line = app.query_one(LineInput)
        press_at_once(pilot, *"abc", "ctrl+u", *"xyz", "backspace", "w", "home", "v")
        await until(pilot, lambda: line.value == "vxyw", "what was typed")


async def test_enter_gives_what_was_typed_before_it() -> None:
    app = OneLine()
    async with app.run_test() as pilot:
        press_at_once(pilot, *"heat", "enter", "j")
        await until(pilot, lambda: getattr(app, "given", None) is not None, "the line is given")
    assert app.given == "heat"


async def test_keys_ahead_of_the_screen_that_they_are_for_break_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        press_at_once(pilot, "enter", "right_square_bracket", "comma", "i", "M", "n")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen) and app.screen.is_mounted, "the trial is open")
        await pilot.pause()
        assert app.return_code is None


async def test_what_is_typed_ahead_of_a_log_is_for_that_log(tmp_path: Path) -> None:
    events = fake_run.story()
    trial = fake_run.trial_id(0, "sonnet-5.5", 1)
    async with opened(tmp_path / "run", events) as (app, pilot):
        for name in ("agent", "other"):
            log = tmp_path / "run" / trial / "agent" / f"{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text("first line\nneedle here\n")
        app.push_screen(TrialScreen(app.source, trial))  # type: ignore[arg-type]
        await until(pilot, lambda: "first line" in screen_text(app), "the first log is there")
        press_at_once(pilot, "full_stop", "w", "n")
        await until(pilot, lambda: bool(app.screen.query("SearchLine.open")), "a pattern is asked for")
        screen = app.screen
        assert isinstance(screen, TrialScreen) and isinstance(screen.view, LogView)
        assert screen.view.path.name == "other.log" and screen.view.wrapping


async def test_two_enters_open_a_trial_once(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        before = len(app.screen_stack)
        press_at_once(pilot, "enter", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen) and app.screen.is_mounted, "the trial is open")
        await pilot.pause()
        assert len(app.screen_stack) == before + 1


async def test_a_question_is_answered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen) and app.screen.is_mounted, "it is asked")
        press_at_once(pilot, "i", "i", "i")
        await until(pilot, lambda: isinstance(app.screen, RunScreen), "it is answered")
        await pilot.pause()
        assert len(copied) == 1
        assert app.return_code is None


@pytest.mark.parametrize(
    "keys", [("x", "escape"), ("g", "r", "o", "escape", "escape"), ("enter", "enter"), ("escape",)]
)
async def test_a_palette_that_is_closed_at_once_breaks_nothing(tmp_path: Path, keys: tuple[str, ...]) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        for _ in range(3):
            press_at_once(pilot, "colon", *keys)
            await pilot.pause()
            await pilot.pause()
        press_at_once(pilot, "escape", "escape")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.return_code is None and app.is_running


async def test_a_modal_under_another_one_does_not_end_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, QuestionScreen), "it is asked")
        question = app.screen
        assert isinstance(question, QuestionScreen)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, DeckPalette), "the palette over it")
        question.dismiss("id")
        await pilot.pause()
        assert isinstance(app.screen, DeckPalette) and question in app.screen_stack


def alt(letter: str) -> Key:
    """What Textual makes of Esc and a letter that come in one piece."""
    return Key(f"alt+shift+{letter.lower()}" if letter.isupper() else f"alt+{letter}", letter)


async def test_esc_and_a_letter_in_one_piece_are_two_keys(tmp_path: Path) -> None:
    """The letter is for where Esc leads."""
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen) and app.screen.is_mounted, "the trial is open")
        run = app.screen_stack[1]
        assert isinstance(run, RunScreen)
        rows = run.rows
        assert not rows.marked
        app.post_message(alt("M"))
        await until(pilot, lambda: app.screen is run and bool(rows.marked), "M marked what the run shows")


@pytest.mark.parametrize("sign", string.punctuation.replace("[", "") + string.digits + " \r")
def test_esc_and_a_sign_in_one_piece_are_two_keys(sign: str) -> None:
    tell_signs_after_escape()
    parser = XTermParser()
    [both] = [key for key in parser.feed(f"\x1b{sign}") if isinstance(key, Key)]
    [alone] = [key for key in parser.feed(sign) if isinstance(key, Key)]
    first, second = keys_meant(both, ())
    assert (first.key, second.key, second.character) == ("escape", alone.key, sign)


@pytest.mark.parametrize(
    ("bytes_", "key"), [("\x1b[A", "up"), ("\x1b[Z", "shift+tab"), ("\x1bOP", "f1"), ("\x1b[1;3C", "alt+right")]
)
def test_keys_that_a_terminal_sends_with_esc_stay_themselves(bytes_: str, key: str) -> None:
    tell_signs_after_escape()
    [one] = [found for found in XTermParser().feed(bytes_) if isinstance(found, Key)]
    assert one.key == key
    if one.key.startswith("alt+"):
        assert [found.key for found in keys_meant(one, ())] == [key]


@pytest.mark.parametrize(("letter", "word"), [("b", "ctrl+left"), ("f", "ctrl+right")])
def test_esc_and_a_letter_go_by_words_only_where_a_line_is_typed_into(letter: str, word: str) -> None:
    tell_signs_after_escape()
    [both] = [key for key in XTermParser().feed(f"\x1b{letter}") if isinstance(key, Key)]
    assert [key.key for key in keys_meant(both, {word})] == [word]
    assert [(key.key, key.character) for key in keys_meant(both, ())] == [("escape", "\x1b"), (letter, letter)]


async def test_a_sign_in_one_piece_with_the_esc_that_leaves_a_line_is_not_typed_into_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("slash", *"rust")
        bar = app.screen.query_one(FilterBar)
        await until(pilot, lambda: bar.editing, "the filter is typed")
        for key in XTermParser().feed("\x1b?"):
            app.post_message(key)
        await until(pilot, lambda: isinstance(app.screen, HelpScreen), "it was for the list")
        assert not bar.editing


async def test_esc_and_a_key_apart_but_at_once_are_in_turn(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen) and app.screen.is_mounted, "the trial is open")
        press_at_once(pilot, "escape", "slash", *"rust", "enter")
        bar = app.screen_stack[1].query_one(FilterBar)
        await until(pilot, lambda: bar.text == "rust" and not bar.editing, "it is in the filter")
        assert isinstance(app.screen, RunScreen)


async def test_what_follows_the_esc_of_a_search_is_for_the_log(tmp_path: Path) -> None:
    events = fake_run.story()
    trial = fake_run.trial_id(0, "sonnet-5.5", 1)
    async with opened(tmp_path / "run", events) as (app, pilot):
        log = tmp_path / "run" / trial / "agent" / "agent.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("first line\nneedle here\n")
        app.push_screen(TrialScreen(app.source, trial))  # type: ignore[arg-type]
        await until(pilot, lambda: "first line" in screen_text(app), "the log is there")
        screen = app.screen
        assert isinstance(screen, TrialScreen) and isinstance(screen.view, LogView)
        was = screen.view.wrapping
        press_at_once(pilot, "slash", *"needle")
        app.post_message(alt("w"))
        await until(pilot, lambda: screen.view.wrapping is not was, "w is a command again")  # type: ignore[union-attr]
        assert app.screen is screen


async def test_alt_and_a_key_that_somebody_gave_a_meaning_stay_one(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        app.bind("alt+t", "leave")
        app.post_message(alt("t"))
        await until(pilot, lambda: not app.is_running or app.return_code is not None or app._exit, "it is called")
