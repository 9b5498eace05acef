"""From what a person types to a run folder."""

from __future__ import annotations

import difflib
from pathlib import Path

from console.errors import Unusable
from engine.layout import CARD, EVENTS, find_runs, is_run_folder

RUNS_DIR = Path("runs")
LAST = "last"
_SHOWN = 5


def find_run(text: str, runs_dir: Path = RUNS_DIR) -> Path:
    """`text` is a folder, a run's name in `runs_dir`, the beginning of one (with or without its time), or `last`: the
    run that something happened in last. Raises Unusable with what it might have meant.
    """
    folder = Path(text).expanduser()
    if ("/" in text or text in (".", "..")) or (folder.is_dir() and _is_run(folder)):
        return _folder(text, folder)
    if "\0" in text or not text:
        raise Unusable(f"{text!r} names no run")
    if _is_run(runs_dir / text):
        return runs_dir / text
    runs = {run.name: run for run in find_runs(runs_dir)}
    if not runs:
        why = "has no runs" if runs_dir.is_dir() else "is not there"
        raise Unusable(f"no run {text!r}: {runs_dir} {why}; give a run's folder, or --runs-dir")
    if text == LAST:
        return max(runs.values(), key=_last_change)
    for matches in (
        [name for name in runs if name.startswith(text)],
        [name for name in runs if own_name(name) == text],
        [name for name in runs if own_name(name).startswith(text)],
    ):
        if len(matches) == 1:
            return runs[matches[0]]
        if matches:
            raise Unusable(f"{text!r} could be {_listed(sorted(matches, reverse=True))}; type more of the name")
    near = difflib.get_close_matches(text, list(runs), _SHOWN, 0.5)
    near += [name for name in runs if name not in near and (text in name or _close(text, own_name(name)))]
    hint = f"did you mean {_listed(near)}?" if near else f"the newest is {max(runs)}; `trialdeck runs` lists all"
    raise Unusable(f"no run {text!r} in {runs_dir}; {hint}")


def own_name(folder: str) -> str:
    """The name without the time that it begins with."""
    parts = folder.split("__", 2)
    return parts[2] if len(parts) == 3 and parts[0][:1].isdigit() else folder


def _folder(text: str, folder: Path) -> Path:
    if _is_run(folder):
        return folder
    if not folder.exists():
        raise Unusable(f"{text}: no such folder")
    if not folder.is_dir():
        raise Unusable(f"{text}: a run is a folder, this is a file")
    inside = find_runs(folder)
    hint = f"; it holds {len(inside)} runs: --runs-dir {text}" if inside else ""
    raise Unusable(f"{text}: not a run folder, it has no {EVENTS}{hint}")


def _is_run(folder: Path) -> bool:
    """A run whose engine has not begun yet has its card only."""
    try:
        return is_run_folder(folder) or (folder / CARD).is_file()
    except (OSError, ValueError):
        return False


def _last_change(run: Path) -> tuple[int, str]:
    try:
        return (run / EVENTS).stat().st_mtime_ns, run.name
    except OSError:
        return 0, run.name


def _close(text: str, name: str) -> bool:
    return bool(difflib.get_close_matches(text, [name], 1, 0.6))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
