"""Every theme can be read: each ink on each ground that it stands on."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from textual.color import Color
from textual.command import CommandList
from textual.theme import Theme

from console.theme import NAMES, NO_COLOUR_THEME, READABLE, THEMES, called, contrast, shades, theme_name
from screens.widgets.filter_bar import FilterBar
from tests.screens import fake_run
from tests.screens.deck import opened, screen_text, until

SCREENS = Path(__file__).parents[2] / "screens"
CSS = SCREENS / "deck.tcss"
_SHARE = re.compile(r"(?<!scrollbar-)\bcolor: \$[a-z]+ \d+%")
GROUNDS = ("background", "deck-cursor", "deck-cursor-idle", "panel")
INKS = ("foreground", "accent", "success", "warning", "error", "deck-dim", "deck-faint", "deck-head")


def colours(theme: Theme) -> dict[str, Color]:
    found = {**shades(theme)}
    for name in ("foreground", "accent", "success", "warning", "error", "background", "panel"):
        value = getattr(theme, name)
        assert value is not None
        found[name] = value
    return {name: Color.parse(value) for name, value in found.items()}


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_text_of_every_theme_can_be_read(theme: Theme) -> None:
    known = colours(theme)
    for ink, ground in itertools.product(INKS, GROUNDS):
        ratio = contrast(known[ink], known[ground])
        assert ratio >= READABLE, f"{theme.name}: {ink} on {ground}: {ratio:.2f}"


def test_high_contrast_is_higher() -> None:
    theme = next(theme for theme in THEMES if theme.name == "high-contrast")
    known = colours(theme)
    for ink in ("foreground", "accent", "success", "warning", "error"):
        assert contrast(known[ink], known["background"]) >= 7


def test_for_colour_blind_eyes_good_and_bad_differ_in_brightness_and_in_blue() -> None:
    theme = next(theme for theme in THEMES if theme.name == "colour-blind")
    known = colours(theme)
    good, bad, warn = known["success"], known["error"], known["warning"]
    assert good.b - good.r > 100 and bad.r - bad.b > 100
    assert contrast(warn, good) > 1.5 and contrast(warn, bad) > 1.5


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast(Color(0, 0, 0), Color(255, 255, 255)) == pytest.approx(21)
    assert contrast(Color(119, 119, 119), Color(255, 255, 255)) == pytest.approx(4.48, abs=0.01)


def test_every_name_leads_to_a_theme_and_back() -> None:
    assert [called(theme_name(name)) for name in NAMES] == list(NAMES)
    assert theme_name("terminal") == NO_COLOUR_THEME
    assert called("dracula") == ""


def test_no_text_has_a_share_of_a_colour_which_some_ground_would_swallow() -> None:
    """A shade out of `shades` is readable in every theme; `$foreground 38%` was not, for the numbers of a log."""
    sheets = [path for kind in ("*.tcss", "*.py") for path in SCREENS.rglob(kind)]
    assert len(sheets) > 100
    shares = {path.name: found for path in sheets if (found := _SHARE.findall(path.read_text(encoding="utf-8")))}
    assert not shares


@pytest.mark.anyio
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
async def test_the_hint_in_an_empty_line_can_be_read(theme: Theme, tmp_path: Path) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        app.theme = theme.name
        await pilot.press("slash")
        await until(pilot, lambda: app.screen.query_one(FilterBar).editing, "a filter is typed")
        style = app.screen.query_one(FilterBar).entry.get_component_rich_style("input--placeholder")
        assert style.color is not None and style.bgcolor is not None
        ink, ground = (Color.from_rich_color(colour) for colour in (style.color, style.bgcolor))
        assert contrast(ink, ground) >= READABLE


def test_the_inks_of_the_stylesheet_are_those_that_are_tested() -> None:
    used = {
        line.partition("color: $")[2].split(";")[0]
        for line in CSS.read_text().splitlines()
        if line.startswith(".deck--") and "color: $" in line and "background: $" not in line
    }
    assert used - {"deck-rule"} <= set(INKS)


@pytest.mark.anyio
async def test_what_keys_act_on_is_seen_without_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cursor of a line that is typed into, and the chosen command of the palette."""
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("slash")
        await until(pilot, lambda: app.screen.query_one(FilterBar).editing, "a filter is typed")
        entry = app.screen.query_one(FilterBar).entry
        assert any(segment.style and segment.style.reverse for segment in entry.render_line(0))
        await pilot.press("escape", "colon")
        await until(pilot, lambda: bool(app.screen.query(CommandList)), "the palette")
        options = app.screen.query_one(CommandList)
        await until(pilot, lambda: options.highlighted == 0, "a command is chosen")
        styles = [[segment.style for segment in options.render_line(y)] for y in (0, 1)]
        assert all(style and style.underline for style in styles[0])
        assert not any(style and style.underline for style in styles[1])


@pytest.mark.anyio
async def test_a_question_without_shades_leaves_in_sight_what_it_is_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(tmp_path / "run", fake_run.story()) as (app, pilot):
        await pilot.press("y")
        await until(pilot, lambda: "the id" in screen_text(app), "it is asked")
        assert "all trials" in screen_text(app)
