"""What a call ran, and how it ended, out of the many ways in which agents write it."""

from __future__ import annotations

import re
import shlex

from engine.trajectories.untyped import Record, as_json, code, parsed, record, text

COMMAND_KEYS = ("command", "keystrokes", "cmd", "script")
"""Arguments that hold a command, whatever the agent called its tool."""

_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_HEAD = 400
"""Characters at the beginning of an output in which an agent's own header stands."""
_EXIT = (
    re.compile(r"\A(?:Error: )?Exit code:? (-?\d{1,10})\b"),
    re.compile(r"\A(?:[^\n]*\n){0,4}Process exited with code (-?\d{1,10})\n"),
    re.compile(r"\A\s*<returncode>(-?\d{1,10})</returncode>"),
)


def of_words(words: list[str]) -> str:
    """A list of words as one command line; what a shell was given with `-c` stands for itself."""
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and re.fullmatch(r"-[a-z]*c", words[1]):
        return words[2]
    return shlex.join(words)


def call_text(arguments: object) -> str:
    """The command where the arguments hold one and nothing else that says what is done; else all of them as JSON."""
    arguments = parsed(arguments)
    if isinstance(arguments, str):
        return text(arguments)
    found = record(arguments)
    for key in COMMAND_KEYS:
        value = found.get(key)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return text(of_words(value))
        if isinstance(value, str) and value.strip() and "path" not in found:
            return text(value)
    return text(as_json(arguments)) if arguments not in (None, {}) else ""


def exit_code_in(output: str) -> int | None:
    """The exit code that an agent wrote above the output of a command; never a number in the output itself."""
    head = output[:_HEAD]
    for pattern in _EXIT:
        if found := pattern.search(head):
            return int(found[1])
    return None


def exit_code_of(extra: Record) -> int | None:
    """From metadata beside an output."""
    for key in ("exit_code", "exitCode", "returncode", "return_code"):
        if (found := code(extra.get(key))) is not None:
            return found
    return None
