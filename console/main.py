"""`trialdeck`: what a person types.

Exit codes: 0 every trial scored, 3 unscored trials, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from console.errors import clear_errors
from console.help_words import WordedCommand
from console.runs_dir import RUNS_DIR

COMMANDS = (
    "run",
    "resume",
    "watch",
    "show",
    "triage",
    "compare",
    "analyse",
    "report",
    "power",
    "plan",
    "runs",
    "cancel",
    "rerun",
    "replay",
    "export",
    "card",
    "capsule",
    "scores",
    "agents",
    "doctor",
    "sweep",
    "settings",
    "serve",
)

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="A terminal console for people who benchmark coding agents. Without a command: the list of runs.",
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Without a command: the list of runs."""
    if version:
        from engine.version import VERSION

        print(VERSION)
        raise typer.Exit(0)
    if runs_dir != RUNS_DIR:  # what is said before a command holds for it too, unless it is said again behind it
        said = {"runs_dir": str(runs_dir)}
        context.default_map = {name: {**said, "diff": said, "add": said} for name in COMMANDS}
    if context.invoked_subcommand is None:
        from console.commands.watch import show_list

        raise typer.Exit(show_list(runs_dir))


def main() -> None:
    """The entry point."""
    import sys

    add_commands(app, asked_for(sys.argv[1:]))
    with clear_errors():
        app(prog_name="trialdeck")


def asked_for(arguments: Sequence[str]) -> Sequence[str]:
    """Only the command that was asked for is imported, so that each starts fast; all of them for the help, and where
    a word may be meant for one."""
    first = arguments[0] if arguments else ""
    rest = arguments[2:] if first == "--runs-dir" else arguments[1:] if first.startswith("--runs-dir=") else arguments
    if list(rest) in ([], ["--version"]):
        return ()
    return (rest[0],) if rest[0] in COMMANDS else COMMANDS


def add_commands(program: typer.Typer, names: Iterable[str]) -> None:
    for name in names:
        module = importlib.import_module(f"console.commands.{name}")
        command = getattr(module, name)
        if isinstance(command, typer.Typer):
            program.add_typer(command, name=name)
        else:
            short = getattr(module, "SHORT_HELP", None)
            program.command(name, cls=WordedCommand, short_help=short)(command)
