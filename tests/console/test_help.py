"""The help of every command and of all that is below it: what can be typed is named, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from console.help_words import in_words
from console.main import COMMANDS, add_commands, start

_OF_PYTHON = re.compile(
    r"<[^>]*>|\{[^}]*\}|\b(?:INTEGER|FLOAT|TEXT RANGE|PATH RANGE|RANGE|DIRECTORY|BOOLEAN|UUID|FILENAME)\b"
    r"|\b(?:int|str|float|list)\[|\bx[<>]=|<=x"
)
"""Types and ranges as Typer and Click write them."""

PROGRAM = typer.Typer(rich_markup_mode=None)
PROGRAM.callback(invoke_without_command=True)(start)
add_commands(PROGRAM, COMMANDS)


def below(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, found in getattr(command, "commands", {}).items():
        yield from below(found, (*path, name))


EVERY = list(below(typer.main.get_command(PROGRAM)))


def test_every_command_and_all_below_it_are_walked() -> None:
    walked = {path for path, _ in EVERY}
    assert {(name,) for name in COMMANDS} <= walked
    assert {("card", "diff"), ("scores", "check"), ("capsule", "build")} <= walked


@pytest.mark.parametrize(("path", "command"), EVERY, ids=lambda part: " ".join(part) if type(part) is tuple else "")
def test_help_says_what_every_option_takes_and_not_its_type(path: tuple[str, ...], command: Any) -> None:
    shown = CliRunner().invoke(PROGRAM, [*path, "--help"], env={"COLUMNS": "100"})
    assert shown.exit_code == 0 and shown.output.startswith("Usage: ")
    assert _OF_PYTHON.findall(shown.output) == []
    text = " ".join(shown.output.split())
    for parameter in command.params:
        flag = bool(getattr(parameter, "is_flag", False)) or parameter.name == "help"
        if getattr(parameter, "hidden", False):
            continue
        assert flag or parameter.metavar, f"{parameter.name} names nothing that it takes"
        assert parameter.help, f"{parameter.name} says nothing"
        typed = parameter.metavar if parameter.param_type_name == "argument" else max(parameter.opts, key=len)
        assert f"{typed} " in text or f"{typed}] " in text


def test_what_may_be_left_out_stands_in_brackets_and_a_range_in_words() -> None:
    shown = CliRunner().invoke(PROGRAM, ["rerun", "--help"], env={"COLUMNS": "100"}).output
    assert "rerun [OPTIONS] RUN [TRIAL…]\n" in shown
    power = " ".join(CliRunner().invoke(PROGRAM, ["power", "--help"], env={"COLUMNS": "100"}).output.split())
    assert "--power PERCENT In percent. [default: 80.0; 1 to 99]" in power


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Most.  [default: 1; x>=1]", "Most.  [default: 1; at least 1]"),
        ("[x<=5]", "[at most 5]"),
        ("[0<=x<=0.5; required]", "[0 to 0.5; required]"),
        ("where x>=1 holds", "where x>=1 holds"),
    ],
)
def test_only_a_range_at_the_end_of_help_is_put_into_words(said: str, words: str) -> None:
    assert in_words(said) == words


def test_two_names_of_one_command_say_so() -> None:
    told = CliRunner().invoke(PROGRAM, ["--help"]).output
    assert "plan      The same as `power`." in told
