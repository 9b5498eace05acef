"""A person's own keys: read from the settings, held against the registry of actions before they are used."""

from __future__ import annotations

import importlib
import pkgutil
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textual.keys import KEY_NAME_REPLACEMENTS, Keys

from console.settings import SettingsInvalid, dotted
from engine.text import clean_line
from screens.actions import KEY_NAMES, Place, all_places, key_text

OVERALL = ("everywhere", "table")
"""Places whose keys mean something on every screen."""
_MODIFIED = re.compile(r"(?:(?:ctrl|shift|alt|super|hyper|meta)\+)*(?P<key>.+)$")
_NAMED = {text: name for name, text in KEY_NAMES.items()}
_KNOWN = {str(key.value) for key in Keys} | set(KEY_NAMES)


def load_places() -> dict[str, Place]:
    """All places there are: every module that names one is imported."""
    import screens
    import screens.widgets

    for package in (screens, screens.widgets):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    return all_places()


def own_keymap(told: Mapping[str, Any], file: Path) -> dict[str, tuple[str, ...]]:
    """Ids of actions and their keys. Raises SettingsInvalid with the key of the file, and what is expected."""
    if not told:
        return {}
    places = load_places()
    names = {place.id_of(action): (place, action) for place in places.values() for action in place.actions}
    own: dict[str, tuple[str, ...]] = {}
    for name, value in dotted(told).items():
        where = f"{file}: `keys.{clean_line(name)}`"
        if name not in names:
            place = places.get(name.partition(".")[0])
            near = [place.id_of(action) for action in place.actions] if place else [f"{one}.…" for one in places]
            raise SettingsInvalid(f"{where}: no such action; there are {', '.join(near)}")
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise SettingsInvalid(f'{where}: expected a key such as "f", or several: ["f", "ctrl+f"]')
        own[name] = tuple(_key_name(text, where) for text in texts)
    _check_clashes(own, places, file)
    return own


def clashes(place: Place, other: Place, own: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str, str]]:
    """Keys that two actions of these places share: the key and both ids."""
    taken: dict[str, str] = {}
    found = []
    for action in place.actions:
        for key in own.get(place.id_of(action), action.keys):
            if key in taken and place is other:
                found.append((key, taken[key], place.id_of(action)))
            taken[key] = place.id_of(action)
    if place is not other:
        for action in other.actions:
            name = other.id_of(action)
            found += [(key, taken[key], name) for key in own.get(name, action.keys) if key in taken]
    return found


def _check_clashes(own: Mapping[str, tuple[str, ...]], places: Mapping[str, Place], file: Path) -> None:
    pairs = [(place, place) for place in places.values()]
    pairs += [(places[name], place) for name in OVERALL for place in places.values() if place.name != name]
    for place, other in pairs:
        for key, one, two in clashes(place, other, own):
            changed = next((name for name in (one, two) if name in own), None)
            if changed is not None:
                rest = two if changed == one else one
                raise SettingsInvalid(
                    f"{file}: `keys.{changed}`: {key_text(key)} is also the key of {rest}; "
                    f"choose another one, or give {rest} another one as well"
                )


def _key_name(text: str, where: str) -> str:
    """Textual's name of a key that a person wrote as it stands on the keyboard, or by its name."""
    found = _MODIFIED.match(text.strip() or " ") if len(text) > 1 else None
    key = text if found is None else found["key"]
    before = "" if found is None else text.strip()[: -len(key)]
    if len(key) == 1 and not key.isalnum():
        name = unicodedata.name(key, "").lower().replace("-", "_").replace(" ", "_")
        key = KEY_NAME_REPLACEMENTS.get(name, name)
    else:
        key = _NAMED.get(key.lower(), key) if len(key) > 1 else key
    named = key in _KNOWN or before + key in _KNOWN or (len(key) == 1 and key.isprintable())
    if not key or not (named or _of_unicode(key)):
        raise SettingsInvalid(f'{where}: {clean_line(text)!r} is no key; write "f", "ctrl+k", "space", "f5", "/" …')
    return before + key


def _of_unicode(name: str) -> bool:
    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return name in KEY_NAME_REPLACEMENTS.values()
    return True
