"""From what a person types to a run, whichever system wrote it."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from console.errors import Unusable
from console.runs_dir import RUNS_DIR
from engine.layout import EVENTS, name_of_folder
from engine.readers.found_runs import found_runs
from engine.readers.open_run import FORMATS, recognise
from engine.readers.run_folder import TRIALDECK

LAST = "last"
TABLES = (".csv", ".tsv")
MOST_COMPARED = 32
_SHOWN = 5


def find_run(text: str, runs_dir: Path = RUNS_DIR) -> Path:
    """`text` is a run's folder (or a report: a file), its name in `runs_dir`, the beginning of one (with or without its
    time), what the run was called (`--name`), or `last`: the run that something happened in last. Raises Unusable with
    what it might have meant.
    """
    folder = Path(text).expanduser()
    if ("/" in text or text in (".", "..")) or recognise(folder) is not None:
        return _folder(text, folder)
    if "\0" in text or not text:
        raise Unusable(f"{text!r} names no run")
    if recognise(runs_dir / text) is not None:
        return runs_dir / text
    runs = _named(runs_dir)
    if not runs and folder.is_dir():
        return _folder(text, folder)
    if not runs:
        why = "has no runs" if runs_dir.is_dir() else "is not there"
        raise Unusable(f"no run {text!r}: {runs_dir} {why}; give a run's folder, or --runs-dir")
    if text == LAST:
        return max(runs.values(), key=_last_change)
    for matches in (
        [name for name in runs if name.startswith(text)],
        [name for name in runs if own_name(name) == text],
        [name for name in runs if own_name(name) == name_of_folder(text)],
        [name for name in runs if own_name(name).startswith(text)],
    ):
        if len(matches) == 1:
            return runs[matches[0]]
        if matches:
            raise Unusable(f"{text!r} could be {_listed(sorted(matches, reverse=True))}; type more of the name")
    if folder.is_dir():
        return _folder(text, folder)
    near = difflib.get_close_matches(text, list(runs), _SHOWN, 0.5)
    near += [name for name in runs if name not in near and (text in name or _close(text, own_name(name)))]
    hint = f"did you mean {_listed(near)}?" if near else f"the newest is {max(runs)}; `trialdeck runs` lists all"
    raise Unusable(f"no run {text!r} in {runs_dir}; {hint}")


def typed(run: Path) -> str:
    """How a command names a run so that it is found from here: by its name where runs lie, else by its folder."""
    near = run.absolute().parent == RUNS_DIR.absolute()
    return shlex.quote(run.name if near else str(run))


def find_own_run(text: str, runs_dir: Path, what: str) -> Path:
    """As `find_run`, of runs that are ours to change; `what` shall be done with it ("be resumed"). Raises Unusable."""
    folder = find_run(text, runs_dir)
    found = recognise(folder)
    if found is not None and not found.ours:
        raise Unusable(
            f"{folder}: a run of another system ({found.kind}), which is only read here: it can't {what} by trialdeck"
        )
    return folder


def find_places(texts: list[str], runs_dir: Path) -> tuple[list[Path], bool]:
    """What `watch` and `runs` are given: runs, and folders with runs in or under them; and whether it is one run alone.
    Raises Unusable for what is neither."""
    found: list[Path] = []
    alone = False
    for text in texts:
        folder = Path(text).expanduser()
        if "\0" not in text and folder.is_dir() and recognise(folder) is None and not _names_a_run(text, runs_dir):
            if next(found_runs([folder]), None) is None:
                raise Unusable(f"{text}: no run in it or under it, of any system known here ({kinds()})")
            found.append(folder)
        else:
            found.append(find_run(text, runs_dir))
            alone = len(texts) == 1
    return found, alone


def find_compared(texts: Iterable[str], runs_dir: Path) -> list[Path]:
    """What `compare` and `report` are given: runs, folders of runs (each run in them, by name), and tables, whose paths
    stay as they are. Raises Unusable."""
    found: list[Path] = []
    for text in texts:
        path = Path(text).expanduser()
        if "\0" not in text and path.suffix.lower() in TABLES and path.is_file():
            found.append(path)
            continue
        (place,), alone = find_places([text], runs_dir)
        inside = [place] if alone else sorted(run.folder for run in islice(found_runs([place]), MOST_COMPARED + 1))
        if len(inside) > MOST_COMPARED:
            raise Unusable(f"{text}: more than {MOST_COMPARED} runs in it; name those to be compared")
        found += [folder for folder in inside if folder not in found]
    return found


def check_tables(paths: Iterable[Path]) -> None:
    """Before a console opens on tables: what is wrong with their rows is said where the command was typed. Raises
    Unusable and OSError."""
    from engine.tables.csv_text import CsvInvalid
    from engine.tables.outcome_table import read_table

    for path in paths:
        if path.suffix.lower() in TABLES and path.is_file():
            try:
                read_table(path)
            except CsvInvalid as error:
                raise Unusable(str(error)) from None


def kinds() -> str:
    return ", ".join(known.kind for known in FORMATS)


def _names_a_run(text: str, runs_dir: Path) -> bool:
    return "/" not in text and text not in (".", "..") and recognise(runs_dir / text) is not None


def _named(runs_dir: Path) -> dict[str, Path]:
    """By name; runs deeper than `runs_dir` by their way from it."""
    runs = {}
    for run in found_runs([runs_dir]):
        try:
            runs[str(run.folder.relative_to(runs_dir))] = run.folder
        except ValueError:
            continue
    runs.pop(".", None)
    return runs


def own_name(folder: str) -> str:
    """The name without the time that it begins with."""
    parts = folder.split("__", 2)
    return parts[2] if len(parts) == 3 and parts[0][:1].isdigit() else folder


def _folder(text: str, folder: Path) -> Path:
    try:
        if recognise(folder) is not None:
            return folder
        if not folder.exists():
            raise Unusable(f"{text}: no such folder")
    except ValueError:
        raise Unusable(f"{text!r} names no run") from None
    if not folder.is_dir():
        check_tables([folder])  # one that is no table, by its ending, says what is wrong with it as one
        raise Unusable(f"{text}: a file, and no report of an evaluation; a run is a folder")
    inside = list(found_runs([folder]))
    if len(inside) == 1:
        return inside[0].folder
    if inside:
        raise Unusable(f"{text}: not a run but a folder of runs, it holds {len(inside)}: `trialdeck watch {text}`")
    raise Unusable(f"{text}: not a run folder of any system known here ({kinds()})")


def _last_change(run: Path) -> tuple[int, str]:
    ours = TRIALDECK.is_run(run)
    try:
        return (run / EVENTS if ours else run).stat().st_mtime_ns, run.name
    except OSError:
        return 0, run.name


def _close(text: str, name: str) -> bool:
    return bool(difflib.get_close_matches(text, [name], 1, 0.6))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
