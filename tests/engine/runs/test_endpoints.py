"""Where a run's models are: changed between its sessions, recorded, and no part of its identity (case 79)."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from engine.events import ArmInfo, Endpoint, TaskSetInfo
from engine.runs.card import CardInvalid, RunCard
from engine.runs.endpoints import with_endpoints
from tests.engine.agents.model_agent import NAME, register


def card(*arms: ArmInfo) -> RunCard:
    return RunCard(
        run="r",
        name="r",
        created=datetime(2026, 1, 1, tzinfo=UTC),
        engine_version="0",
        arms=arms,
        task_set=TaskSetInfo(name="t"),
        tasks=(),
    )


def arm(name: str, url: str = "http://127.0.0.1:31001/v1", **more: object) -> ArmInfo:
    return ArmInfo(name=name, agent=NAME, model="m", endpoint=Endpoint(base_url=url, **more))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def tester(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


def test_another_port_is_the_same_card_and_stands_among_the_amendments() -> None:
    before = card(arm("a"), arm("b"), ArmInfo(name="idle", agent="nop"))
    after = with_endpoints(before, {"base_url": ["http://127.0.0.1:40877/v1"]}, by="ann")
    assert after.digest == before.digest
    assert [one.endpoint.base_url for one in after.arms] == ["http://127.0.0.1:40877/v1"] * 2 + [""]
    assert [(one.key, one.by, one.before, one.after) for one in after.amendments] == [
        ("arms.a.base_url", "ann", "http://127.0.0.1:31001/v1", "http://127.0.0.1:40877/v1"),
        ("arms.b.base_url", "ann", "http://127.0.0.1:31001/v1", "http://127.0.0.1:40877/v1"),
    ]
    assert with_endpoints(after, {"base_url": ["http://127.0.0.1:40877/v1"]}) is after


def test_one_arm_alone_and_a_key_that_comes_from_elsewhere_now() -> None:
    before = card(arm("a", key_env="OLD"), arm("b"))
    after = with_endpoints(before, {"base_url": ["a=http://x/v1"], "key_file": ["a=/k"], "key_env": ["b=NEW"]})
    assert after.arms[0].endpoint == Endpoint(base_url="http://x/v1", key_file="/k")
    assert after.arms[1].endpoint == Endpoint(base_url="http://127.0.0.1:31001/v1", key_env="NEW")


def test_another_model_protocol_effort_temperature_version_or_capsule_is_another_card() -> None:
    before = card(arm("a"))
    for changed in (
        {"model": "other"},
        {"protocol": "anthropic"},
        {"effort": "high"},
        {"temperature": 0.5},
        {"context_tokens": 1000},
        {"max_output_tokens": 10},
        {"agent_version": "4"},
        {"capsules": {"node24-v1": "0" * 64}},
    ):
        assert card(msgspec.structs.replace(before.arms[0], **changed)).digest != before.digest, changed
    moved = msgspec.structs.replace(before.arms[0], endpoint=Endpoint(base_url="http://x", headers={"A": "b"}))
    assert card(moved).digest == before.digest


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"base_url": ["c=http://x"]}, "there is no arm c"),
        ({"base_url": ["ftp://x"]}, "base_url must be http"),
        ({"key_env": ["not a name"]}, "takes the name of a variable"),
    ],
)
def test_what_can_t_be_is_refused(wanted: dict[str, list[str]], words: str) -> None:
    with pytest.raises(CardInvalid, match=words):
        with_endpoints(card(arm("a")), wanted)


def test_models_in_different_places_are_not_moved_to_one() -> None:
    with pytest.raises(CardInvalid, match="in different places"):
        with_endpoints(card(arm("a"), arm("b", "http://elsewhere/v1")), {"base_url": ["http://x"]})
    with pytest.raises(CardInvalid, match="no arm calls a model"):
        with_endpoints(card(ArmInfo(name="idle", agent="nop")), {"base_url": ["http://x"]})
