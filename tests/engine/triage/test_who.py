"""Whose name stands in labels."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest

from engine.triage.who import UNKNOWN, clean_name, who_am_i
from engine.user_places import settings_file


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("TRIALDECK_USER", raising=False)
    monkeypatch.setattr(getpass, "getuser", lambda: "login")


def _settings(text: str) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text(text)


def test_the_variable_comes_before_the_settings_and_those_before_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    assert who_am_i() == "login"
    _settings('user = "ada"\n')
    assert who_am_i() == "ada"
    monkeypatch.setenv("TRIALDECK_USER", "bob")
    assert who_am_i() == "bob"


@pytest.mark.parametrize("text", ["user = 3", "user =", "\xff", ""])
def test_settings_that_say_nothing_are_passed_over(text: str) -> None:
    _settings(text)
    assert who_am_i() == "login"


def test_without_any_name_it_is_someone(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise OSError("no password entry")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert who_am_i() == UNKNOWN


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("  Ada \n Lovelace ", "Ada ⏎ Lovelace"),
        ("a\x1b[31mb", "ab"),
        ("\x00", ""),
        ("x" * 99, "x" * 64),
        ("日本", "日本"),
    ],
)
def test_a_name_is_one_safe_line(name: str, cleaned: str) -> None:
    assert clean_name(name) == cleaned
