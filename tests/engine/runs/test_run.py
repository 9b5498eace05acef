"""A run's own decisions: when it goes on, and when it stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.issues import Code
from engine.runs.start_stop import LEAST, StartStop
from tests.engine.fake_environment import broken
from tests.engine.runs.runs import RunRig
from tests.engine.trial.trials import writes

pytestmark = pytest.mark.anyio


async def test_a_registry_that_is_down_stops_the_run_before_it_costs_every_trial(tmp_path: Path) -> None:
    """Case 5: never a zero, and a resume goes on."""
    rig = RunRig(tmp_path, attempts=3 * LEAST)
    rig.provider.faults["agent: start"] = broken(Code.PULL_FAILED)
    assert await rig.execute() == 3
    states = [trial.state for trial in rig.state.trials.values()]
    assert states.count("unscored") == LEAST and states.count("cancelled") == 2 * LEAST
    assert all(trial.reward is None for trial in rig.state.trials.values())
    (message,) = rig.told()
    assert message.startswith(f"{LEAST} of {LEAST} trials did not get their images: {2 * LEAST} trials")
    rig.provider.faults.clear()
    rig.provider.when("/tests/test.sh", does=writes({"/logs/verifier/reward.txt": "1"}))
    assert await rig.execute() == 0
    assert rig.state.count("passed") == 3 * LEAST


def test_a_few_tasks_without_an_image_stop_nothing() -> None:
    """Case 5."""
    starts = StartStop()
    no_image, other = [broken(Code.PULL_RATE_LIMITED).issue], [broken(Code.BUILD_FAILED).issue]
    for _ in range(LEAST):
        starts.trial_ended(other)
    for _ in range(LEAST):
        starts.trial_ended(no_image)
    assert starts.reached(1) is None
    starts.trial_ended(no_image)
    assert starts.reached(0) is None
    told = starts.reached(3)
    assert told is not None and told.message.endswith("3 trials are not started")


async def test_address_ranges_that_others_hold_stop_the_run_before_it_costs_every_trial(tmp_path: Path) -> None:
    """Case 16: as an earlier run leaves them with `--keep`, which this one has no right to take down."""
    rig = RunRig(tmp_path, attempts=3 * LEAST)
    rig.provider.faults["agent: start"] = broken(Code.ADDRESS_POOL_EXHAUSTED)
    assert await rig.execute() == 3
    states = [trial.state for trial in rig.state.trials.values()]
    assert states.count("unscored") == LEAST and states.count("cancelled") == 2 * LEAST
    (issue,) = rig.state.run_issues
    assert issue.code is Code.ADDRESS_POOL_EXHAUSTED
    assert "trialdeck sweep --include-kept" in issue.evidence[0].text
    assert rig.state.finished is not None and "address ranges" in rig.state.finished.reason
