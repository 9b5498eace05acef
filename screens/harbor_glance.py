"""What one file of a finished Harbor job tells a list, long before all of its trials are read."""

from __future__ import annotations

from engine.readers import json_values as values
from engine.readers.foreign_times import in_utc, seconds_between
from engine.readers.json_file import read_json
from engine.readers.open_run import OpenedRun
from engine.readers.reader import Liveness
from engine.text import clean_line
from screens.run_summary import ArmSummary, RunSummary

_MOST_BYTES = 4 << 20


def glance_at_job(run: OpenedRun) -> RunSummary | None:
    """None for what is no finished Harbor job. Issues are not counted: they are in the trials' files and logs."""
    if run.kind != "harbor":
        return None
    result = read_json(run.folder, run.folder / "result.json", _MOST_BYTES)
    stats = values.within(result, "stats")
    finished_at = in_utc(values.within(result, "finished_at"))
    started_at = in_utc(values.within(result, "started_at"), [finished_at] if finished_at else [])
    if finished_at is None or not isinstance(stats, dict):
        return None
    done = values.count(values.within(stats, "n_completed_trials")) or 0
    total = values.count(values.within(result, "n_total_trials")) or done
    evals = [(name, found) for name, found in values.mapping(stats.get("evals")).items() if isinstance(found, dict)]
    whole = len(evals) == 1
    arms = tuple(
        ArmSummary(
            name=clean_line(" ".join(reversed(name.split("__")[:-1])) or name),
            passed=_passed(found),
            finished=done if whole else (values.count(found.get("n_trials")) or 0) + _unscored(found),
            assigned=total if whole else total // len(evals),
        )
        for name, found in evals
    )
    return RunSummary(
        folder=run.folder,
        kind=run.kind,
        name=run.folder.name,
        task_set=clean_line(evals[0][0].split("__")[-1]) if evals else "",
        arms=arms,
        liveness=Liveness.FINISHED,
        done=done,
        planned=total,
        issues=None,
        started_at=started_at,
        last_event_at=finished_at,
        seconds=seconds_between(started_at, finished_at),
        exit_code=None,
        stamp=(),
    )


def _passed(found: dict[str, object]) -> int:
    rewards = values.mapping(values.within(found, "reward_stats", "reward"))
    return sum(len(trials) for said, trials in rewards.items() if _is_one(said) and isinstance(trials, list))


def _is_one(said: str) -> bool:
    try:
        return float(said) == 1
    except ValueError:
        return False


def _unscored(found: dict[str, object]) -> int:
    """Trials with an exception and without a reward."""
    rewards = values.mapping(values.within(found, "reward_stats", "reward")).values()
    scored = {name for trials in rewards if isinstance(trials, list) for name in trials if isinstance(name, str)}
    failed = values.mapping(found.get("exception_stats")).values()
    named = {name for trials in failed if isinstance(trials, list) for name in trials if isinstance(name, str)}
    return len(named - scored)
