"""Lists of runs of every system: found, glanced at, read, and not read again while nothing has changed."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from engine.layout import EVENTS
from engine.readers.found_runs import found_runs
from engine.readers.open_run import OpenedRun, open_run
from engine.readers.reader import Liveness
from engine.state import RunState
from screens.event_summary import summary_of_events, task_set_words
from screens.harbor_glance import glance_at_job
from screens.run_summary import ArmSummary, RunSummary, Stamp
from screens.summary_cache import SummaryCache

_MOST_FILES = 4_000
"""A foreign folder with more files is looked at through its top alone, and its summary is not kept."""
_DEPTH = 6


def summarise(run: OpenedRun | Path) -> RunSummary:
    """Everything that a list says about a run: of ours the telling events are read, of others all that their reader
    gives. What can't be read is left out; never raises OSError. A run that trips its reader stands in the list as far
    as it was read: no run hides the others."""
    opened = run if isinstance(run, OpenedRun) else open_run(run)
    seen = stamp(opened)
    if opened.ours:
        return summary_of_events(opened.folder, seen)
    reader, state = opened.reader(), RunState()
    try:
        while events := reader.poll():
            state.apply_all(events)
        liveness = reader.liveness()
        state.apply_all(reader.poll())
    except Exception:  # a fault of ours too: `show` says it of the one run, the list goes on
        liveness = Liveness.STALE
    finally:
        reader.close()
    plan, finished, seconds = state.plan, state.finished, state.took
    return RunSummary(
        folder=opened.folder,
        kind=opened.kind,
        name=plan.name if plan else opened.folder.name,
        task_set=task_set_words(plan),
        arms=tuple(ArmSummary(arm.info.name, arm.passed, arm.finished, arm.assigned) for arm in state.arms.values()),
        liveness=liveness,
        done=state.done,
        planned=max(len(state.trials), plan.trials if plan else 0),
        issues=sum(state.severities.values()),
        started_at=state.started_at,
        last_event_at=state.last_event_at,
        seconds=seconds,
        exit_code=finished.exit_code if finished is not None else None,
        stamp=seen,
    )


def summarise_all(
    places: Iterable[Path],
    known: Mapping[str, RunSummary],
    *,
    cache: SummaryCache | None = None,
    glances: bool = False,
    patience_sec: float | None = None,
) -> Iterator[RunSummary]:
    """The run that something was written to last first. One that is over and has not changed since `known` (or since it
    was kept in `cache`) is not read again. With `glances` a run that takes longer to read comes twice: what one file
    tells of it at once, all of it after the others. After `patience_sec` such runs are only glanced at."""
    began = time.monotonic()
    later: list[OpenedRun] = []
    for _, run in sorted(((_written(run), run) for run in found_runs(places)), key=lambda pair: -pair[0]):
        key = str(run.folder)
        old = known.get(key) or (cache.get(run.folder) if cache is not None else None)
        if old is not None and _stands(old, again=key in known) and old.stamp == stamp(run):
            yield old
            continue
        hurried = glances or (patience_sec is not None and time.monotonic() - began > patience_sec)
        glance = glance_at_job(run) if hurried and key not in known and not run.ours else None
        if glance is not None:
            yield glance
            later += [run] if glances else []
        else:
            yield _kept(summarise(run), cache)
    for run in later:
        yield _kept(summarise(run), cache)


def _stands(old: RunSummary, *, again: bool) -> bool:
    """A run without an end may get one, or an owner: only what was seen by this very list a moment ago stands."""
    whole = bool(old.stamp) and old.issues is not None
    return whole and (old.liveness is Liveness.FINISHED or (again and old.liveness is not Liveness.LIVE))


def _kept(found: RunSummary, cache: SummaryCache | None) -> RunSummary:
    if cache is not None and found.liveness is Liveness.FINISHED and found.stamp:
        cache.put(found)
    return found


def unique(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Each run once, as it was read last, in the place where it came first."""
    return list({run.key: run for run in runs}.values())


# --- stamps ---


def stamp(run: OpenedRun | Path) -> Stamp:
    """Of ours the event file's; of others everything below the folder, as far as names, sizes and times tell. Empty
    where that is too much to look at."""
    opened = run if isinstance(run, OpenedRun) else open_run(run)
    if opened.ours:
        return _file_stamp(opened.folder / EVENTS)
    if opened.folder.is_file():
        return _file_stamp(opened.folder)
    return _tree_stamp(opened.folder)


def _file_stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_size, status.st_mtime_ns, status.st_ino)


def _tree_stamp(top: Path) -> Stamp:
    total = newest = count = mixed = 0
    waiting = [(os.fspath(top), 0)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    count += 1
                    status = entry.stat(follow_symlinks=False)
                    total += status.st_size
                    newest = max(newest, status.st_mtime_ns)
                    told = f"{entry.name}/{status.st_mtime_ns}/{status.st_size}/{status.st_ino}"
                    mixed += zlib.crc32(os.fsencode(told))
                    if depth < _DEPTH and entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
        except OSError:
            continue
        if count > _MOST_FILES:
            return ()
    return (total, newest, count, mixed)


def _written(run: OpenedRun) -> int:
    """For the order of a list only: when something was written to it last, as its files' dates have it."""
    names = (EVENTS,) if run.ours else ("result.json", "progress.jsonl", "run_metadata.json", ".")
    times = []
    for name in names:
        try:
            times.append((run.folder / name if run.folder.is_dir() else run.folder).stat().st_mtime_ns)
        except OSError:
            continue
    return max(times, default=0)
