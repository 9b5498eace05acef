"""A thousand runs in a list: of ours, and Harbor jobs, each read for the first time; then again.

The floor under the first look is reading the bytes that a list can't do without: each run's events, each job's result.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from bench.figures import Check, Result, Say, Series, Unmeasurable, ratio
from engine.layout import EVENTS
from screens.run_summaries import summarise_all
from screens.summary_cache import SummaryCache

RUNS = 1_000
ROUNDS, QUICK_ROUNDS = 5, 2
TARGET_SEC = 2.0
TRIALS_OF_A_JOB = 8
RECORDED = Path(__file__).resolve().parent.parent / "sample_runs" / "recorded" / "demo" / EVENTS


def measure_run_list(*, quick: bool, say: Say) -> Result:
    if not RECORDED.is_file():
        raise Unmeasurable(f"{RECORDED} is needed: it is what a run of ours is made of")
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as place:
        ours, jobs = Path(place) / "ours", Path(place) / "jobs"
        write_runs(ours, RUNS)
        write_jobs(jobs, RUNS)
        cache = Path(place) / "summaries.json"
        floors, first, again, glanced, read = [], [], [], [], []
        for number in range(rounds):
            cache.unlink(missing_ok=True)
            floors.append(_seconds(lambda: [path.read_bytes() for path in sorted(ours.glob(f"*/{EVENTS}"))]))
            first.append(_list(ours, cache))
            again.append(_list(ours, cache))
            read.append(_seconds(lambda: [path.read_bytes() for path in sorted(jobs.glob("*/result.json"))]))
            glanced.append(_list(jobs, cache, glances=True))
            say(
                f"list {number + 1}: ours {first[-1]:.2f} s, again {again[-1]:.2f} s, "
                f"jobs {glanced[-1]:.2f} s, floors {floors[-1]:.2f} and {read[-1]:.2f} s"
            )
    mine, floor = _series("runs of ours, first look", first), _series("  floor: their events read", floors)
    harbor, results = _series("Harbor jobs, first look", glanced), _series("  floor: their results read", read)
    second = _series("runs of ours, second look", again)
    size = RECORDED.stat().st_size
    return Result(
        benchmark="list",
        title=f"{RUNS} runs in one list, of ours ({size >> 10} KiB of events each) and of Harbor",
        checks=(
            Check(name=f"{RUNS} of ours, first look", value=mine.median, unit="s", target=TARGET_SEC, below=True),
            Check(name=f"{RUNS} Harbor jobs, first look", value=harbor.median, unit="s", target=TARGET_SEC, below=True),
            Check(name=f"{RUNS} of ours, second look", value=second.median, unit="s", target=TARGET_SEC, below=True),
            Check(name="ours / reading their events (medians)", value=ratio(mine, floor)),
            Check(name="Harbor / reading their results (medians)", value=ratio(harbor, results)),
        ),
        series=(mine, floor, second, harbor, results),
        notes=(
            "the files are in the page cache; a job's row shows at first what its result.json says, and counts issues "
            "when its trials are read, one job after the other",
        ),
    )


def write_runs(top: Path, count: int) -> None:
    """Of ours: the recorded run, again and again."""
    data = RECORDED.read_bytes()
    for number in range(count):
        folder = top / f"2025-11-30__10-00-00__run-{number:04}"
        folder.mkdir(parents=True)
        (folder / EVENTS).write_bytes(data)


def write_jobs(top: Path, count: int) -> None:
    """Finished Harbor jobs of some trials each, as Harbor 0.26 writes them."""
    for number in range(count):
        folder = top / f"job-{number:04}"
        trials = [f"task__{number:04}{trial:03}" for trial in range(TRIALS_OF_A_JOB)]
        times = {"started_at": "2025-11-30T10:00:00.000001", "finished_at": "2025-11-30T10:05:00.000001"}
        for name in trials:
            (folder / name).mkdir(parents=True)
            config = {"trial_name": name, "agent": {"name": "oracle"}, "task": {"path": "tasks/task"}}
            verdict = {"trial_name": name, "task_name": "task", "verifier_result": {"rewards": {"reward": 1.0}}}
            (folder / name / "config.json").write_text(json.dumps(config))
            (folder / name / "result.json").write_text(json.dumps(verdict | {"config": config} | times))
        evals = {"oracle__adhoc": {"n_trials": len(trials), "reward_stats": {"reward": {"1.0": trials}}}}
        stats = {"n_completed_trials": len(trials), "evals": evals}
        result = {"id": f"job-{number}", "n_total_trials": len(trials), "stats": stats} | times
        (folder / "result.json").write_text(json.dumps(result))
        agents = {"job_name": folder.name, "agents": [{"name": "oracle"}], "n_attempts": len(trials)}
        (folder / "config.json").write_text(json.dumps(agents))
        (folder / "job.log").write_text("")


def _list(top: Path, cache: Path, *, glances: bool = False) -> float:
    """Seconds until each run has its row."""
    kept = SummaryCache(cache)
    began = time.perf_counter()
    rows = list(islice(summarise_all([top], {}, cache=kept, glances=glances), RUNS))
    taken = time.perf_counter() - began
    if len({row.key for row in rows}) != RUNS or not all(row.done for row in rows):
        raise Unmeasurable(f"{len(rows)} of {RUNS} runs were listed")
    kept.save()
    return taken


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _series(name: str, values: list[float]) -> Series:
    return Series(name=name, unit="s", values=tuple(values))
