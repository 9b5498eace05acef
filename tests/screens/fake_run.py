"""A made-up run, written to a folder the way the engine writes one. No Docker, no clock of its own.

`python -m tests.screens.fake_run FOLDER [--trials N] [--speed X]` plays one live, for looking at.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.layout import EVENTS, HOST_SAMPLES, SAMPLES
from engine.owner import this_process

START = datetime(2025, 11, 30, 12, 0, 0, tzinfo=UTC)
TASKS = (
    "ctr-optimization",
    "kv-live-surgery",
    "live-database-cutover",
    "medical-claims-processing",
    "payments-pipeline-fix",
    "nextjs-performance",
    "heat-pump-warranty",
    "hello-world",
    "redis-leaderboard",
    "größe-日本語",
    "oom-on-purpose",
    "[/bold] $(rm -rf)",
)
GIB = 2**30


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def plan(tasks: int = 12, attempts: int = 1, concurrency: int = 4, name: str = "sonnet against sol") -> list[ev.Event]:
    """The plan of two arms over the first `tasks` tasks."""
    arms = (
        ev.ArmInfo(name="sonnet-5.5", agent="terminus2", model="sonnet-5.5"),
        ev.ArmInfo(name="sol-6.1", agent="terminus2", model="sol-6.1"),
    )
    names = [TASKS[number] if number < len(TASKS) else f"task-{number:04}" for number in range(tasks)]
    found: list[ev.Event] = [
        ev.RunPlanned(
            at=START,
            run="tb4-7f3a91c",
            name=name,
            task_set=ev.TaskSetInfo(name="terminal-bench", version="4.0.0", digest="sha256:1f0c44d2a9"),
            arms=arms,
            tasks=tasks,
            trials=tasks * attempts * 2,
            attempts=attempts,
            concurrency=concurrency,
            card_digest="sha256:7f3a91c0d4",
        )
    ]
    position = 0
    for attempt in range(1, attempts + 1):
        for task in names:
            for arm in arms:
                found.append(
                    ev.TrialPlanned(
                        at=START,
                        trial=trial_id(names.index(task), arm.name, attempt),
                        task=task,
                        arm=arm.name,
                        attempt=attempt,
                        position=position,
                        cpus=2,
                        memory_mb=4096,
                        limits={Phase.AGENT: 1800.0, Phase.VERIFY: 300.0},
                    )
                )
                position += 1
    return found


def trial_id(task: int, arm: str, attempt: int) -> str:
    return f"t{task:04}-{arm}-{attempt}"


def issue(severity: Severity, phase: Phase | None, code: Code, message: str, service: str = "") -> Issue:
    return Issue(
        severity=severity,
        phase=phase,
        code=code,
        message=message,
        service=service,
        evidence=(Evidence("log", message),),
    )


def begun(trial: str, seconds: float) -> list[ev.Event]:
    """A trial up to the work of its agent."""
    return [
        ev.TrialStarted(at=at(seconds), trial=trial, project=f"td-{trial}"),
        ev.PhaseStarted(at=at(seconds), trial=trial, phase=Phase.PREPARE, limit_sec=600.0),
        ev.ServiceChanged(at=at(seconds + 1), trial=trial, service="main", state="running"),
        ev.PhaseFinished(at=at(seconds + 2), trial=trial, phase=Phase.PREPARE, seconds=2.0),
        ev.PhaseStarted(at=at(seconds + 2), trial=trial, phase=Phase.AGENT, limit_sec=1800.0),
        ev.ActivityChanged(at=at(seconds + 30), trial=trial, activity="bash"),
        ev.AgentStepped(at=at(seconds + 30), trial=trial, number=1, tokens_in=1200, tokens_out=300, cost_usd=0.02),
    ]


def ended(
    trial: str,
    seconds: float,
    passed: bool | None,
    took: float = 300.0,
    cost: float | None = 0.31,
    timed_out: bool = False,
) -> list[ev.Event]:
    """Its end: `passed` None is a trial with no verdict."""
    verdict: list[ev.Event] = []
    if passed is not None:
        total = 7
        verdict = [
            ev.RewardRecorded(
                at=at(seconds),
                trial=trial,
                reward=float(passed),
                tests_passed=total if passed else 3,
                tests_total=total,
            )
        ]
    return [
        ev.PhaseFinished(at=at(seconds), trial=trial, phase=Phase.AGENT, seconds=took - 12),
        *verdict,
        ev.TrialFinished(
            at=at(seconds),
            trial=trial,
            outcome="unscored" if passed is None else "scored",
            reward=None if passed is None else float(passed),
            passed=passed,
            seconds=took,
            agent_seconds=1800.0 if timed_out else took - 12,
            cost_usd=cost,
            timed_out=timed_out,
        ),
    ]


def story() -> list[ev.Event]:
    """A run in its middle: every state, some issues, hostile text. Its present is `at(1500)`."""
    found = [*plan(), ev.EngineStarted(at=START, pid=1, host="bench", session=1)]
    a, b = "sonnet-5.5", "sol-6.1"
    over: list[tuple[int, str, bool | None, float | None]] = [
        (3, a, True, 0.31),
        (3, b, True, 0.12),
        (4, a, False, 0.44),
        (4, b, True, 0.20),
        (7, a, True, 0.02),
        (7, b, True, None),
        (9, b, False, 0.50),
    ]
    for number, (task, arm, passed, cost) in enumerate(over):
        trial = trial_id(task, arm, 1)
        found += [*begun(trial, 10 * number), *ended(trial, 10 * number + 300, passed, 290 + number, cost)]
    slow = trial_id(5, b, 1)
    found += [*begun(slow, 20), *ended(slow, 1900 - 500, False, 1380.0, 2.2, timed_out=True)]
    broken = trial_id(0, a, 1)
    found += [
        ev.TrialStarted(at=at(40), trial=broken),
        ev.PhaseStarted(at=at(40), trial=broken, phase=Phase.PREPARE, limit_sec=600.0),
        ev.IssueRaised(
            at=at(171),
            trial=broken,
            issue=issue(Severity.FATAL, Phase.PREPARE, Code.BUILD_FAILED, 'E: Unable to locate package "libfoo"'),
        ),
        *ended(broken, 171, None, 131.0, None),
    ]
    hostile = trial_id(11, a, 1)
    found += [
        *begun(hostile, 60),
        ev.IssueRaised(
            at=at(400),
            trial=hostile,
            issue=issue(
                Severity.ERROR,
                Phase.COLLECT,
                Code.ARTIFACT_COLLECT_FAILED,
                "db: exit status [/bin/sh -c x] \x1b[2J\x1b]52;c;AAAA\x07[/red]\x9b31m\x00",
                service="db",
            ),
        ),
        *ended(hostile, 420, False, 360.0, 0.3),
    ]
    for number, (task, arm, activity) in enumerate(
        ((1, b, "bash"), (1, a, "model"), (2, a, "hook 2/3"), (6, b, "model, try 3 of 8"))
    ):
        trial = trial_id(task, arm, 1)
        found += begun(trial, 600 + 150 * number)
        if task == 2:
            found += [
                ev.PhaseFinished(at=at(1480), trial=trial, phase=Phase.AGENT, seconds=578.0),
                ev.PhaseStarted(at=at(1480), trial=trial, phase=Phase.COLLECT, limit_sec=120.0),
                ev.IssueRaised(
                    at=at(1485),
                    trial=trial,
                    issue=issue(
                        Severity.WARNING, Phase.COLLECT, Code.ARTIFACT_COLLECT_FAILED, "pg_dump: no such table", "db"
                    ),
                ),
            ]
        found.append(ev.ActivityChanged(at=at(1440 + 15 * number), trial=trial, activity=activity))
        found.append(
            ev.ResourceSampled(
                at=at(1499),
                trial=trial,
                service="main",
                cpu_percent=96.0 - 30 * number,
                cpu_limit=200,
                memory_bytes=int((0.6 + 1.1 * number) * GIB),
                memory_limit=4 * GIB,
            )
        )
    found.append(ev.TrialWaiting(at=at(1490), trial=trial_id(8, a, 1), reason="memory (needs 16 G)"))
    found.append(ev.RunIssue(at=at(1200), issue=issue(Severity.WARNING, None, Code.HOST_TOO_SMALL, "disk below 20 G")))
    found.append(
        ev.HostSampled(
            at=at(1498),
            cpu_percent=71,
            memory_used=38 * GIB,
            memory_total=64 * GIB,
            disk_free=212 * GIB,
            networks=19,
            networks_limit=31,
        )
    )
    return found


def finish(found: Iterable[ev.Event], seconds: float = 1500.0, exit_code: int = 3) -> list[ev.Event]:
    """Everything that has not ended fails; then the run is over."""
    events = list(found)
    over = {event.trial for event in events if isinstance(event, ev.TrialFinished)}
    for event in list(events):
        if isinstance(event, ev.TrialPlanned) and event.trial not in over:
            events += [*begun(event.trial, seconds - 100), *ended(event.trial, seconds, False, 100.0)]
    return [*events, ev.RunFinished(at=at(seconds), exit_code=exit_code, seconds=seconds)]


def write(folder: Path, found: Iterable[ev.Event], *, alive: bool = True) -> Path:
    """Append events; samples go to their own files. `alive`: this process passes for the engine."""
    folder.mkdir(parents=True, exist_ok=True)
    if alive:
        (folder / "engine.json").write_bytes(msgspec.json.encode(this_process()))
    for event in found:
        name = EVENTS
        if isinstance(event, ev.HostSampled):
            name = HOST_SAMPLES
        elif isinstance(event, ev.ResourceSampled):
            (folder / event.trial).mkdir(exist_ok=True)
            name = f"{event.trial}/{SAMPLES}"
        with (folder / name).open("ab") as file:
            file.write(ev.encode(event))
    return folder


# --- played live, for looking at --------------------------------------------------------------------------------------


def live(tasks: int, attempts: int, concurrency: int, seed: int) -> Iterator[ev.Event]:
    """An endless-looking run: one event after another, without times."""
    chance = random.Random(seed)
    planned = [event for event in plan(tasks, attempts, concurrency)]
    yield from planned
    yield ev.EngineStarted(pid=os.getpid(), host="bench", session=1)
    queue = [event.trial for event in planned if isinstance(event, ev.TrialPlanned)]
    running: dict[str, int] = {}
    began: dict[str, float] = {}
    while queue or running:
        while queue and len(running) < concurrency:
            trial = queue.pop(0)
            running[trial] = 0
            began[trial] = time.monotonic()
            yield ev.TrialStarted(trial=trial, project=f"td-{trial}")
            yield ev.PhaseStarted(trial=trial, phase=Phase.PREPARE, limit_sec=60.0)
        trial = chance.choice(list(running))
        running[trial] += 1
        step = running[trial]
        if step == 2:
            yield ev.PhaseFinished(trial=trial, phase=Phase.PREPARE, seconds=1.2)
            yield ev.PhaseStarted(trial=trial, phase=Phase.AGENT, limit_sec=60.0)
        elif step == 14:
            yield ev.PhaseFinished(trial=trial, phase=Phase.AGENT, seconds=9.0)
            yield ev.PhaseStarted(trial=trial, phase=Phase.VERIFY, limit_sec=30.0)
        elif step >= 18:
            del running[trial]
            passed = chance.choice((True, True, False, None))
            if passed is None:
                text = chance.choice(("pg_dump: no such table", "no space left on device", "container was OOM-killed"))
                found = issue(Severity.FATAL, Phase.COLLECT, Code.ARTIFACT_COLLECT_FAILED, text)
                yield ev.IssueRaised(trial=trial, issue=found)
            yield ev.TrialFinished(
                trial=trial,
                outcome="unscored" if passed is None else "scored",
                passed=passed,
                reward=None if passed is None else float(passed),
                seconds=time.monotonic() - began[trial],
                agent_seconds=9.0,
                cost_usd=chance.choice((0.2, 0.4, None)),
            )
        elif step > 2:
            yield ev.ActivityChanged(
                trial=trial, activity=chance.choice(("bash", "model", "model, try 2 of 8", "edit"))
            )
            yield ev.ResourceSampled(
                trial=trial,
                service="main",
                cpu_percent=chance.uniform(2, 180),
                memory_bytes=int(chance.uniform(0.1, 3.9) * GIB),
                memory_limit=4 * GIB,
            )
    yield ev.RunFinished(exit_code=3, seconds=time.monotonic() - min(began.values()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--attempts", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=6)
    parser.add_argument("--pause", type=float, default=0.08)
    parser.add_argument("--stay", type=float, default=0.0, help="seconds to live on after the end")
    given = parser.parse_args()
    write(given.folder, [])
    for number, event in enumerate(live(given.tasks, given.attempts, given.concurrency, seed=1)):
        write(given.folder, [event], alive=False)
        if number > given.tasks * given.attempts * 2:
            time.sleep(given.pause)
        if number % 40 == 0:
            host = ev.HostSampled(
                cpu_percent=60,
                memory_used=30 * GIB,
                memory_total=64 * GIB,
                disk_free=212 * GIB,
                networks=9,
                networks_limit=31,
            )
            write(given.folder, [host], alive=False)
    time.sleep(given.stay)


if __name__ == "__main__":
    main()
