"""A made-up run for triage: two arms, failures with logs and evidence, rules that are quick to tell what they say."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot

from console.app import TrialDeckApp
from console.habits import Habits
from engine import events as ev
from engine.issues import Code, Evidence, Phase, Severity
from engine.layout import LogFile
from engine.readers.open_run import open_run
from engine.state import RunState
from engine.triage.causes import Cause
from engine.triage.label_store import open_labels
from engine.triage.labels import Label
from engine.triage.new_label import new_label
from engine.triage.proposal import Finding, Proposal, Strength
from engine.trial_state import TrialState
from screens.triage_desks import desk_of
from screens.triage_screen import TriageScreen
from tests.screens import fake_run
from tests.screens.deck import read_and_painted, until
from tests.screens.fake_run import at, trial_id

A, B = "sonnet-5.5", "sol-6.1"
OOM = trial_id(2, A, 1)
OOM_TOO = trial_id(1, B, 1)
BUILD = trial_id(0, A, 1)
PLAIN = trial_id(4, A, 1)
PLAIN_TOO = trial_id(6, B, 1)
PASSED = trial_id(3, A, 1)
FAILURES = (OOM, OOM_TOO, BUILD, PLAIN, PLAIN_TOO)


def story() -> list[ev.Event]:
    """Seven tasks, two arms: five trials want a decision. Over at `at(1500)`."""
    found = [*fake_run.plan(7), ev.EngineStarted(at=fake_run.START, pid=1, host="bench", session=1)]
    for number, task in enumerate(range(7)):
        for arm in (A, B):
            trial = trial_id(task, arm, 1)
            passed = None if trial == BUILD else trial not in FAILURES
            found += fake_run.begun(trial, 20 * number)
            if trial == BUILD:
                found.append(
                    ev.IssueRaised(
                        at=at(300),
                        trial=trial,
                        issue=fake_run.issue(Severity.FATAL, Phase.PREPARE, Code.BUILD_FAILED, "no package libfoo"),
                    )
                )
            found += fake_run.ended(trial, 20 * number + 400, passed, 390.0)
    return [*found, ev.RunFinished(at=at(1500), exit_code=3, seconds=1500)]


def write_logs(run: Path) -> None:
    for trial in FAILURES:
        arm = A if A in trial else B
        for name, text in {
            f"agent/{arm}.txt": "".join(f"[{n:03}] $ curl db:5432\nconnection refused\n" for n in range(60)),
            "logs/services/db.log": "".join(f"LOG: checkpoint {n}\n" for n in range(80)) + "Killed\n",
            "verifier/test-stdout.txt": "collected 11 items\nE connection refused\n0 passed, 11 failed\n",
        }.items():
            path = run / trial / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def rules(trial: TrialState, state: RunState, folder: Path, logs: list[LogFile]) -> Proposal:
    if trial.trial in (OOM, OOM_TOO):
        arm = trial.arm
        return Proposal(
            cause=Cause.INFRASTRUCTURE,
            strength=Strength.STRONG,
            findings=(
                Finding(
                    rule="out_of_memory",
                    cause=Cause.INFRASTRUCTURE,
                    strength=Strength.STRONG,
                    text="db container was OOM-killed at 1:02:11, limit 512 M",
                    source="docker inspect",
                    evidence=(Evidence("log", "Killed", "logs/services/db.log", 81),),
                ),
                Finding(
                    rule="connection_refused",
                    cause=Cause.INFRASTRUCTURE,
                    strength=Strength.WEAK,
                    text=f'the last 14 commands of {arm} failed with "connection refused"',
                    source=f"agent/{arm}.txt",
                    evidence=(Evidence("log", "connection refused", f"agent/{arm}.txt", 40),),
                ),
                Finding(
                    rule="tests_failed",
                    cause=Cause.MODEL,
                    strength=Strength.WEAK,
                    text="0 of 11 tests passed",
                    source="test-stdout",
                    evidence=(Evidence("log", "0 passed", "verifier/test-stdout.txt", 3),),
                ),
            ),
        )
    if trial.trial == BUILD:
        return Proposal(
            cause=Cause.TASK,
            strength=Strength.WEAK,
            findings=(
                Finding(
                    rule="build_failed",
                    cause=Cause.TASK,
                    strength=Strength.WEAK,
                    text="the image could not be built: no package libfoo",
                    source="engine",
                    evidence=(Evidence("log", "outside", "../../../../etc/passwd", 1),),
                ),
            ),
        )
    return Proposal(cause=None)


def write(folder: Path) -> Path:
    fake_run.write(folder, story(), alive=False)
    write_logs(folder)
    return folder


@contextmanager
def these_rules(who: str = "ada") -> Iterator[None]:
    """Desks that are opened now use the rules above, and belong to this person."""
    with patch("screens.triage_desks.propose", rules), patch.dict(os.environ, {"TRIALDECK_USER": who}):
        yield


@asynccontextmanager
async def triage_opened(
    folder: Path,
    size: tuple[int, int] = (120, 40),
    who: str = "ada",
    trial: str | None = None,
    blind: bool = False,
    habits: Habits | None = None,
) -> AsyncIterator[tuple[TrialDeckApp, Pilot[Any], TriageScreen]]:
    """The screen, all findings known."""
    app = TrialDeckApp(folder, clock=lambda: at(2000), habits=habits)
    with these_rules(who):
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: read_and_painted(app), "the run is read")
            assert app.source is not None
            kept = desk_of(app, app.source)
            kept.look_through()
            await until(pilot, lambda: kept.ready and not kept.looking_at, "the rules have looked")
            screen = TriageScreen(app.source, kept, trial, blind=blind)
            await app.push_screen(screen)
            await until(pilot, lambda: settled(screen), "a trial is shown")
            await settle(pilot)
            yield app, pilot, screen


def settled(screen: TriageScreen) -> bool:
    desk = screen.desk
    return desk.ready and screen.walk.current is not None and not desk.looking_at and not screen._sorting.due


async def settle(pilot: Pilot[Any]) -> None:
    await pilot.app.workers.wait_for_complete()
    for _ in range(4):
        await pilot.pause()


async def written(pilot: Pilot[Any], screen: TriageScreen) -> None:
    """Everything decided is in the file."""
    await until(pilot, lambda: not screen.desk.unwritten, "the labels are written")
    await settle(pilot)


def causes(run: Path, kind: str = "label") -> list[tuple[str, str]]:
    return [(label.trial, str(label.cause)) for label in labels_in(run) if label.kind == kind]


def labels_in(run: Path) -> list[Label]:
    """Every record of the run's file."""
    return open_labels(open_run(run)).new_labels()


def by_others(run: Path, trial: str, cause: Cause | None, *, who: str, note: str = "", kind: str = "label") -> Label:
    """Somebody else's record, appended by another process as it were."""
    store = open_labels(open_run(run))
    task, arm, attempt = next(
        (event.task, event.arm, event.attempt)
        for event in story()
        if isinstance(event, ev.TrialPlanned) and event.trial == trial
    )
    planned = TrialState(trial=trial, task=task, arm=arm, attempt=attempt)
    label = new_label(store.run_identity, planned, who, kind=kind, cause=cause, note=note, at=at(1900))
    store.append(label)
    return label
