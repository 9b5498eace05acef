"""A run's own decisions: when it goes on, and when it stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.issues import Code
from engine.runs.pull_stop import LEAST, PullStop
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
    pulls = PullStop()
    no_image, other = [broken(Code.PULL_RATE_LIMITED).issue], [broken(Code.BUILD_FAILED).issue]
    for _ in range(LEAST):
        pulls.trial_ended(other)
    for _ in range(LEAST):
        pulls.trial_ended(no_image)
    assert (pulls.failed, pulls.reached(1)) == (LEAST, None)
    pulls.trial_ended(no_image)
    assert pulls.reached(0) is None
    told = pulls.reached(3)
    assert told is not None and told.message.endswith("3 trials are not started")
