"""Small run folders, written the way the engine writes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.layout import EVENTS
from tests.screens.fake_run import at

HOSTILE = "x\x1b[2J\x1b]52;c;AAAA\x07\x9b31m\r\x00[/bold] \u202eend"


def planned(tasks: Iterable[str], arms: Iterable[str] = ("oracle", "replay"), attempts: int = 1) -> list[ev.Event]:
    tasks, arms = list(tasks), list(arms)
    found: list[ev.Event] = [
        ev.RunPlanned(
            at=at(0),
            run="2025-11-30__12-00-00__small",
            name="small",
            task_set=ev.TaskSetInfo(name="samples", version="1.0", digest="sha256:" + "ab" * 32),
            arms=tuple(ev.ArmInfo(name=arm, agent=arm) for arm in arms),
            tasks=len(tasks),
            trials=len(tasks) * len(arms) * attempts,
            attempts=attempts,
            concurrency=2,
            host=ev.HostInfo(name="build-box-7", cpus=2, memory_mb=4096),
        )
    ]
    for attempt in range(1, attempts + 1):
        for task in tasks:
            for arm in arms:
                found.append(
                    ev.TrialPlanned(
                        at=at(0),
                        trial=f"{task}__{arm}__{attempt}",
                        task=task,
                        arm=arm,
                        attempt=attempt,
                        position=len(found),
                    )
                )
    return found


def started(pid: int = 1, session: int = 1) -> ev.Event:
    return ev.EngineStarted(at=at(0), pid=pid, host="build-box-7", session=session, resumed=session > 1)


def begun(trial: str, run_number: int = 1) -> list[ev.Event]:
    return [
        ev.TrialStarted(at=at(1), trial=trial, run_number=run_number, project="trialdeck-hello-1a2b3c4d"),
        ev.PhaseStarted(at=at(1), trial=trial, phase=Phase.PREPARE, limit_sec=600),
    ]


def scored(trial: str, passed: bool, cost: float | None = None) -> list[ev.Event]:
    return [
        ev.RewardRecorded(at=at(5), trial=trial, reward=float(passed), tests_passed=3 * passed, tests_total=3),
        ev.TrialFinished(
            at=at(5),
            trial=trial,
            outcome="scored",
            reward=float(passed),
            passed=passed,
            seconds=4.2,
            cost_usd=cost,
        ),
    ]


def unscored(trial: str) -> list[ev.Event]:
    return [
        ev.IssueRaised(at=at(5), trial=trial, issue=broken_build()),
        ev.TrialFinished(at=at(5), trial=trial, outcome="unscored", seconds=2.0),
    ]


def broken_build(message: str = "step 3 of 5 failed: no such package") -> Issue:
    return Issue(
        Severity.FATAL, Phase.PREPARE, Code.BUILD_FAILED, message, (Evidence("way out", "name a package there is"),)
    )


def ended(exit_code: int = 0, reason: str = "done") -> list[ev.Event]:
    return [
        ev.RunFinished(at=at(9), exit_code=exit_code, seconds=9.0, reason=reason),
        ev.EngineStopped(at=at(9), reason=str(exit_code)),
    ]


def whole_run(exit_code: int = 3) -> list[ev.Event]:
    """Two tasks, two arms: oracle passes both, replay fails one and is left without a verdict in the other."""
    return [
        started(),
        *planned(["hello", "redis"]),
        *begun("hello__oracle__1"),
        *scored("hello__oracle__1", True),
        *begun("hello__replay__1"),
        *scored("hello__replay__1", False),
        *begun("redis__oracle__1"),
        *scored("redis__oracle__1", True),
        *begun("redis__replay__1"),
        *unscored("redis__replay__1"),
        *ended(exit_code),
    ]


def write(folder: Path, events: Iterable[ev.Event]) -> Path:
    """Append, as the engine does. No engine.json: nobody owns this run."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / EVENTS).open("ab") as file:
        for event in events:
            file.write(ev.encode(event))
    return folder
