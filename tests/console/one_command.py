"""A command alone, without the program around it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner, Result

from console.errors import Unusable

Command = Callable[..., None]


def told(command: Command, *words: str | Path) -> Result:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, [str(word) for word in words])


def refused(command: Command, *words: str | Path) -> str:
    """What it said."""
    result = told(command, *words)
    assert isinstance(result.exception, Unusable), result.output
    return str(result.exception)


def document(command: Command, *words: str | Path) -> Any:
    result = told(command, *words, "--json")
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)
