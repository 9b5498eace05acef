"""Differences of two runs' cards in words: each is named, and what a run doesn't say is never called equal."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine import events as ev
from engine.agents.registry import AGENTS
from engine.analysis.run_differences import CONTROLLED, PRODUCT, WITHOUT_MODEL, between, differences
from engine.issues import Phase
from engine.state import RunState

HOST = ev.HostInfo(name="h1", cpus=8, memory_mb=16000, docker="26.1", compose="2.26")
PLAN = ev.RunPlanned(
    run="r",
    name="r",
    task_set=ev.TaskSetInfo(name="tb", version="1", digest="sha256:aaaa"),
    arms=(),
    tasks=12,
    trials=12,
    engine_version="0.1.0",
    host=HOST,
)
ARM = ev.ArmInfo(name="arm", agent="terminus", agent_version="2", model="sonnet", parameters={"effort": "high"})


def run(arm: ev.ArmInfo = ARM, limit: float = 600.0, cpus: float = 2, tasks: int = 12, **changed: Any) -> RunState:
    state = RunState()
    state.apply(msgspec.structs.replace(PLAN, arms=(arm,), **changed))
    for number in range(tasks):
        state.apply(
            ev.TrialPlanned(
                trial=f"t{number}",
                task=f"t{number:02}",
                arm=arm.name,
                attempt=1,
                position=number,
                cpus=cpus,
                memory_mb=4096,
                limits={Phase.AGENT: limit, Phase.VERIFY: 60.0} if limit else {},
            )
        )
    return state


def test_equal_runs_differ_in_nothing() -> None:
    assert differences(run(), "arm", run(), "arm") == ()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"task_set": ev.TaskSetInfo(name="tb", version="2", digest="sha256:aaaa")}, "task set version: A 1, B 2"),
        ({"task_set": ev.TaskSetInfo(name="tc", version="1", digest="sha256:aaaa")}, "task set: A tb, B tc"),
        ({"attempts": 5}, "attempts of each task: A 1, B 5"),
        ({"concurrency": 8}, "trials at the same time: A 1, B 8"),
        ({"seed": 9}, "seed of the order: A 0, B 9"),
        ({"max_cost_usd": 20.0}, "spend cap: A none, B $20.00"),
        ({"engine_version": "0.2.0"}, "engine version: A 0.1.0, B 0.2.0"),
        ({"host": msgspec.structs.replace(HOST, name="h2")}, "host: A h1, B h2"),
        ({"host": msgspec.structs.replace(HOST, docker="27.0")}, "Docker: A 26.1, B 27.0"),
        ({"host": msgspec.structs.replace(HOST, compose="2.30")}, "Compose: A 2.26, B 2.30"),
        ({"host": msgspec.structs.replace(HOST, cpus=4)}, "CPUs of the host: A 8, B 4"),
    ],
)
def test_each_difference_of_the_plan_is_named(changed: dict[str, Any], said: str) -> None:
    assert differences(run(), "arm", run(**changed), "arm") == (said,)


def test_another_digest_says_that_the_verifier_may_differ() -> None:
    other = run(task_set=ev.TaskSetInfo(name="tb", version="1", digest="sha256:bbbb"))
    (said,) = differences(run(), "arm", other, "arm")
    assert said == "task set digest (instructions, tests and verifiers of the tasks): A aaaa, B bbbb"


def test_a_timeout_factor_is_named_with_its_tasks() -> None:
    longer = run(timeout_factor=1.5, limit=900.0)
    assert differences(run(), "arm", longer, "arm") == ("B ran with a timeout factor of 1.5 on 12 tasks",)
    assert differences(longer, "arm", run(), "arm") == ("A ran with a timeout factor of 1.5 on 12 tasks",)


def test_limits_and_resources_of_tasks_are_counted_and_shown() -> None:
    (limit,) = differences(run(), "arm", run(limit=700.0), "arm")
    assert limit.startswith("time limit of agent on 12 tasks: t00 (A 600 s, B 700 s)") and "and 9 more" in limit
    (cpus,) = differences(run(), "arm", run(cpus=4), "arm")
    assert cpus.startswith("CPUs of 12 tasks: t00 (A 2, B 4)")


def test_what_a_foreign_run_does_not_say_is_unknown_and_never_equal() -> None:
    foreign = run(
        limit=0, cpus=0, task_set=ev.TaskSetInfo(name="tb"), engine_version="", host=ev.HostInfo(), source="harbor"
    )
    found = between((run(), "arm"), (foreign, "arm"))
    assert found.cards == ("source: A trialdeck, B harbor",)
    (unknown,) = found.unknown
    assert unknown.startswith("not known of B: ")
    for what in ("task set version", "task set digest", "verifier", "host", "Docker", "time limits", "CPUs of tasks"):
        assert what in unknown
    both = between((foreign, "arm"), (run(limit=0, task_set=ev.TaskSetInfo(name="tb")), "arm"))
    assert any(text.startswith("not known of either side: ") and "time limits" in text for text in both.unknown)


def test_the_question_is_controlled_where_only_the_model_differs_and_product_otherwise() -> None:
    model = msgspec.structs.replace(ARM, model="sol")
    assert between((run(), "arm"), (run(model), "arm")).question == CONTROLLED
    agent = msgspec.structs.replace(model, agent_version="3")
    found = between((run(), "arm"), (run(agent), "arm"))
    assert found.question == PRODUCT and "agent version: A 2, B 3" in found.arms
    effort = msgspec.structs.replace(ARM, parameters={})
    found = between((run(), "arm"), (run(effort), "arm"))
    assert found.arms == ("parameter effort: A high, B not set",) and found.question == PRODUCT
    assert between((run(), "arm"), (run(), "arm")).question == ""


def test_an_agent_that_calls_no_model_has_none_and_is_not_called_unknown() -> None:
    oracle = msgspec.structs.replace(ARM, agent="oracle", model="")
    found = between((run(oracle), "arm"), (run(), "arm"))
    assert "model: A none, B sonnet" in found.arms and not found.unknown
    silent = between((run(), "arm"), (run(msgspec.structs.replace(ARM, model="")), "arm"))
    assert "not known of B: model" in silent.unknown
    replay = msgspec.structs.replace(oracle, agent="replay")
    assert between((run(oracle), "arm"), (run(replay), "arm")).arms == ("agent: A oracle, B replay",)


def test_of_our_agents_those_that_call_no_model_are_known() -> None:
    modelless = {name for name, entry in AGENTS.items() if not entry.traits.wires}
    assert modelless - {"command"} == WITHOUT_MODEL  # a command may call whatever it likes


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"effort": "max"}, "effort: A not set, B max"),
        ({"provider": "bedrock"}, "provider: A not set, B bedrock"),
        ({"tools": ("bash", "edit")}, "tools: A not set, B bash, edit"),
        ({"mcp": ("search",)}, "MCP servers: A not set, B search"),
        ({"skills": ("pdf",)}, "skills: A not set, B pdf"),
        ({"prompt_digest": "sha256:0123456789abcdef"}, "prompt: A not set, B 0123456789ab"),
        ({"protocol": "anthropic"}, "protocol: A not set, B anthropic"),
        ({"capsules": {"node24-v1": "sha256:0123"}}, "carried in: A not set, B node24-v1 0123"),
        ({"temperature": 0.0}, "temperature: A not set, B 0"),
        ({"context_tokens": 1_000_000}, "context window: A not set, B 1000000"),
        ({"max_output_tokens": 4096}, "longest answer: A not set, B 4096"),
    ],
)
def test_all_that_a_card_says_of_an_arm_is_compared(changed: dict[str, Any], said: str) -> None:
    other = msgspec.structs.replace(ARM, model="sol", **changed)
    found = between((run(), "arm"), (run(other), "arm"))
    assert said in found.arms
    assert found.question == PRODUCT  # a model with another effort is not the model alone


def test_where_a_model_is_reached_is_no_difference() -> None:
    moved = msgspec.structs.replace(ARM, endpoint=ev.Endpoint(base_url="http://other.example"))
    assert between((run(), "arm"), (run(moved), "arm")).arms == ()


def test_every_field_of_an_arm_survives_the_cleaning_of_a_plan() -> None:
    full = ev.ArmInfo(
        name="n",
        agent="a",
        agent_version="1",
        model="m",
        parameters={"p": "v"},
        provider="x",
        effort="e",
        tools=("t",),
        mcp=("s",),
        skills=("k",),
        prompt_digest="d",
        protocol="openai_chat",
        temperature=0.5,
        context_tokens=1,
        max_output_tokens=2,
        endpoint=ev.Endpoint(base_url="http://one.example"),
        capsules={"node24-v1": "sha256:0123"},
    )
    assert all(getattr(full, field) for field in full.__struct_fields__)  # a new field has to be looked at here
    assert run(full).arms["n"].info == full


def test_a_seed_and_a_cap_that_another_system_does_not_tell_are_unknown() -> None:
    found = between((run(seed=4), "arm"), (run(source="harbor"), "arm"))
    assert found.cards == ("source: A trialdeck, B harbor",)
    assert any(text.startswith("not known of B:") and "seed of the order" in text for text in found.unknown)
