"""A Docker engine that goes away in the middle of a run, and comes back or doesn't."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.issues import Code, Issue, Phase, Severity
from engine.runs import outage as outage_module
from engine.runs.outage import Outage
from tests.engine.fake_environment import broken
from tests.engine.runs.runs import REWARD, RunRig
from tests.engine.trial.trials import writes

pytestmark = pytest.mark.anyio

GONE = "the connection to the daemon broke: tcp://h:1 (from DOCKER_HOST): connection refused, nobody listens there"
FIVE = tuple("abcde")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage_module, "PAUSE_SEC", 0.0)


def away(rig: RunRig, times: int) -> None:
    rig.provider.faults["agent: start"] = broken(Code.DAEMON_UNREACHABLE)
    rig.provider.away += [GONE] * times


async def test_while_the_engine_is_away_nothing_is_started_and_then_the_run_goes_on(tmp_path: Path) -> None:
    """A daemon that is started anew would otherwise cost every trial that is left."""
    rig = RunRig(tmp_path, FIVE, concurrency=1)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    away(rig, 1_000)
    async with rig.going():
        await rig.until(rig.told)
        assert rig.told() == [f"no new trials: {GONE}"]
        assert rig.provider.calls.count("agent: start") == 1
        rig.provider.faults.clear()
        rig.provider.away.clear()
    assert rig.code == 3
    assert (rig.state.count("passed"), rig.state.count("unscored")) == (4, 1)
    begun, over = rig.state.run_issues
    assert begun.evidence[0].text.startswith("the run goes on by itself once it answers, for 30 min")
    assert over.message.startswith("the Docker daemon answers again after ")


async def test_an_engine_that_stays_away_leaves_the_rest_for_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outage_module, "PATIENCE_SEC", -1.0)
    rig = RunRig(tmp_path, FIVE, concurrency=1)
    away(rig, 1)
    assert await rig.execute() == 3
    assert (rig.state.count("unscored"), rig.state.count("cancelled")) == (1, 4)
    assert rig.told()[-1] == "the Docker daemon did not come back: 4 trials are not started"
    last = next(trial for trial in rig.state.trials.values() if trial.state == "cancelled")
    assert [issue.message for issue in last.issues] == [f"not started: {GONE}"]
    rig.provider.faults.clear()
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 0
    assert rig.state.count("passed") == 5


async def test_a_connection_that_broke_for_a_moment_stops_nothing(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, FIVE, concurrency=1)
    away(rig, 0)
    assert await rig.execute() == 3
    assert rig.told() == []
    assert rig.state.count("unscored") == 5
    assert rig.provider.calls.count("provider: answers") >= 1


async def test_a_run_can_be_cancelled_while_the_engine_is_away(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, FIVE, concurrency=1)
    away(rig, 1_000)
    async with rig.going() as run:
        await rig.until(rig.told)
        assert run.handle({"command": "cancel"})["ok"]
    assert rig.code == 130


def test_what_was_no_fault_of_the_engine_is_none() -> None:
    async def answers() -> str:
        raise AssertionError("nobody asks")

    outage = Outage(answers, lambda issue: None, lambda: None)
    outage.raised(Issue(Severity.WARNING, Phase.CLEANUP, Code.DAEMON_UNREACHABLE, "x"))
    outage.raised(Issue(Severity.FATAL, Phase.AGENT, Code.DISK_FULL, "x"))
    assert outage.why == ""
