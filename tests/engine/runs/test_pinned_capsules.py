"""Capsules are pinned by their digests when a run begins, and are the same when it goes on."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine.agents.capsules.capsule import Capsule, CapsuleUnusable
from engine.events import ArmInfo, Endpoint, HostInfo
from engine.runs import agent_refusals, pinned_capsules
from engine.runs.agent_refusals import fit_of
from engine.runs.pinned_capsules import pinned, shown
from tests.engine.agents.model_agent import NAME, register

HOST = HostInfo(name="h")
ARM = ArmInfo(name="a", agent=NAME, model="m", endpoint=Endpoint(base_url="http://h/v1"))
IDLE = ArmInfo(name="idle", agent="nop")


class Store:
    """Capsules by their tags; `broken` ones can't be built."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *broken: str) -> None:
        self.there: dict[str, Capsule] = {}
        self.broken = broken
        monkeypatch.setattr(pinned_capsules, "find_or_build", self.find_or_build)
        monkeypatch.setattr(pinned_capsules, "find", self.there.get)
        monkeypatch.setattr(agent_refusals, "find", self.there.get)

    def find_or_build(self, tag: str, say: object) -> Capsule:
        if tag in self.broken:
            raise CapsuleUnusable(f"capsule {tag} can't be built: no network")
        return self.there.setdefault(tag, Capsule(tag=tag, digest=f"digest of {tag}", folder=Path("/c") / tag))


def test_what_carries_an_agent_in_is_built_and_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, capsules=("cli-1", "node24-v1"), needs_gateway=True)
    Store(monkeypatch)
    fits = fit_of([ARM, IDLE], {}, HOST)
    assert [arm.capsules for arm in shown([ARM, IDLE], fits)] == [{"cli-1": "", "node24-v1": ""}, {}]
    arms, fits = pinned([ARM, IDLE], fits, lambda line: None, only={"a", "idle"})
    assert [arm.capsules for arm in arms] == [{"cli-1": "digest of cli-1", "node24-v1": "digest of node24-v1"}, {}]
    assert not any(fit.problems for fit in fits.values())
    assert shown([ARM], fits)[0].capsules == arms[0].capsules
    assert not any(fit.problems for fit in fit_of(arms, {}, HOST).values())


def test_an_arm_with_nothing_to_run_builds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, capsules=("cli-1",))
    store = Store(monkeypatch)
    arms, _ = pinned([ARM], fit_of([ARM], {}, HOST), lambda line: None, only=())
    assert arms == [ARM] and store.there == {}


def test_an_arm_whose_program_can_t_be_carried_in_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    Store(monkeypatch, "cli-1")
    register(monkeypatch, capsules=("cli-1",), needs_gateway=True)
    _, fits = pinned([ARM], fit_of([ARM], {}, HOST), said.append, only={"a"})
    assert [issue.message for issue in fits["a"].problems] == ["arm a: capsule cli-1 can't be built: no network"]
    register(monkeypatch, capsules=("cli-1",))  # on the host: an image may have what it needs
    arms, fits = pinned([ARM], fit_of([ARM], {}, HOST), said.append, only={"a"})
    assert fits["a"].problems == () and arms == [ARM]
    assert said == ["arm a: capsule cli-1 can't be built: no network"] * 2


@pytest.mark.parametrize(("there", "words"), [(None, "is not here"), ("other", "is another one")])
def test_a_run_goes_on_with_the_capsules_it_began_with(
    monkeypatch: pytest.MonkeyPatch, there: str | None, words: str
) -> None:
    """Case 58: never with other bytes under the same name."""
    register(monkeypatch, capsules=("cli-1",))
    store = Store(monkeypatch)
    if there is not None:
        store.there["cli-1"] = Capsule(tag="cli-1", digest=there, folder=Path("/c"))
    arm = msgspec.structs.replace(ARM, capsules={"cli-1": "digest of cli-1"})
    (issue,) = fit_of([arm], {}, HOST)["a"].problems
    assert "cli-1" in issue.message and words in issue.message
