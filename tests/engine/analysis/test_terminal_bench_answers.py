"""Two real runs of 80 tasks, five attempts each: the known answers of `measurement.md`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path

import msgspec
import pytest

from engine.analysis.compare import Comparison, compare
from engine.analysis.outcomes import TrialOutcome
from tests.shared_data import shared_data


def numbered_by_start(trials: Iterable[tuple[datetime, TrialOutcome]]) -> list[TrialOutcome]:
    """Several runs of one submission as one arm: attempts have no number there, so the earlier start is first."""
    number: Counter[str] = Counter()
    numbered = []
    for _, trial in sorted(trials, key=lambda pair: (pair[1].task, pair[0])):
        number[trial.task] += 1
        numbered.append(msgspec.structs.replace(trial, attempt=number[trial.task]))
    return numbered


def read_arm(folder: Path) -> list[TrialOutcome]:
    found = []
    for path in folder.glob("*/*/*/results.json"):
        result = json.loads(path.read_text())
        passed = result["is_resolved"]
        outcome = TrialOutcome(
            task=result["task_id"],
            arm=folder.name,
            attempt=0,
            reward=None if passed is None else float(passed),
            passed=passed,
            completed=passed is not None,
            scored=passed is not None,
            excluded=False,
            cost_usd=None,
            seconds=None,
        )
        found.append((datetime.fromisoformat(result["trial_started_at"]), outcome))
    return numbered_by_start(found)


@cache
def both(attempts: str) -> Comparison:
    data = shared_data("terminal-bench-core-0.1.1")
    gpt, claude = (read_arm(data / name) for name in ("20250924_droid_gpt-5", "20250923_droid_claude-4-sonnet"))
    return compare(gpt, claude, attempts="first" if attempts == "first" else "all")


def test_five_folders_of_80_are_one_arm_with_five_attempts() -> None:
    for each in both("all").arms:
        assert (each.assigned, each.attempts_per_task) == (400, 5)
    assert both("all").tasks == 80


def test_rates_and_their_difference() -> None:
    found = both("all")
    assert [each.rate for each in found.arms] == [0.525, 0.505]
    assert found.difference.estimate == pytest.approx(0.020)


def test_the_standard_error_is_clustered_by_task() -> None:
    assert both("all").difference.standard_error == pytest.approx(0.03272, abs=5e-6)


def test_the_cluster_bootstrap_interval() -> None:
    found = both("all").difference
    assert found.low == pytest.approx(-0.040, abs=0.01)
    assert found.high == pytest.approx(0.085, abs=0.01)
    assert found.method == "cluster bootstrap over tasks"


def test_this_design_detects_about_nine_points() -> None:
    assert both("all").power.detectable == pytest.approx(0.09, abs=0.005)


@pytest.mark.parametrize("attempts", ["all", "first"])
def test_first_attempts_are_the_earlier_starts(attempts: str) -> None:
    table = both(attempts).table
    assert (table.both, table.a_only, table.b_only, table.neither) == (34, 5, 9, 32)
    assert both(attempts).mcnemar.exact == pytest.approx(0.4240, abs=5e-5)


def test_first_attempts_only_turn_the_difference_round() -> None:
    assert both("first").difference.estimate == -0.05
    assert both("first").arms[0].assigned == 80


def test_trials_without_a_verdict_stay_assigned() -> None:
    gpt, claude = both("all").arms
    assert (gpt.resolved, gpt.scored, claude.resolved, claude.scored) == (210, 384, 202, 389)
    assert gpt.bounds == (0.525, 0.565)
    assert gpt.cost_per_resolved is None
