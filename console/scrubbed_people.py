"""Who decided something about a run: in a scrubbed copy people stay told apart, and have no names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from console.identity import USER
from console.scrub import COMMON_NAMES

FIELDS = ("who", "by")
"""Of a label, an event, an amendment of a card: the name that somebody goes by."""


class ScrubbedPeople:
    """One for a copy, so that a person is the same one in all its files. `scrub` is what is done to any text: a name
    that it knows, that of whoever makes the copy, needs no number."""

    def __init__(self, scrub: Callable[[str], str]) -> None:
        self._scrub = scrub
        self._numbered: dict[str, str] = {}

    def unnamed(self, record: Mapping[str, object]) -> dict[str, object]:
        return {
            key: self._stand_in(value) if key in FIELDS and isinstance(value, str) else value
            for key, value in record.items()
        }

    def _stand_in(self, name: str) -> str:
        if not name or name.lower() in COMMON_NAMES or self._scrub(name) != name:
            return name  # the last is replaced with all other text
        return self._numbered.setdefault(name, f"{USER} {len(self._numbered) + 2}")
