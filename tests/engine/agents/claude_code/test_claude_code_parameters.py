"""What an arm says of Claude Code, and what the CLI is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.agents.agent import AgentConfigInvalid
from engine.agents.arms import parse_arm
from engine.agents.capsules.claude_code import VERSION, tag_of
from engine.agents.capsules.node import NODE_TAG
from engine.agents.claude_code_parameters import (
    CONFIG,
    DUMMY_KEY,
    MCP_FILE,
    as_input,
    command_line,
    environment,
    mcp_config,
    read_parameters,
)
from engine.agents.registry import traits_of
from engine.models.settings import ModelSettings, Secret, Wire
from engine.tasks.task import McpServer
from tests.engine.tasks.task_folders import UNTIMED

KEY = "sk-ant-real-and-secret"
ADDRESS = "http://127.0.0.1:40123"


def settings(**more: Any) -> ModelSettings:
    given = {"name": "some-model", "wire": Wire.ANTHROPIC, "base_url": "https://gateway.example", "key": Secret(KEY)}
    return ModelSettings(**{**given, **more})


def words(arm: str, *, mcp: bool = False, **more: Any) -> list[str]:
    return command_line("/opt/claude", read_parameters(parse_arm(arm)), settings(**more), mcp=mcp)


def variables(arm: str, found: Mapping[str, str] | None = None, **more: Any) -> dict[str, str]:
    return environment(read_parameters(parse_arm(arm)), settings(**more), ADDRESS, found or {})


def refusal(text: str) -> str:
    with pytest.raises(AgentConfigInvalid) as caught:
        parse_arm(text)
    return str(caught.value)


def test_a_plain_arm_starts_the_pinned_version_with_the_arm_s_model() -> None:
    assert words("claude_code:model=x") == [
        *("/opt/claude", "-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"),
        *("--model", "some-model", "--disallowedTools=WebSearch", "--strict-mcp-config"),
    ]
    traits = traits_of(parse_arm("claude_code:model=x"))
    assert traits.version == VERSION and traits.capsules == (tag_of(VERSION), NODE_TAG)
    assert traits.installs_over_network is False


def test_everything_that_an_arm_can_say_is_passed_on() -> None:
    arm = (
        "claude_code:max_turns=7,max_budget_usd=2.50,tools=Bash Edit,allowed_tools=Bash(git *),disallowed_tools=Read,"
        "append_system_prompt=-p is no option\\, here"
    )
    found = words(arm, mcp=True, effort="high", context_tokens=150_000)
    assert found[found.index("--max-turns") + 1] == "7"
    assert found[found.index("--max-budget-usd") + 1] == "2.50"
    assert found[found.index("--effort") + 1] == "high"
    assert found[found.index("--autocompact") + 1] == "150000"
    assert found[found.index("--mcp-config") + 1] == MCP_FILE
    for word in (
        "--tools=Bash Edit",
        "--allowedTools=Bash(git *)",
        "--disallowedTools=Read WebSearch",
        "--append-system-prompt=-p is no option, here",
    ):
        assert word in found


def test_the_provider_s_search_is_on_only_where_an_arm_says_so() -> None:
    assert "--disallowedTools=WebSearch" in words("claude_code")
    assert not any(word.startswith("--disallowedTools") for word in words("claude_code:web_search=on"))


def test_no_tool_at_all_can_be_said() -> None:
    assert "--tools=" in words("claude_code:tools=")


def test_the_model_is_at_the_loopback_and_every_side_job_goes_to_the_arm_s_model() -> None:
    found = variables("claude_code", max_output_tokens=2000)
    assert found["ANTHROPIC_BASE_URL"] == ADDRESS and found["CLAUDE_CONFIG_DIR"] == CONFIG
    models = {name: value for name, value in found.items() if "MODEL" in name}
    assert set(models.values()) == {"some-model"} and "ANTHROPIC_SMALL_FAST_MODEL" in models
    assert found["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "2000"
    assert variables("claude_code:small_model=tiny")["ANTHROPIC_DEFAULT_HAIKU_MODEL"] == "tiny"


def test_no_key_is_told() -> None:
    found = variables("claude_code")
    assert found["ANTHROPIC_API_KEY"] == DUMMY_KEY
    assert KEY not in str(found) and KEY not in str(words("claude_code"))


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ({}, "127.0.0.1,localhost"),
        ({"NO_PROXY": "intern.example"}, "intern.example,127.0.0.1,localhost"),
        ({"no_proxy": " a , localhost "}, "a,localhost,127.0.0.1"),
    ],
)
def test_an_image_s_proxy_is_no_way_to_the_model(image: dict[str, str], expected: str) -> None:
    found = variables("claude_code", image)
    assert found["NO_PROXY"] == found["no_proxy"] == expected


@pytest.mark.parametrize(
    ("arm", "address", "off"),
    [
        ("claude_code", "https://gateway.example", True),
        ("claude_code", "https://api.anthropic.com", False),
        ("claude_code", "https://api.anthropic.com.evil.example", True),
        ("claude_code:tool_search=on", "https://gateway.example", False),
        ("claude_code:tool_search=off", "https://api.anthropic.com", True),
    ],
)
def test_tools_are_all_offered_at_once_where_a_server_may_not_know_the_search(
    arm: str, address: str, off: bool
) -> None:
    assert ("ENABLE_TOOL_SEARCH" in variables(arm, base_url=address)) is off


def test_another_version_has_its_own_capsule_however_it_is_said() -> None:
    for arm in ("claude_code:version=2.1.5", f"claude_code:setup_capsule_tag={tag_of('2.1.5')}"):
        traits = traits_of(parse_arm(arm))
        assert traits.version == "2.1.5" and traits.capsules == (tag_of("2.1.5"), NODE_TAG)


def test_npm_needs_the_network_and_node_goes_with_it() -> None:
    traits = traits_of(parse_arm("claude_code:install=npm"))
    assert traits.installs_over_network is True and traits.capsules == (NODE_TAG,)


def test_the_capsule_of_the_terminal_bench_guide_is_taken() -> None:
    arm = parse_arm(f"claude_code:model=x,setup_capsule_tag={NODE_TAG}")
    assert read_parameters(arm).runtime == NODE_TAG
    assert traits_of(arm).capsules == (tag_of(VERSION), NODE_TAG)


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ("version=latest", ["version is latest", VERSION]),
        ("version=../x", ["version"]),
        ("setup_capsule_tag=python-v1", ["python-v1", NODE_TAG]),
        (f"version=2.0.0,setup_capsule_tag={tag_of('2.1.5')}", ["give one of them"]),
        (f"install=npm,setup_capsule_tag={tag_of('2.1.5')}", ["two ways"]),
        ("install=apt", ["install is apt", "npm"]),
        ("max_turns=0", ["max_turns is 0"]),
        ("max_turns=many", ["max_turns is many"]),
        ("max_budget_usd=0.0", ["max_budget_usd"]),
        ("max_budget_usd=-1", ["max_budget_usd"]),
        ("tool_search=maybe", ["tool_search", "on or off"]),
        ("max_retries=x", ["max_retries"]),
        ("temperature=0.5", ["temperature"]),
        ("effort=extreme", ["effort", "xhigh"]),
        ("context_tokens=50000", ["context_tokens", "100000"]),
        ("protocol=openai-chat", ["protocol", "anthropic"]),
        ("api_key=sk-x", ["key_env"]),
    ],
)
def test_what_cant_work_is_refused_before_anything_starts(arm: str, said: list[str]) -> None:
    message = refusal(f"claude_code:model=x,{arm}")
    for word in said:
        assert word in message


def test_mcp_servers_are_written_as_the_cli_reads_them() -> None:
    servers = [
        McpServer(name="a", transport="stdio", command="serve", args=("--x", "y z")),
        McpServer(name="b", transport="streamable-http", url="http://b:1/mcp", headers={"X-Token": "t"}),
        McpServer(name="c", transport="sse", url="http://c:2/sse"),
    ]
    assert json.loads(mcp_config(servers)) == {
        "mcpServers": {
            "a": {"type": "stdio", "command": "serve", "args": ["--x", "y z"]},
            "b": {"type": "http", "url": "http://b:1/mcp", "headers": {"X-Token": "t"}},
            "c": {"type": "sse", "url": "http://c:2/sse"},
        }
    }


@UNTIMED
@given(st.binary())
def test_any_instruction_goes_to_stdin_byte_by_byte(instruction: bytes) -> None:
    """Case 61: a blank line goes before what the CLI would take for a command of its own, and nothing else is done."""
    found = as_input(instruction)
    assert found == (b"\n" if instruction.startswith(b"/") else b"") + instruction


def test_variables_of_a_task_send_it_to_no_other_server() -> None:
    sent = variables("claude_code:model=m")
    ways = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
    assert [sent[name] for name in ways] == ["0", "0", "0"] and sent["ANTHROPIC_BASE_URL"] == ADDRESS
