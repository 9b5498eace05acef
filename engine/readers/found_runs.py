"""Every run in or under a folder, whichever system wrote it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.readers.open_run import OpenedRun, recognise
from engine.readers.swe_bench_layout import Shape, place

MOST_DEPTH = 6
"""How far below a given folder runs are looked for."""
MOST_FOLDERS = 20_000
"""So many folders that are no runs are looked into at most: a home folder, given by mistake, ends the search too."""
_MOST_REPORTS = 500
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages"})


def found_runs(places: Iterable[Path], depth: int = MOST_DEPTH, most: int = MOST_FOLDERS) -> Iterator[OpenedRun]:
    """Those nearest to the given folders first; each once, however often a link or a second place leads to it. A run is
    not looked into. Hidden folders and folders that can't be read are passed over; a missing place has no runs."""
    seen: set[tuple[int, int]] = set()
    waiting = deque((folder, 0) for folder in places)
    looked = 0
    while waiting and looked < most:
        folder, level = waiting.popleft()
        try:
            status = folder.stat()
        except (OSError, ValueError):
            continue
        ident = (status.st_dev, status.st_ino)
        if ident in seen:
            continue
        seen.add(ident)
        run = recognise(folder)
        if run is not None:
            yield run
            continue
        looked += 1
        if level >= depth:
            continue
        folders, reports = _inside(folder)
        waiting.extend((child, level + 1) for child in folders)
        for report in reports:
            run = _report(report)
            if run is not None:
                yield run


def _inside(folder: Path) -> tuple[list[Path], list[Path]]:
    """Folders, links to folders too, and files that may be reports; by name."""
    folders: list[str] = []
    reports: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name in _PASSED_OVER:
                    continue
                try:
                    if entry.is_dir():
                        folders.append(entry.name)
                    elif entry.name.endswith(".json") and len(reports) < _MOST_REPORTS and entry.is_file():
                        reports.append(entry.name)
                except OSError:
                    continue
    except OSError:
        return [], []
    return [folder / name for name in sorted(folders)], [folder / name for name in sorted(reports)]


def _report(path: Path) -> OpenedRun | None:
    """A report whose evaluation lies beside it is that evaluation's, and no run of its own."""
    found = place(path)
    if found is None or found.shape is not Shape.REPORT:
        return None
    if any(folder.is_dir() for folder in found.models.values()):
        return None
    return recognise(path)
