"""From an arm's words to what Harbor's agents are given, and what is refused before anything starts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

pytest.importorskip("harbor", reason="run by test_with_harbor, where Harbor is")

from engine.agents.agent import AgentConfigInvalid
from engine.agents.arms import name_arms, parse_arm
from engine.agents.harbor.arm import HiddenEnv, configured
from engine.agents.harbor.listing import harbor_agents
from engine.agents.registry import traits_of
from engine.events import ArmInfo, HostInfo
from engine.models.settings import Wire
from engine.runs.agent_refusals import fit_of
from tests.engine.agents.harbor.rig import arm, own

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "MY_KEY", "TEAM_TOKEN")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def refusal(which: ArmInfo) -> str:
    with pytest.raises(AgentConfigInvalid) as caught:
        traits_of(which)
    return str(caught.value)


def test_every_agent_of_harbor_is_listed_with_what_it_takes() -> None:
    listed = {one.name: one for one in harbor_agents()}
    assert len(listed) >= 47 and not [one.problem for one in listed.values() if one.problem]
    claude, terminus, aider = listed["claude-code"], listed["terminus-2"], listed["aider"]
    assert claude.in_main and claude.mcp and claude.mcp_headers and claude.skills and claude.live
    assert claude.wires == (Wire.ANTHROPIC,) and not listed["oracle"].calls_model
    assert not terminus.in_main and terminus.live and set(terminus.wires) == set(Wire)
    assert not aider.mcp and not aider.skills and not aider.atif and not aider.live
    assert "max_turns" in {option.name for option in terminus.options}


def test_what_one_agent_can_take_is_known_by_harbors_word() -> None:
    aider = traits_of(arm(agent="aider", model="openai/x", base_url="http://127.0.0.1:1/v1"))
    assert aider.mcp == frozenset() and not aider.takes_skills and aider.installs_over_network
    assert not aider.calls_model, "it reaches its model by itself"
    nop = traits_of(arm(agent="nop"))
    assert nop.costs_nothing and not nop.installs_over_network and nop.takes_skills


def test_arms_are_called_after_harbors_agents() -> None:
    arms = name_arms(["harbor:agent=nop", "harbor:agent=oracle", "harbor:agent=nop"], [])
    assert [one.name for one in arms] == ["harbor-nop", "harbor-oracle", "harbor-nop-2"]


@pytest.mark.parametrize(
    ("which", "words"),
    [
        (ArmInfo(name="a", agent="harbor"), "give one of agent=NAME"),
        (arm(agent="nop", import_path="x:Y"), "give one of agent=NAME"),
        (arm(agent="claude-cod"), "did you mean claude-code?"),
        (arm(agent="terminus-1"), 'no agent "terminus-1"'),
        (arm(import_path="no.such.module:X"), "import_path=no.such.module:X"),
        (arm(import_path="json:Nothing"), "import_path=json:Nothing"),
        (arm(agent="terminus-2", model="openai/x", kwargs__turns="3"), "has no such option; it has"),
        (arm(agent="terminus-2", model="openai/x", kwargs__base_url="http://x"), "comes from base_url="),
        (arm(agent="nop", kwargs__speed="3"), "kwargs.speed"),
        (arm(agent="terminus-2", kwargs__max_turns="many", model="openai/x", base_url="http://x/v1"), "max_turns"),
        (arm(agent="nop", base_url="http://x/v1"), "nop calls no model"),
        (arm(agent="aider", model="openai/x", temperature="0.5"), "aider takes no temperature"),
        (arm(agent="claude-code", model="anthropic/x", headers="X-Team: a"), "claude-code takes no headers"),
        (arm(agent="hermes", model="anthropic/x", effort="high"), "hermes takes no effort"),
        (arm(agent="claude-code", protocol="openai-chat", model="x", base_url="http://x"), "Unsupported API format"),
        (arm(agent="cursor-cli", model="x", base_url="http://x"), "does not support inference connection overrides"),
        (arm(agent="terminus-2", model="openai/x", key_env="MY_KEY"), "MY_KEY"),
        (arm(agent="terminus-2", model="openai/x"), "OPENAI_API_KEY"),
        (arm(agent="codex", model="openai/x", gateway="maybe"), "expected yes or no"),
        (arm(agent="terminus-2", model="openai/x", gateway="yes"), "terminus-2 works from this host"),
        (arm(agent="gemini-cli", model="gemini/x", gateway="yes"), "in a protocol that the gateway doesn't speak"),
        (arm(agent="nop", env__TEAM_TOKEN="abc"), "give env.TEAM_TOKEN=${TEAM_TOKEN}"),
        (arm(agent="nop", env__TEAM_TOKEN="${TEAM_TOKEN}"), "the variable TEAM_TOKEN is not set"),
        (
            arm(agent="terminus-2", model="openai/x", kwargs__llm_kwargs='{"api_key": "sk-1"}'),
            "kwargs.llm_kwargs.api_key looks like a secret",
        ),
    ],
)
def test_what_cannot_work_is_refused_and_named(which: ArmInfo, words: str) -> None:
    said = refusal(which)
    assert words in said and said.startswith("arm a: ") and "--" not in said and "\n" not in said


@pytest.mark.parametrize(
    "text",
    [
        "harbor:agent=terminus-2,model=openai/x",
        "harbor:agent=terminus-2,model=openai/x,key_env=MY_KEY",
        "harbor:agent=terminus-2,model=openai/x,base_url=http://127.0.0.1:9/v1,key_env=MY_KEY",
        "harbor:agent=terminus-2,model=openai/x,key_file=/nowhere/key",
        "harbor:agent=nop,env.TEAM_TOKEN=${TEAM_TOKEN}",
    ],
)
def test_a_key_that_this_host_lacks_refuses_that_arm_alone(text: str) -> None:
    (arm, other) = name_arms([text, "nop"], [])
    assert arm.agent_version == traits_of(parse_arm("harbor:agent=nop")).version
    fits = fit_of([arm, other], {}, HostInfo(name="h"))
    assert [len(fits[one].problems) for one in (arm.name, other.name)] == [1, 0]


def test_a_mistake_in_an_arm_stops_the_command() -> None:
    for text, words in (("harbor:agent=claude-cod", "did you mean claude-code"), ("harbor:agent=nop,gateway=m", "yes")):
        with pytest.raises(AgentConfigInvalid, match=words):
            parse_arm(text)


def test_a_model_is_reached_as_the_arm_says_and_nothing_is_left_in_the_process(tmp_path: Path) -> None:
    before = dict(os.environ)
    key = tmp_path / "key"
    key.write_text("sk-from-a-file\n")
    key.chmod(0o600)
    which = arm(
        agent="terminus-2",
        model="openai/x",
        base_url="http://127.0.0.1:9/v1",
        key_file=str(key),
        temperature="0.5",
        effort="high",
        context_tokens="9000",
        max_output_tokens="500",
        headers="X-Team: a",
        kwargs__max_turns="7",
    )
    traits_of(which)
    made = configured(which).agent(tmp_path)
    assert made.model_connection.api_key == "sk-from-a-file"
    assert made.model_connection.execution_base_url == "http://127.0.0.1:9/v1"
    options = made.options
    assert (options.max_turns, options.temperature, options.reasoning_effort) == (7, 0.5, "high")
    assert options.model_info == {"max_input_tokens": 9000}
    assert options.llm_call_kwargs == {"max_tokens": 500, "extra_headers": {"X-Team": "a"}}
    assert dict(os.environ) == before
    assert "sk-from-a-file" not in json.dumps(dict(made._extra_env)) and made.extra_env == {}


def test_concurrent_arms_have_keys_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-of-mine")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-all")
    one = configured(arm(agent="terminus-2", model="openai/x", key_env="MY_KEY")).agent(tmp_path)
    other = configured(arm(agent="terminus-2", model="openai/x")).agent(tmp_path)
    assert (one.model_connection.api_key, other.model_connection.api_key) == ("sk-of-mine", "sk-of-all")


def test_a_server_of_ones_own_needs_no_key(tmp_path: Path) -> None:
    which = arm(agent="terminus-2", model="openai/x", base_url="http://127.0.0.1:9/v1")
    traits_of(which)
    assert configured(which).agent(tmp_path).model_connection.api_key == "no-key-needed"


def test_protocols_have_harbors_names(tmp_path: Path) -> None:
    which = arm(agent="terminus-2", model="x", protocol="openai-responses", base_url="http://127.0.0.1:9/v1")
    traits_of(which)
    assert configured(which).agent(tmp_path).model_connection.model_api_format == "openai_responses"


def test_options_of_own_agents_arrive_as_they_were_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAVOUR", "sweet")
    program = configured(
        own("Program", kwargs__version="1.10", kwargs__flavour="${FLAVOUR}", kwargs__limits='{"turns": 3}')
    ).agent(tmp_path)
    assert (program.options.version, program.options.flavour) == ("1.10", "sweet")
    assert program.options.limits == {"turns": 3}
    host = configured(own("HostAgent", kwargs__commands='["a"]')).agent(tmp_path)
    assert host.commands == ["a"]


def test_commas_in_options_are_written_with_a_backslash() -> None:
    which = parse_arm('harbor:import_path=tests.engine.agents.harbor.own_agents:HostAgent,kwargs.commands=["a"\\,"b"]')
    assert which.parameters["kwargs.commands"] == '["a","b"]'


def test_a_hidden_variable_is_found_by_its_name_and_by_nobody_who_copies() -> None:
    env = HiddenEnv({"SHOWN": "1"}, {"KEY": "secret"})
    assert "KEY" in env and env["KEY"] == "secret" and env["SHOWN"] == "1" and "OTHER" not in env
    assert dict(env) == {"SHOWN": "1"} and list(env) == ["SHOWN"] and {**env} == {"SHOWN": "1"}
    with pytest.raises(KeyError):
        env["OTHER"]


def test_at_the_gateway_an_agent_is_given_neither_address_nor_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-all")
    which = arm(
        agent="codex", model="openai/x", base_url="https://models.example/v1", headers="X-Team: a", gateway="yes"
    )
    traits = traits_of(which)
    assert (traits.wires, traits.needs_gateway, traits.calls_model) == ((Wire.OPENAI_RESPONSES,), True, True)
    made = configured(which).agent(tmp_path, address="http://127.0.0.1:5")
    connection = made.model_connection
    assert (connection.api_key, connection.execution_base_url) == ("no-key-needed", "http://127.0.0.1:5/v1")
    assert "sk-of-all" not in json.dumps(dict(connection.env))


@pytest.mark.parametrize(
    ("which", "wire", "address"),
    [
        (arm(agent="claude-code", model="anthropic/x", gateway="yes"), Wire.ANTHROPIC, "http://127.0.0.1:5"),
        (arm(agent="mini-swe-agent", model="openai/x", gateway="yes"), Wire.OPENAI_CHAT, "http://127.0.0.1:5/v1"),
        (
            arm(agent="mini-swe-agent", model="x", protocol="openai-responses", gateway="yes"),
            Wire.OPENAI_RESPONSES,
            "http://127.0.0.1:5/v1",
        ),
    ],
)
def test_the_gateway_speaks_what_the_agent_does(which: ArmInfo, wire: Wire, address: str, tmp_path: Path) -> None:
    assert traits_of(which).wires == (wire,)
    made = configured(which).agent(tmp_path, address="http://127.0.0.1:5")
    assert made.model_connection.execution_base_url == address


def test_an_agent_that_is_in_the_image_needs_no_network_with_the_gateway() -> None:
    which = arm(agent="codex", model="openai/x", gateway="yes", kwargs__skip_install="true")
    assert not traits_of(which).installs_over_network
    assert traits_of(
        arm(agent="codex", model="openai/x", base_url="http://x/v1", kwargs__skip_install="true")
    ).installs_over_network
