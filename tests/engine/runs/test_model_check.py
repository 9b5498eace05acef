"""Models are looked for before a run's first trial: an arm without one starts nothing, the others run."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.events import ArmInfo, Endpoint
from engine.issues import Code, Severity
from engine.models.model_call import ModelFailure
from engine.runs.model_check import out_of_reach, without_unreachable
from engine.runs.resume import remaining
from engine.trial_state import CANCELLED, QUEUED
from tests.engine.agents.model_agent import NAME, register
from tests.engine.runs.runs import RunRig

pytestmark = pytest.mark.anyio

GONE = ModelFailure(code=Code.MODEL_UNREACHABLE, words="h:1: Connection refused", retryable=True)


def arm(name: str, url: str) -> ArmInfo:
    return ArmInfo(name=name, agent=NAME, model="m", protocol="openai-chat", endpoint=Endpoint(base_url=url))


class Net:
    """Reaches everything but what is `down`."""

    def __init__(self, *down: str) -> None:
        self.down = down
        self.tried: list[str] = []

    async def reach(self, address: str) -> ModelFailure | None:
        self.tried.append(address)
        return GONE if address in self.down else None


ARMS = (
    arm("a", "http://h:1/v1"),
    arm("b", "http://h:1/v1"),
    arm("c", "http://h:2/v1"),
    ArmInfo(name="idle", agent="nop"),
)


async def test_each_address_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)
    net = Net("http://h:1/v1")
    found = await out_of_reach(ARMS, environ={}, reach=net.reach)
    assert sorted(net.tried) == ["http://h:1/v1", "http://h:2/v1"]
    assert sorted(found) == ["a", "b"]


async def test_an_arm_out_of_reach_starts_nothing_and_is_named_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch)
    rig = RunRig(tmp_path, ("t", "u"), arms=(ARMS[0], ARMS[3]))
    left = remaining(rig.plan, rig.state)
    now = await without_unreachable(rig.log, rig.card, left, reach=Net("http://h:1/v1").reach)
    assert {planned.arm.name for planned in now.todo} == {"idle"}
    (issue,) = rig.state.run_issues
    assert (issue.severity, issue.code) == (Severity.ERROR, Code.MODEL_UNREACHABLE)
    assert issue.message == (
        "arm a: its model at http://h:1/v1 can't be reached: h:1: Connection refused; 2 trials are not started"
    )
    assert {trial.state for trial in rig.state.trials.values() if trial.arm == "a"} == {CANCELLED}
    assert {trial.state for trial in rig.state.trials.values() if trial.arm == "idle"} == {QUEUED}
    again = remaining(rig.plan, rig.state)  # as a resumed run sees it
    assert {planned.arm.name for planned in again.todo} == {"a", "idle"}


async def test_nothing_is_tried_for_arms_that_have_nothing_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch)
    rig = RunRig(tmp_path, arms=(ARMS[0], ARMS[3]))
    left = remaining(rig.plan, rig.state)
    idle = type(left)(decided=(), again=(), fresh=tuple(one for one in left.fresh if one.arm.name == "idle"))
    net = Net("http://h:1/v1")
    assert await without_unreachable(rig.log, rig.card, idle, reach=net.reach) == idle
    assert net.tried == [] and rig.state.run_issues == []
