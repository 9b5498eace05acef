"""Own keys: ids of the registry, no clash, errors that name both sides."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from textual.keys import _character_to_key

from console.keymap import OVERALL, clashes, load_places, own_keymap
from console.settings import SettingsInvalid
from screens.actions import key_text

FILE = Path("settings.toml")
MEANT = {"escape", "enter", "question_mark", "f1"}
"""Keys that a screen may take over from what works everywhere: back, open, and help where `?` is a cause."""


def test_no_two_actions_of_a_place_share_a_key_or_an_id() -> None:
    for place in load_places().values():
        assert clashes(place, place, {}) == []
        ids = [place.id_of(action) for action in place.actions]
        assert len(set(ids)) == len(ids)


def test_no_place_takes_a_key_away_that_works_everywhere() -> None:
    places = load_places()
    for place in places.values():
        if place.name not in OVERALL:
            assert {key for key, _, _ in clashes(places["everywhere"], place, {})} <= MEANT, place.name


def test_ids_are_words_that_a_toml_key_can_hold() -> None:
    for place in load_places().values():
        for action in place.actions:
            assert place.id_of(action).replace(".", "").replace("_", "").isalnum()


def test_every_key_is_shown_as_it_stands_on_the_keyboard() -> None:
    """Help and footer say `&`, whatever Textual calls it."""
    for letter in string.punctuation:
        assert key_text(_character_to_key(letter)) == letter
    for place in load_places().values():
        for action in place.actions:
            shown = [key_text(key) for key in action.keys]
            assert not [text for text in shown if "_" in text and text != "_"]


def test_keys_are_read_as_they_stand_on_the_keyboard() -> None:
    told = {"run.filter": "f", "run.sort": ["ctrl+k", "*"], "run": {"group": "f5", "problems": "#"}}
    assert own_keymap(told, FILE) == {
        "run.filter": ("f",),
        "run.sort": ("ctrl+k", "asterisk"),
        "run.group": ("f5",),
        "run.problems": ("number_sign",),
    }


def test_two_keys_can_change_places() -> None:
    assert own_keymap({"run.filter": "s", "run.sort": "/"}, FILE)["run.sort"] == ("slash",)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"run.fliter": "f"}, "`keys.run.fliter`: no such action; there are run.open, run.filter"),
        ({"nowhere.filter": "f"}, "no such action; there are everywhere.…"),
        ({"run.filter": "nokey"}, "'nokey' is no key; write"),
        ({"run.filter": ""}, "is no key"),
        ({"run.filter": []}, "expected a key such as"),
        ({"run.filter": 3}, "expected a key such as"),
        ({"run.filter": "s"}, "`keys.run.filter`: s is also the key of run.sort"),
        ({"run.filter": "q"}, "`keys.run.filter`: q is also the key of everywhere.leave"),
        ({"run.filter": "j"}, "`keys.run.filter`: j is also the key of table.move"),
        ({"everywhere.leave": "n"}, "`keys.everywhere.leave`: n is also the key of "),
        ({"run.filter": "f", "run.group": "f"}, "f is also the key of"),
    ],
)
def test_what_is_wrong_names_the_key_of_the_file_and_the_other_side(told: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsInvalid) as error:
        own_keymap(told, FILE)
    assert str(error.value).startswith("settings.toml: ") and said in str(error.value)
