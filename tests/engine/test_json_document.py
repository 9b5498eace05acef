"""JSON texts of names that are no text."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.json_document import json_document


class _Named(msgspec.Struct):
    name: str
    folder: Path
    of: dict[str, str]


def test_names_that_are_not_utf_8_are_spelled_out_and_still_differ() -> None:
    """Case 19."""
    found = _Named("a\udcff", Path("b\udcfe"), {"c\udcfd": "\N{SNOWMAN}"})
    data = json_document(found)
    assert msgspec.json.decode(data) == {
        "name": "a\\udcff",
        "folder": "b\\udcfe",
        "of": {"c\\udcfd": "\N{SNOWMAN}"},
    }
    assert json_document("a\udcff") != json_document("a\udcfe")


def test_indented_and_ordered_where_asked_for() -> None:
    assert json_document({"b": 1, "a": 2}, order="deterministic") == b'{"a":2,"b":1}'
    assert json_document({"a": 2}, indent=2) == b'{\n  "a": 2\n}'
