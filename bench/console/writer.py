"""An engine's side of a busy run, without an engine: `python -m bench.console.writer FOLDER --rate N --seconds S`.

Writes the plan, says `ready`, waits for a line on standard input, then appends events at a steady rate, says in
JSON what it did, and finishes the run when standard input closes.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine import events as ev
from engine.issues import Code, Evidence, Issue, Phase, Severity
from engine.layout import EVENTS, HOST_SAMPLES, SAMPLES
from engine.owner import this_process

ARMS = (
    ev.ArmInfo(name="sonnet-5.5", agent="terminus2", model="sonnet-5.5"),
    ev.ArmInfo(name="sol-6.1", agent="terminus2", model="sol-6.1"),
)
ATTEMPTS = 5
CONCURRENCY = 50
LIFE = 900
"""Events of a trial, on average: at 20,000 a second 22 trials end in each second, and a thousand in three quarters of a
minute."""
TICK_SEC = 0.002
SAMPLE_SEC = 1.0
GIB = 1 << 30


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """`began` is the wall clock at the first event; `behind_ms` how late the latest tick was."""

    began: float
    seconds: float
    events: int
    samples: int
    behind_ms: float


def plan(trials: int) -> list[ev.Event]:
    """Two arms, five attempts, as many tasks as that takes."""
    tasks = trials // (len(ARMS) * ATTEMPTS)
    found: list[ev.Event] = [
        ev.RunPlanned(
            run="busy",
            name="busy run",
            task_set=ev.TaskSetInfo(name="made-up", version="1.0"),
            arms=ARMS,
            tasks=tasks,
            trials=trials,
            attempts=ATTEMPTS,
            concurrency=CONCURRENCY,
            host=ev.HostInfo(name="bench", cpus=64, memory_mb=256 << 10),
        ),
        ev.EngineStarted(pid=os.getpid(), host="bench", session=1),
    ]
    position = 0
    for attempt in range(1, ATTEMPTS + 1):
        for task in range(tasks):
            for arm in ARMS:
                found.append(
                    ev.TrialPlanned(
                        trial=f"task-{task:04}__{arm.name}__{attempt}",
                        task=f"task-{task:04}",
                        arm=arm.name,
                        attempt=attempt,
                        position=position,
                        cpus=1,
                        memory_mb=2048,
                        limits={Phase.AGENT: 1800.0, Phase.VERIFY: 300.0},
                    )
                )
                position += 1
    return found


def life(trial: str, length: int, chance: random.Random) -> Iterator[ev.Event]:
    """About `length` events of one trial; most of them are its agent at work."""
    yield ev.TrialStarted(trial=trial, project=trial)
    yield ev.PhaseStarted(trial=trial, phase=Phase.PREPARE, limit_sec=600.0)
    yield ev.ActivityChanged(trial=trial, activity="build image")
    yield ev.ServiceChanged(trial=trial, service="main", state="running")
    yield ev.PhaseFinished(trial=trial, phase=Phase.PREPARE, seconds=1.5)
    yield ev.PhaseStarted(trial=trial, phase=Phase.AGENT, limit_sec=1800.0)
    for number in range(max(1, (length - 18) // 3)):
        yield ev.ActivityChanged(trial=trial, activity="model")
        yield ev.ActivityChanged(trial=trial, activity="bash")
        yield ev.AgentStepped(trial=trial, number=number + 1, what="bash", tokens_in=1200, tokens_out=90, cost_usd=0.01)
    yield ev.AgentFinished(trial=trial, exit_code=0, seconds=20.0)
    yield ev.PhaseFinished(trial=trial, phase=Phase.AGENT, seconds=20.0)
    yield ev.PhaseStarted(trial=trial, phase=Phase.COLLECT)
    passed = chance.choice((True, True, False, None))
    if passed is not True:
        text = "pg_dump: no such table"
        yield ev.IssueRaised(
            trial=trial,
            issue=Issue(
                Severity.WARNING, Phase.COLLECT, Code.ARTIFACT_COLLECT_FAILED, text, (Evidence("output", text),)
            ),
        )
    yield ev.ArtifactRecorded(trial=trial, service="main", source="/app/out", status="collected", bytes=120)
    yield ev.PhaseFinished(trial=trial, phase=Phase.COLLECT, seconds=0.4)
    yield ev.PhaseStarted(trial=trial, phase=Phase.VERIFY, limit_sec=300.0)
    if passed is not None:
        yield ev.RewardRecorded(trial=trial, reward=float(passed), tests_passed=7 if passed else 3, tests_total=7)
    yield ev.PhaseFinished(trial=trial, phase=Phase.VERIFY, seconds=2.0)
    yield ev.PhaseStarted(trial=trial, phase=Phase.CLEANUP)
    yield ev.ResourcePeaked(trial=trial, service="main", cpu_percent=90, memory_bytes=GIB)
    yield ev.PhaseFinished(trial=trial, phase=Phase.CLEANUP, seconds=0.3)
    yield ev.TrialFinished(
        trial=trial,
        outcome="unscored" if passed is None else "scored",
        reward=None if passed is None else float(passed),
        passed=passed,
        seconds=25.0,
        agent_seconds=20.0,
        cost_usd=0.4,
    )


def over(trial: str) -> Iterator[ev.Event]:
    """A trial in as few events as make it one that has run."""
    passed = {0: True, 1: False}.get(zlib.crc32(trial.encode()) % 3)
    yield ev.TrialStarted(trial=trial, project=trial)
    yield ev.TrialFinished(
        trial=trial,
        outcome="unscored" if passed is None else "scored",
        reward=None if passed is None else float(passed),
        passed=passed,
        seconds=5.0 + zlib.crc32(trial.encode()) % 900,
        cost_usd=0.4,
    )


class Busy:
    """Trials that take turns; a new one starts where one ends."""

    def __init__(self, folder: Path, trials: list[str], length: int) -> None:
        self.folder = folder
        self.running: dict[str, int] = {}
        self._queue = deque(trials)
        self._length = length
        self._chance = random.Random(7)

    def stream(self) -> Iterator[ev.Event]:
        lives: deque[Iterator[ev.Event]] = deque()
        while self._queue or lives:
            while self._queue and len(lives) < CONCURRENCY:
                # Lengths differ, so that trials end at all times and not in crowds.
                length = int(self._length * self._chance.uniform(0.5, 1.5))
                lives.append(life(self._queue.popleft(), length, self._chance))
            turn = lives.popleft()
            event = next(turn, None)
            if event is None:
                continue
            lives.append(turn)
            if isinstance(event, ev.TrialStarted):
                (self.folder / event.trial).mkdir()
                self.running[event.trial] = _append(self.folder / event.trial / SAMPLES)
            elif isinstance(event, ev.TrialFinished):
                os.close(self.running.pop(event.trial))
            yield event

    def sample(self, host: int) -> int:
        """One sample of each running trial and of the host; returns how many."""
        os.write(
            host,
            ev.encode(
                ev.HostSampled(
                    cpu_percent=self._chance.uniform(40, 90),
                    memory_used=self._chance.randrange(64 * GIB),
                    memory_total=256 * GIB,
                    disk_free=200 * GIB,
                )
            ),
        )
        for trial, descriptor in self.running.items():
            sample = ev.ResourceSampled(
                trial=trial,
                service="main",
                cpu_percent=self._chance.uniform(1, 99),
                cpu_limit=100,
                memory_bytes=self._chance.randrange(2 * GIB),
                memory_limit=2 * GIB,
            )
            os.write(descriptor, ev.encode(sample))
        return len(self.running) + 1


def write(busy: Busy, events: int, host: int, rate: int, seconds: float) -> Written:
    stream = busy.stream()
    began_at, began = time.time(), time.perf_counter()
    written = samples = 0
    behind = next_sample = 0.0
    while (since := time.perf_counter() - began) < seconds:
        due = int(since * rate) - written
        behind = max(behind, due / rate - TICK_SEC)
        batch = []
        for _ in range(due):
            event = next(stream, None)
            if event is None:
                raise RuntimeError(f"out of trials after {written} events")
            batch.append(ev.encode(event))
        os.write(events, b"".join(batch))
        written += due
        if since >= next_sample:
            next_sample += SAMPLE_SEC
            samples += busy.sample(host)
        time.sleep(max(0.0, TICK_SEC - (time.perf_counter() - began - since)))
    return Written(
        began=began_at,
        seconds=time.perf_counter() - began,
        events=written,
        samples=samples,
        behind_ms=1000 * behind,
    )


def _append(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--finished", type=int, default=0, help="trials that are over before the first second")
    given = parser.parse_args()
    folder: Path = given.folder
    folder.mkdir()
    (folder / "engine.json").write_bytes(msgspec.json.encode(this_process()))
    planned = plan(given.trials)
    events, host = _append(folder / EVENTS), _append(folder / HOST_SAMPLES)
    os.write(events, b"".join(map(ev.encode, planned)))
    trials = [event.trial for event in planned if isinstance(event, ev.TrialPlanned)]
    os.write(events, b"".join(ev.encode(event) for trial in trials[: given.finished] for event in over(trial)))
    busy = Busy(folder, trials[given.finished :], LIFE)
    print("ready", flush=True)
    sys.stdin.readline()
    written = write(busy, events, host, given.rate, given.seconds)
    print(msgspec.json.encode(written).decode(), flush=True)
    sys.stdin.readline()
    ends: list[ev.Event] = [ev.TrialFinished(trial=trial, outcome="cancelled") for trial in busy.running]
    ends += [ev.RunFinished(exit_code=3, seconds=written.seconds), ev.EngineStopped(reason="3")]
    os.write(events, b"".join(map(ev.encode, ends)))


if __name__ == "__main__":
    main()
