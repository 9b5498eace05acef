"""Two benchmarks, each run by one model at three levels of effort: everything that an analysis can speak of."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine import events as ev
from tests.screens import fake_run
from tests.screens.fake_run import at

LEVELS = {"low": (0.30, 3, 0.2), "medium": (0.60, 5, 0.6), "high": (0.70, 9, 2.5)}
"""Share of tasks that are solved, steps of a success, dollars a trial."""
BENCHMARKS = (("terminal-bench", "4.0.0"), ("repo-fixes", "2.1"))
TASKS = 20


def write(folder: Path) -> list[Path]:
    """Run folders below `folder`, one a benchmark."""
    return [
        fake_run.write(folder / name, _events(number, name, version))
        for number, (name, version) in enumerate(BENCHMARKS)
    ]


def _events(number: int, name: str, version: str) -> list[ev.Event]:
    arms = tuple(ev.ArmInfo(name=f"sol {level}", agent="terminus2", model="sol-6.1", effort=level) for level in LEVELS)
    found: list[ev.Event] = [
        ev.RunPlanned(
            at=at(0),
            run=f"run-{name}",
            name=f"{name} sweep",
            task_set=ev.TaskSetInfo(name=name, version=version, digest=f"sha256:{number}f0c44d2a9"),
            arms=arms,
            tasks=TASKS,
            trials=TASKS * len(arms),
            card_digest="7f3a91c",
            engine_version="0.1.0",
        )
    ]
    trials: list[ev.Event] = []
    for task in range(TASKS):
        for place, (level, (share, steps, dollars)) in enumerate(LEVELS.items()):
            trial = f"task-{task:02}-{level}-1"
            category = "databases" if task % 2 else "networking"
            began = 10 * (task * len(LEVELS) + place)
            found.append(
                ev.TrialPlanned(
                    at=at(0),
                    trial=trial,
                    task=f"task-{task:02}",
                    arm=f"sol {level}",
                    attempt=1,
                    position=len(trials),
                    category=category,
                    difficulty="medium",
                )
            )
            passed = task < share * TASKS - number
            trials.append(ev.TrialStarted(at=at(began), trial=trial))
            taken = steps + task % 4
            trials += [ev.AgentStepped(at=at(began + step), trial=trial, number=step) for step in range(1, taken + 1)]
            trials.append(
                ev.TrialFinished(
                    at=at(began + 300),
                    trial=trial,
                    outcome="scored",
                    reward=float(passed),
                    passed=passed,
                    seconds=300.0 + 60 * place,
                    agent_seconds=240.0 + 60 * place,
                    cost_usd=dollars,
                )
            )
    found += sorted(trials, key=lambda event: event.at)
    last = msgspec.structs.replace(found[-1]).at
    return [*found, ev.RunFinished(at=last, exit_code=0, seconds=900.0)]
