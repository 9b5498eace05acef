"""Help lists the keys of where one is: each calls what stands beside it, and what is said reads on."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Static

from screens.help_screen import HelpScreen
from screens.log_actions import LOG
from screens.run_actions import RUN
from screens.widgets.log_page import LogPage
from tests.screens import fake_run, fake_triage
from tests.screens.deck import opened, screen_text, until
from tests.screens.fake_triage import triage_opened

pytestmark = pytest.mark.anyio


def listed(help_screen: HelpScreen) -> dict[str, dict[str, str]]:
    """By place and key, what stands beside it."""
    found: dict[str, dict[str, str]] = {}
    title = ""
    for each in help_screen.query(Static):
        if each.has_class("title"):
            title = str(each.content)
        elif each.has_class("keys"):
            table = each.content
            keys, said = ([str(cell) for cell in column.cells] for column in table.columns)  # type: ignore[union-attr]
            found[title] = {key: words for named, words in zip(keys, said, strict=True) for key in named.split()}
    return found


async def test_below_triage_no_table_and_no_log_lists_a_key_that_labels(tmp_path: Path) -> None:
    run = fake_triage.write(tmp_path / "run")
    async with triage_opened(run) as (app, pilot, _screen):
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        assert isinstance(app.screen, HelpScreen)
        keys = listed(app.screen)
        assert keys["Triage"]["k"].startswith("The task itself") and keys["Triage"]["?"] == "It can't be told"
        assert keys["In a table"]["↑"] == "Up one row" and "k" not in keys["In a table"]
        assert "enter" not in keys["In a table"]
        assert "?" not in keys["Everywhere"] and "esc" not in keys["Everywhere"]
        assert {":", "ctrl+p", "q"} <= keys["Everywhere"].keys()
        await pilot.press("escape", "tab")
        await until(pilot, lambda: isinstance(app.focused, LogPage))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        assert isinstance(app.screen, HelpScreen)
        assert not {"k", "g", "space", "r", "s"} & listed(app.screen)["In a log"].keys()
        assert {"j", "home", "y"} <= listed(app.screen)["In a log"].keys()


async def test_where_nothing_lies_above_a_table_all_its_keys_are_listed(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        assert isinstance(app.screen, HelpScreen)
        keys = listed(app.screen)
        assert keys["The run"]["enter"] == "Open the trial under the cursor"
        assert {"↑", "k", "↓", "j", "home", "end"} <= keys["In a table"].keys()
        assert {"?", "F1", "ctrl+t"} <= keys["Everywhere"].keys()


async def test_what_keys_do_stands_in_one_column_in_every_part(tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story(), size=(120, 60)) as (app, pilot):
        app.push_screen(HelpScreen([RUN, LOG]))
        await until(pilot, lambda: "In a log" in screen_text(app))
        await pilot.press("end")
        await until(pilot, lambda: "To the first line" in screen_text(app))
        lines = screen_text(app).splitlines()
        said = ("Start no more trials", "To the first line")
        columns = [next(line.index(words) for line in lines if words in line) for words in said]
        assert columns[0] == columns[1]


async def test_a_sentence_goes_on_where_it_was_broken_and_below_its_own_beginning(tmp_path: Path) -> None:
    run = fake_triage.write(tmp_path / "run")
    async with triage_opened(run, size=(120, 40)) as (app, pilot, _screen):
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("end")
        await until(pilot, lambda: "Two people" in screen_text(app), "its end")
        text = screen_text(app)
        assert "that you have not decided. space agrees with the proposal. Each label is a" in text
        inner = [line[line.index("│") + 1 :] for line in text.splitlines() if "record of its own: a later one" in line]
        assert inner and inner[0].startswith("    record")
