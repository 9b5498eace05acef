"""What the documents tell people to type: every command and every option of it is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
import typer

from console.main import COMMANDS

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "CHANGELOG.md", "docs/agents.md", "docs/labels.md", "docs/models.md", "docs/show-json.md")
_TYPED = re.compile(r"(?:`|^|&& )trialdeck ([a-z]+)([^`\n]*)", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def options_of(command: str) -> set[str]:
    """Those of the command and of all that is below it."""
    found = getattr(importlib.import_module(f"console.commands.{command}"), command)
    if not isinstance(found, typer.Typer):
        app = typer.Typer()
        app.command()(found)
        found = app
    options: set[str] = {"--help"}
    waiting = [typer.main.get_command(found)]
    while waiting:
        one = waiting.pop()
        waiting += getattr(one, "commands", {}).values()
        options |= {text for parameter in one.params for text in (*parameter.opts, *parameter.secondary_opts)}
    return options


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_and_option_in_a_document_exists(name: str) -> None:
    typed = _TYPED.findall((ROOT / name).read_text(encoding="utf-8"))
    assert typed or name == "docs/show-json.md"
    for command, rest in typed:
        assert command in COMMANDS, f"{name}: trialdeck {command}"
        wanted = set(_OPTION.findall(rest.partition("#")[0]))
        assert wanted <= options_of(command), f"{name}: trialdeck {command}: {wanted - options_of(command)}"


def test_the_commands_of_the_documents_are_found_at_all() -> None:
    readme = _TYPED.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"run", "watch", "compare", "card", "scores"} <= {command for command, _ in readme}
    assert "--max-cost" in options_of("run") and "--from" in options_of("scores")


def test_every_command_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [name for name in COMMANDS if not re.search(rf"(trialdeck {name}|`{name}`|`{name} )", readme)]
    assert missing == ["plan"]  # power by its other name
