"""This machine without Docker: Python, disk, open files, terminal."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from console.diagnosis.check import Check, failed, ok, warning

MIB, GIB = 1 << 20, 1 << 30
DISK_NEEDED = 512 * MIB
"""Below this the engine starts no trial."""
DISK_WANTED = 10 * GIB
FREE_NODES_WANTED = 100_000
FILES_PER_TRIAL, FILES_OF_OURS = 24, 64
TRIALS_WANTED = 16
OLDEST_PYTHON = (3, 11)
SMALLEST = (80, 24)


def check_python() -> Check:
    text = f"{platform.python_version()} in {sys.prefix}"
    if sys.version_info < OLDEST_PYTHON:
        return failed("Python", text, "trialdeck needs 3.11 or newer")
    return ok("Python", text)


def check_disk(what: str, folder: Path) -> Check:
    """The disk that `folder` lies on, or will lie on."""
    name = f"disk, {what}"
    place = next((path for path in (folder, *folder.absolute().parents) if path.is_dir()), Path("/"))
    try:
        free = shutil.disk_usage(place).free
        nodes = os.statvfs(place)
    except OSError as error:
        return warning(name, f"{folder}: can't be told ({error.strerror})", f"see `df -h {folder}`")
    text = f"{free / GIB:.1f} GiB free where {folder} lies"
    way_out = f"free some space: `df -h {place}`, `docker system df`, `trialdeck sweep`"
    if not os.access(place, os.W_OK) and what == "runs":
        return failed(name, f"{place} can't be written", "choose another place with --runs-dir")
    if free < DISK_NEEDED:
        return failed(name, text, way_out)
    if nodes.f_files and nodes.f_favail < FREE_NODES_WANTED:
        return warning(name, f"{text}, and only {nodes.f_favail:,} files more", f"remove files: `df -i {place}`")
    if free < DISK_WANTED:
        return warning(name, text, way_out)
    return ok(name, text)


def check_open_files(hard: int | None = None) -> Check:
    """The engine raises the soft limit as far as the hard one lets it."""
    if hard is None:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard == resource.RLIM_INFINITY:
        return ok("open files", "no limit")
    trials = max(0, (hard - FILES_OF_OURS) // FILES_PER_TRIAL)
    text = f"{hard:,}: about {trials:,} trials at once"
    if trials < 1:
        return failed("open files", text, "raise `ulimit -Hn`")
    if trials < TRIALS_WANTED:
        return warning("open files", text, "raise `ulimit -Hn` to run more trials at once")
    return ok("open files", text)


def check_terminal(environ: Mapping[str, str], *, is_terminal: bool, encoding: str, size: tuple[int, int]) -> Check:
    """What the console has to show itself in. No terminal is no fault: there is plain output."""
    kind = environ.get("TERM", "")
    if not is_terminal:
        return ok("terminal", "none: runs are shown as plain lines")
    if kind in ("", "dumb"):
        return warning("terminal", f"TERM={kind or 'unset'}: runs are shown as plain lines", "set TERM for the console")
    colours = "no colour (NO_COLOR)" if environ.get("NO_COLOR") else _colours(environ, kind)
    text = f"{size[0]}×{size[1]}, {colours}, {encoding}, TERM={kind}"
    if encoding.lower().replace("-", "") != "utf8":
        return warning("terminal", text, "set a UTF-8 locale (LC_ALL=C.UTF-8), or glyphs become question marks")
    if size[0] < SMALLEST[0] or size[1] < SMALLEST[1]:
        return warning("terminal", text, f"the console wants {SMALLEST[0]}×{SMALLEST[1]} or more")
    return ok("terminal", text)


def _colours(environ: Mapping[str, str], kind: str) -> str:
    if environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return "16 million colours"
    return "256 colours" if "256" in kind else "16 colours"


def machine_checks(runs_dir: Path) -> list[Check]:
    columns, lines = shutil.get_terminal_size()
    return [
        check_python(),
        check_disk("runs", runs_dir),
        check_open_files(),
        check_terminal(
            os.environ,
            is_terminal=sys.stdout.isatty(),
            encoding=sys.stdout.encoding or "ascii",
            size=(columns, lines),
        ),
    ]
