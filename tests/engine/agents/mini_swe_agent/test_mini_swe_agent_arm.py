"""What an arm may say of mini-swe-agent, what is refused, and how its program is configured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.agents.agent import AgentConfigInvalid
from engine.agents.arms import parse_arm
from engine.agents.mini_swe_agent.arm import configured
from engine.agents.mini_swe_agent.config import config_json
from engine.agents.registry import make_agent, traits_of
from engine.models.settings import ModelSettings, Secret, Wire

KEY = "sk-marked-key-that-nobody-may-see"
ADDRESS = "http://127.0.0.1:4321"


def config(wire: Wire, arm: str = "", **model: Any) -> dict[str, Any]:
    settings = ModelSettings(
        name="some/model", wire=wire, base_url="https://model.example/v1", key=Secret(KEY), **model
    )
    text = config_json(configured(parse_arm(f"mini_swe_agent:model=m{arm}")), settings, ADDRESS).decode()
    assert KEY not in text and "model.example" not in text
    found: dict[str, Any] = json.loads(text)
    return found


def test_it_is_carried_in_with_a_python_of_its_own() -> None:
    traits = traits_of(parse_arm("mini_swe_agent:model=m"))
    assert traits.capsules == ("mini-swe-agent-2.4.6",) and not traits.installs_over_network
    assert traits.needs_gateway and set(traits.wires) == set(Wire) and not traits.mcp and not traits.takes_skills


def test_a_version_is_said_by_itself_or_by_its_capsule() -> None:
    for parameters in ("version=2.4.5", "setup_capsule_tag=mini-swe-agent-2.4.5"):
        arm = parse_arm(f"mini_swe_agent:model=m,{parameters}")
        assert traits_of(arm).capsules == ("mini-swe-agent-2.4.5",) and make_agent(arm).version == "2.4.5"


def test_pip_installs_over_the_network() -> None:
    traits = traits_of(parse_arm("mini_swe_agent:model=m,install=pip"))
    assert traits.installs_over_network and traits.capsules == ()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("install=npm", ("install", "capsule", "pip")),
        ("version=1.17.5", ("version", "2.0.0")),
        ("version=2.4", ("version",)),
        ("setup_capsule_tag=python-v1", ("setup_capsule_tag", "mini-swe-agent-VERSION")),
        ("setup_capsule_tag=mini-swe-agent-2.4.6,install=pip", ("setup_capsule_tag", "install=pip")),
        ("setup_capsule_tag=mini-swe-agent-2.4.6,version=2.4.5", ("setup_capsule_tag", "version")),
        ("step_limit=0", ("step_limit", "above 0")),
        ("cost_limit=nan", ("cost_limit", "USD")),
        ("cost_limit=-1", ("cost_limit", "USD")),
        ("command_timeout_sec=1.5", ("command_timeout_sec",)),
    ],
)
def test_what_cannot_work_is_refused_with_a_way_out(parameters: str, words: tuple[str, ...]) -> None:
    with pytest.raises(AgentConfigInvalid) as caught:
        parse_arm(f"mini_swe_agent:model=m,{parameters}")
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("wire", "name", "base", "kind"),
    [
        (Wire.OPENAI_CHAT, "openai/some/model", f"{ADDRESS}/v1", "litellm"),
        (Wire.OPENAI_RESPONSES, "openai/some/model", f"{ADDRESS}/v1", "litellm_response"),
        (Wire.ANTHROPIC, "anthropic/some/model", ADDRESS, "litellm"),
    ],
)
def test_the_model_is_asked_at_the_forwarder_s_address(wire: Wire, name: str, base: str, kind: str) -> None:
    model = config(wire)["model"]
    assert (model["model_name"], model["model_class"]) == (name, kind)
    assert model["model_kwargs"] == {"api_base": base, "api_key": "no-key-needed", "drop_params": False}


def test_case_68_a_model_without_a_price_is_worked_with_all_the_same() -> None:
    assert config(Wire.OPENAI_CHAT)["model"]["cost_tracking"] == "ignore_errors"


def test_limits_are_as_the_arm_says_and_there_are_none_else() -> None:
    assert config(Wire.OPENAI_CHAT)["agent"] == {"step_limit": 0, "cost_limit": 0.0}
    assert "environment" not in config(Wire.OPENAI_CHAT)
    found = config(Wire.OPENAI_CHAT, ",step_limit=30,cost_limit=1.5,command_timeout_sec=600")
    assert found["agent"] == {"step_limit": 30, "cost_limit": 1.5} and found["environment"] == {"timeout": 600}


def asked_for(wire: Wire, **model: Any) -> dict[str, Any]:
    kwargs: dict[str, Any] = config(wire, **model)["model"]["model_kwargs"]
    return {key: value for key, value in kwargs.items() if key not in ("api_base", "api_key", "drop_params")}


def test_what_the_arm_asks_of_its_model_is_said_in_its_protocol() -> None:
    given: dict[str, Any] = {"effort": "high", "temperature": 0.2, "max_output_tokens": 500}
    assert asked_for(Wire.OPENAI_CHAT, **given) == {
        "extra_body": {"temperature": 0.2, "reasoning_effort": "high"},
        "max_tokens": 500,
    }
    assert asked_for(Wire.OPENAI_RESPONSES, **given) == {
        "extra_body": {"temperature": 0.2, "max_output_tokens": 500, "reasoning": {"effort": "high"}}
    }
    assert asked_for(Wire.ANTHROPIC, **given) == {
        "temperature": 0.2,
        "max_tokens": 500,
        "output_config": {"effort": "high"},
    }


def test_an_effort_in_tokens_is_a_budget_to_think_with() -> None:
    assert asked_for(Wire.ANTHROPIC, effort="4000")["thinking"] == {"type": "enabled", "budget_tokens": 4000}
    assert asked_for(Wire.ANTHROPIC, effort="none")["thinking"] == {"type": "disabled"}
