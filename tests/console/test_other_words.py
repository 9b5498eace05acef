"""The palette finds an action by the word that other programs have for it."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import screens
from console.other_words import OTHER_WORDS
from console.palette import DeckCommands
from screens.actions import all_places
from tests.screens import fake_run
from tests.screens.deck import opened

pytestmark = pytest.mark.anyio


def test_every_word_is_of_an_action_that_there_is() -> None:
    for module in pkgutil.walk_packages(screens.__path__, "screens."):
        importlib.import_module(module.name)
    names = {action.name for place in all_places().values() for action in place.actions}
    assert set(OTHER_WORDS) <= names


@pytest.mark.parametrize(("word", "label"), [("quit", "leave"), ("concurrency", "more"), ("label", "triage")])
async def test_the_word_stands_for_the_action(tmp_path: Path, word: str, label: str) -> None:
    async with opened(tmp_path / "run", fake_run.story()) as (app, _):
        found = [(hit.score, hit.text or "") async for hit in DeckCommands(app.screen).search(word)]
        assert max(found)[1].startswith(f"{label} ·")
