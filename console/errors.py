"""What goes wrong, said to a person: one line that names the file, the key and the way out. Never a traceback."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.text import clean

USAGE, CRASHED, INTERRUPTED = 2, 1, 130

SAID_AS_THEY_ARE = frozenset(
    {
        "console.engine_check.NoEngine",
        "console.errors.Unusable",
        "console.machine.trouble.Trouble",
        "console.settings.SettingsInvalid",
        "engine.agents.agent.AgentConfigInvalid",
        "engine.agents.capsules.capsule.CapsuleUnusable",
        "engine.environments.docker.engine_api.EngineCallFailed",
        "engine.environments.docker.host_tools.ToolMissing",
        "engine.issues.TrialFailed",
        "engine.runs.card.CardInvalid",
        "engine.runs.control.NotReachable",
        "engine.runs.event_log.LogTaken",
        "engine.runs.start.FolderUnusable",
        "engine.scorebook.record.RecordInvalid",
        "engine.scorebook.store.BookUnusable",
        "engine.tasks.compose_names.ComposeUnreadable",
        "engine.tasks.invalid.TaskInvalid",
        "engine.tasks.task_set.TaskSetInvalid",
    }
)
"""Exceptions whose message already says everything. By name: importing them all would cost every command its start."""

_OF_THE_COMMAND_LINE = ("click.", "typer.")


class Unusable(Exception):
    """A command can't do what it was asked to; the message says why and what can be done. Exit code 2."""


@contextmanager
def clear_errors() -> Iterator[None]:
    """Around a command, or over it as a decorator: every failure becomes one line on stderr and an exit code.

    What is no one's mistake but ours is described in a file, and the line says where.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except Exception as error:
        if type(error).__module__.startswith(_OF_THE_COMMAND_LINE):
            raise
        found = _said(error)
        if isinstance(found, BrokenPipeError):
            abandon_stdout()
            raise SystemExit(0) from None
        message = _message(found)
        if message is not None:
            say(message)
            raise SystemExit(USAGE) from None
        say(_crash(error))
        raise SystemExit(CRASHED) from None


def say(message: str) -> None:
    """A diagnostic on stderr, whatever has become of stderr."""
    with suppress(OSError, ValueError, AttributeError):
        text = clean(f"trialdeck: {message}")
        encoding = sys.stderr.encoding or "utf-8"
        sys.stderr.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        sys.stderr.flush()


def abandon_stdout() -> None:
    """Nobody reads stdout any more: let what is still buffered go nowhere, so that the interpreter ends quietly."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _said(error: BaseException) -> BaseException:
    """The one that says something: task groups wrap what happened inside of them."""
    if isinstance(error, BaseExceptionGroup):
        inner = [_said(one) for one in error.exceptions]
        return next((one for one in inner if isinstance(one, Exception) and _message(one) is not None), inner[0])
    return error


def _message(error: BaseException) -> str | None:
    """None for what nobody has foreseen."""
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__}
    if names & SAID_AS_THEY_ARE:
        return str(error)
    if isinstance(error, OSError):
        return _of_the_system(error)
    return None


def _of_the_system(error: OSError) -> str:
    name = error.filename.decode("utf-8", "replace") if isinstance(error.filename, bytes) else error.filename
    where = f"{name}: " if name is not None else ""
    what = error.strerror or str(error) or type(error).__name__
    ways = {
        errno.ENOSPC: "free some space and give the command again; what was written before is whole",
        errno.EDQUOT: "your quota is used up: free some space and give the command again",
        errno.EMFILE: "raise `ulimit -n`, or lower --concurrency",
        errno.EACCES: "give this account the right to it, or choose another place",
        errno.EROFS: "choose a place that can be written",
    }
    way = ways.get(error.errno or 0)
    return f"{where}{what}" + (f"; {way}" if way else "")


def _crash(error: Exception) -> str:
    """Write the report; returns the line about it."""
    what = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    try:
        path = _write_report(error)
    except OSError as failed:
        place = _innermost(error)
        return f"a fault in trialdeck: {what}{place} (no report could be written: {failed.strerror or failed})"
    return f"a fault in trialdeck: {what}; everything about it is in {path}"


def _write_report(error: Exception) -> Path:
    import platform
    from datetime import datetime

    from platformdirs import user_state_path

    from engine.version import VERSION

    folder = user_state_path("trialdeck") / "crashes"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{datetime.now():%Y-%m-%d__%H-%M-%S}-{os.getpid()}.txt"
    facts = [
        f"trialdeck {VERSION}, Python {platform.python_version()}, {platform.platform()}",
        # Its arguments stay out: they may hold what is private.
        f"command: {sys.argv[1] if len(sys.argv) > 1 else '(none)'}",
        "",
        *traceback.format_exception(error),
    ]
    path.write_text("\n".join(facts), encoding="utf-8", errors="replace")
    return path


def _innermost(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
