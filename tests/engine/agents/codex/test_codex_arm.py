"""What an arm may say of Codex, and what is refused before anything starts."""

from __future__ import annotations

import pytest

from engine.agents.agent import AgentConfigInvalid
from engine.agents.arms import parse_arm
from engine.agents.registry import make_agent, traits_of
from engine.models.settings import Wire


def test_codex_is_carried_in_with_a_runtime_for_its_way_to_the_model() -> None:
    traits = traits_of(parse_arm("codex:model=m"))
    assert traits.capsules == ("codex-0.171.0", "python-v1") and not traits.installs_over_network
    assert traits.wires == (Wire.OPENAI_RESPONSES,) and traits.needs_gateway and traits.takes_skills
    assert traits.mcp == {"stdio", "streamable-http"}


def test_another_version_and_another_runtime_are_other_capsules() -> None:
    arm = parse_arm("codex:model=m,version=0.168.0,setup_capsule_tag=node24-v1")
    assert traits_of(arm).capsules == ("codex-0.168.0", "node24-v1")
    assert traits_of(arm).version == make_agent(arm).version == "0.168.0"


def test_npm_installs_over_the_network_with_the_image_s_node_or_a_capsule_s() -> None:
    assert traits_of(parse_arm("codex:model=m,install=npm")).capsules == ()
    with_node = traits_of(parse_arm("codex:model=m,install=npm,setup_capsule_tag=node24-v1"))
    assert with_node.capsules == ("node24-v1",) and with_node.installs_over_network


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("install=brew", ("install", "capsule", "npm")),
        ("version=latest", ("version", "latest", "0.171.0")),
        ("version=1.0/../..", ("version",)),
        ("setup_capsule_tag=node22-v1", ("setup_capsule_tag", "python-v1", "node24-v1")),
        ("setup_capsule_tag=", ("setup_capsule_tag", "python-v1")),
        ("install=npm,setup_capsule_tag=python-v1", ("setup_capsule_tag", "node24-v1")),
        ("web_search=on", ("web_search", "disabled", "live")),
        ("temperature=0.5", ("temperature", "0.5", "Codex")),
        ("max_output_tokens=100", ("max_output_tokens", "Codex")),
        ("protocol=openai-chat", ("protocol", "openai-responses")),
        ("key=secret", ("never", "key_env")),
    ],
)
def test_what_cannot_work_is_refused_with_a_way_out(parameters: str, words: tuple[str, ...]) -> None:
    with pytest.raises(AgentConfigInvalid) as caught:
        parse_arm(f"codex:model=m,{parameters}")
    for word in words:
        assert word in str(caught.value)
    assert "secret" not in str(caught.value)
