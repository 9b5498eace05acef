"""Other programs in the console's terminal: a pager, an editor, a shell in a container; and back again."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from textual.app import App, SuspendNotSupported

# What editors write beside a file that they only show would be written into the run folder, so they don't.
_VI = frozenset({"vi", "vim", "nvim", "view", "gvim", "mvim"})
_WITH_PLUS = frozenset({"nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "jed", "ne", "mg"})
_WITH_COLON = frozenset({"hx", "helix", "subl", "zed"})
_CODE = frozenset({"code", "codium", "cursor", "windsurf", "code-insiders"})
_CONTAINER = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}")
_SHELL = "if command -v bash >/dev/null 2>&1; then bash; else sh; fi; exit 0"
"""How a person's last command ended is nobody's business: another code than 0 is Docker's own."""


def pager_command(path: Path, line: int, env: Mapping[str, str] = os.environ, *, byte: int | None = None) -> list[str]:
    """`$PAGER`, or less, or more, at a line of a file whose name may be anything. `byte`: where that line begins in a
    file so large that less, which knows how, had better not count the lines before it."""
    words = _words(env.get("PAGER", "")) or [next((name for name in ("less", "more") if shutil.which(name)), "less")]
    name = Path(words[0]).name
    file = str(path.absolute())  # never begins with a dash
    if name == "less" and byte is not None:
        return [*words, "-n", f"+{byte}P", "--", file]
    if name in ("less", "most"):
        return [*words, f"+{line}g" if name == "less" else f"+{line}", "--", file]
    if name == "more":
        return [*words, f"+{line}", file]
    if name == "bat":
        return [*words, "--paging=always", f"--line-range={max(1, line - 5)}:", "--", file]
    return [*words, file]


def editor_command(path: Path, line: int, env: Mapping[str, str] = os.environ) -> list[str]:
    """`$VISUAL`, `$EDITOR`, or vi, at a line; where the editor knows how, for reading only."""
    words = _words(env.get("VISUAL", "")) or _words(env.get("EDITOR", "")) or ["vi"]
    name = Path(words[0]).name
    file = str(path.absolute())
    if name in _VI:
        quiet = ["-n", "--cmd", "set nomodeline"] if _is_vim(words[0]) else []
        return [*words, "-R", *quiet, f"+{line}", "--", file]
    if name == "nano":
        return [*words, "-v", f"+{line}", file]
    if name in _WITH_PLUS:
        return [*words, f"+{line}", file]
    if name in _WITH_COLON:
        return [*words, f"{file}:{line}"]
    if name in _CODE:
        return [*words, "--wait", "--goto", f"{file}:{line}"]
    return [*words, file]


def shell_command(container: str) -> list[str]:
    """bash, or else sh, in a running container; ValueError for what is no container's name."""
    if not _CONTAINER.fullmatch(container):
        raise ValueError("that is no container's name")
    return ["docker", "exec", "-it", container, "sh", "-c", _SHELL]


def run_outside(app: App[object], command: Sequence[str]) -> str:
    """Gives the terminal to a program and takes it back. Returns what went wrong, if anything."""
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not installed"
    # A preprocessor of less would run on whatever the file holds.
    env = {name: value for name, value in os.environ.items() if name not in ("LESSOPEN", "LESSCLOSE")}
    try:
        with app.suspend():
            code = subprocess.run(list(command), env=env, check=False).returncode
    except SuspendNotSupported:
        return "other programs can't be opened from here: the console does not run in a terminal of its own"
    except OSError as error:
        return f"{command[0]}: {error.strerror or error}"
    return "" if code == 0 else f"{Path(command[0]).name} ended with exit code {code}"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _is_vim(program: str) -> bool:
    """Vi may be another one that knows no `-n`."""
    found = shutil.which(program)
    return found is not None and any(name in Path(found).resolve().name for name in ("vim",))
