"""What `trialdeck agents` says of each agent."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner, Result

from console.agents_text import agent_lines, document, example, harbor_lines, list_lines
from console.commands.agents import agents
from console.errors import Unusable
from engine.agents.agent import AgentConfigInvalid, AgentTraits
from engine.agents.arms import parse_arm
from engine.agents.harbor.listing import HarborAgentInfo
from engine.agents.registry import AGENTS
from engine.models.settings import Wire

CAPABLE = AgentTraits(
    name="capable",
    version="2.1",
    summary="takes everything there is, which takes more than one line to say on a narrow terminal",
    wires=(Wire.ANTHROPIC, Wire.OPENAI_CHAT),
    mcp=frozenset({"sse", "stdio", "streamable-http"}),
    takes_skills=True,
    capsules=("node24-v1",),
    installs_over_network=True,
    parameters={"max_turns": "the most turns"},
)
BARE = AgentTraits(name="bare", version="1", summary="takes nothing")


def asked(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(agents)
    return CliRunner().invoke(app, [*arguments])


def test_every_agent_is_listed_with_what_it_can_take() -> None:
    output = asked().output
    for entry in AGENTS.values():
        assert entry.traits.name in output and entry.traits.summary.split()[0] in output


def test_the_document_has_all_that_the_list_has() -> None:
    found = json.loads(asked("--json").output)
    assert found["schema"] == "trialdeck.agents/1"
    assert {one["name"] for one in found["agents"]} == set(AGENTS)
    one = document([CAPABLE])["agents"][0]
    assert one["model_protocols"] == ["anthropic", "openai-chat"]
    assert one["mcp"] == ["stdio", "streamable-http", "sse"] and one["skills"] is True
    assert one["works_without_network"] is False and "key_env" in one["model_parameters"]


def test_one_agent_is_shown_with_its_parameters_and_an_arm_to_copy() -> None:
    text = "\n".join(agent_lines(CAPABLE, 80))
    for words in ("max_turns", "base_url", "stdio, streamable-http, sse", "--agent 'capable:model=MODEL'"):
        assert words in text
    assert "base_url" not in "\n".join(agent_lines(BARE, 80))


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = [*list_lines([CAPABLE, BARE], width), *agent_lines(CAPABLE, width)]
    words = [word for line in lines for word in line.split()]
    assert "capable" in words and "bare" in words
    said = [line for line in lines if "trialdeck" not in line]
    assert max(map(len, said)) <= width


def test_an_agent_that_isnt_there_is_named_with_the_nearest() -> None:
    found = asked("orakle")
    assert isinstance(found.exception, Unusable)
    assert 'there is no agent "orakle"' in str(found.exception) and "did you mean oracle?" in str(found.exception)


HARBORS = [
    HarborAgentInfo(name="codex", in_main=True, mcp=True, skills=True, live=True, wires=(Wire.OPENAI_RESPONSES,)),
    HarborAgentInfo(name="odd", problem="needs a library that is not here, and says so at some length, as they do"),
]


def test_harbors_own_agents_are_listed_with_what_each_can_take() -> None:
    lines = harbor_lines(HARBORS, 80)
    text = "\n".join(lines)
    assert "Harbor's agents (2)" in text and "in main · MCP · skills · steps live · openai-responses" in text
    assert "can't be loaded: needs" in text and max(map(len, lines)) <= 80
    assert [one.name for one in document([CAPABLE], HARBORS)["harbor_agents"]] == ["codex", "odd"]


def test_without_harbor_its_agents_are_not_listed_and_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> list[HarborAgentInfo]:
        raise AgentConfigInvalid("pip install 'trialdeck[harbor]' on Python 3.12+")

    monkeypatch.setattr("console.commands.agents.harbor_agents", absent)
    assert "can't be listed: pip install 'trialdeck[harbor]'" in asked("harbor").output
    assert json.loads(asked("harbor", "--json").output)["agents"][0]["name"] == "harbor"


def test_an_example_can_be_read_as_an_arm() -> None:
    assert parse_arm(example(AGENTS["command"].traits)).parameters == {"run": "my-agent"}
    for name in ("oracle", "nop"):
        assert parse_arm(example(AGENTS[name].traits)).agent == name


def test_all_capsules_of_an_agent_are_needed() -> None:
    two = AgentTraits(name="two", version="1", summary="carried in", capsules=("cli-1.0", "node24-v1"))
    assert "capsules cli-1.0 and node24-v1" in "\n".join(agent_lines(two, 80))
    assert "capsule node24-v1 or installed over the network" in " ".join("\n".join(agent_lines(CAPABLE, 80)).split())


def test_an_agent_is_told_with_its_own_protocols_and_key_alone() -> None:
    one = AgentTraits(name="one", version="1", summary="speaks one", wires=(Wire.ANTHROPIC,))
    text = "\n".join(agent_lines(one, 200))
    assert "what the server speaks: anthropic alone" in text and "(ANTHROPIC_API_KEY, if not given)" in text
    assert "openai" not in text.casefold()
    assert "anthropic, openai-chat (the first, if not given)" in "\n".join(agent_lines(CAPABLE, 200))
