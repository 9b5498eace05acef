"""What a list of runs says about each: read from the events that matter, the many others skipped unread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine import events as ev
from engine.layout import EVENTS, find_runs
from engine.owner import owner_alive, read_owner
from engine.readers.followed_file import FollowedFile
from engine.readers.reader import Liveness
from engine.state import RunState

_TELLING = tuple(
    b'{"type":"%s"' % name
    for name in (
        b"run_planned",
        b"trial_planned",
        b"engine_started",
        b"engine_stopped",
        b"run_issue",
        b"run_finished",
        b"trial_started",
        b"trial_finished",
        b"trial_interrupted",
        b"issue_raised",
    )
)


@dataclass(frozen=True)
class ArmSummary:
    name: str
    passed: int
    finished: int
    assigned: int


@dataclass(frozen=True)
class RunSummary:
    """`seconds`: how long it took, or has taken to its last sign of life. `stamp`: the event file's size and time."""

    folder: Path
    name: str
    task_set: str
    arms: tuple[ArmSummary, ...]
    liveness: Liveness
    done: int
    planned: int
    issues: int
    started_at: datetime | None
    last_event_at: datetime | None
    seconds: float | None
    exit_code: int | None
    stamp: tuple[int, int]


def stamp(folder: Path) -> tuple[int, int]:
    try:
        status = (folder / EVENTS).stat()
    except OSError:
        return (0, 0)
    return (status.st_size, status.st_mtime_ns)


def summarise(folder: Path) -> RunSummary:
    """Reads the whole event file once: about a second for five million events."""
    seen = stamp(folder)
    state = RunState()
    last: ev.AnyEvent | None = None
    lines = FollowedFile(folder / EVENTS)
    try:
        while batch := lines.new_lines():
            state.apply_all(ev.decode_lines(line for line in batch if line.startswith(_TELLING)))
            last = ev.decode(batch[-1]) or last
    except OSError:
        pass
    finally:
        lines.close()
    plan = state.plan
    last_at = last.at if last is not None else state.last_event_at
    liveness = _liveness(folder, state)
    seconds = state.finished.seconds if state.finished is not None else None
    if seconds is None and state.started_at is not None and last_at is not None:
        seconds = max(0.0, (last_at - state.started_at).total_seconds())
    return RunSummary(
        folder=folder,
        name=plan.name if plan else folder.name,
        task_set=" ".join(part for part in (plan.task_set.name, plan.task_set.version[:12]) if part) if plan else "",
        arms=tuple(ArmSummary(arm.info.name, arm.passed, arm.finished, arm.assigned) for arm in state.arms.values()),
        liveness=liveness,
        done=state.done,
        planned=len(state.trials),
        issues=sum(state.severities.values()),
        started_at=state.started_at,
        last_event_at=last_at,
        seconds=seconds,
        exit_code=state.finished.exit_code if state.finished else None,
        stamp=seen,
    )


def _liveness(folder: Path, state: RunState) -> Liveness:
    if state.finished is not None:
        return Liveness.FINISHED
    if owner_alive(read_owner(folder)) is False:
        return Liveness.STALE if state.sessions else Liveness.STARTING
    return Liveness.LIVE


def summarise_all(runs_dir: Path, known: dict[Path, RunSummary]) -> Iterator[RunSummary]:
    """The newest run first. One that is over and has not changed since `known` is not read again."""
    folders = sorted(find_runs(runs_dir), key=lambda folder: stamp(folder)[1], reverse=True)
    for folder in folders:
        old = known.get(folder)
        if old is not None and old.stamp == stamp(folder) and old.liveness is not Liveness.LIVE:
            yield old
        else:
            yield summarise(folder)
