"""What a command needs before it says its first word: only what it was asked for is imported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from console.main import COMMANDS, asked_for

HEAVY = ("numpy", "openai", "anthropic", "pyte")
"""Each costs a tenth of a second or more, or is of no use before something is opened."""


def loaded(modules: Sequence[str], names: Sequence[str]) -> list[str]:
    """Which of these packages an interpreter has after it imported the modules."""
    code = f"import sys, {', '.join(modules)}; print(*(name for name in {tuple(names)!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.split()


def test_the_console_opens_without_what_only_its_inner_screens_need() -> None:
    assert loaded(["console.open_app"], HEAVY) == []


def test_no_command_loads_the_console_or_anything_heavy_before_it_is_run() -> None:
    assert loaded([f"console.commands.{name}" for name in COMMANDS], [*HEAVY, "textual", "rich"]) == []


@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        ((), ()),
        (("--version",), ()),
        (("--version", "show"), COMMANDS),
        (("--runs-dir", "elsewhere"), ()),
        (("--runs-dir=elsewhere",), ()),
        (("show", "last"), ("show",)),
        (("--runs-dir", "elsewhere", "runs"), ("runs",)),
        (("--runs-dir=elsewhere", "runs", "--json"), ("runs",)),
        (("--runs-dir", "runs"), ()),
        (("--help",), COMMANDS),
        (("shwo",), COMMANDS),
        (("--runs-dir", "elsewhere", "--help"), COMMANDS),
    ],
)
def test_only_the_command_that_was_asked_for_is_imported(arguments: Sequence[str], imported: Sequence[str]) -> None:
    assert asked_for(arguments) == imported
