"""Codex' configuration and command line: the model behind the forwarder, the task's servers, and no key."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from engine.agents.agent import MARK_NAME, AgentConfigInvalid
from engine.agents.codex.agent import command
from engine.agents.codex.config import config_toml
from engine.models.settings import ModelSettings, Secret, Wire
from engine.tasks.task import McpServer

KEY = "sk-marked-key-that-nobody-may-see"
ADDRESS = "http://127.0.0.1:4321"


def config(*servers: McpServer, web_search: str = "disabled", **model: Any) -> dict[str, Any]:
    settings = ModelSettings(
        name='m"odel',
        wire=Wire.OPENAI_RESPONSES,
        base_url="https://model.example/v1",
        key=Secret(KEY),
        headers={"X-Team": Secret(KEY)},
        **model,
    )
    text = config_toml(settings, ADDRESS, servers, web_search=web_search, pass_on=("TOKEN",)).decode()
    assert KEY not in text and "model.example" not in text
    return tomllib.loads(text)


def test_the_model_is_asked_at_the_forwarder_s_address() -> None:
    found = config()
    assert found["model"] == 'm"odel'
    provider = found["model_providers"][found["model_provider"]]
    assert (provider["base_url"], provider["wire_api"]) == (f"{ADDRESS}/v1", "responses")
    assert "model_reasoning_effort" not in found and "model_context_window" not in found and "mcp_servers" not in found


def test_effort_and_context_are_as_the_arm_says() -> None:
    found = config(effort="xhigh", context_tokens=100_000)
    assert (found["model_reasoning_effort"], found["model_context_window"]) == ("xhigh", 100_000)


def test_nothing_calls_home_and_no_search_goes_round_the_task_s_network() -> None:
    found = config()
    assert found["analytics"] == found["feedback"] == {"enabled": False}
    assert found["check_for_update_on_startup"] is False and found["web_search"] == "disabled"
    assert config(web_search="live")["web_search"] == "live"


def test_the_image_s_path_is_kept() -> None:
    assert config()["allow_login_shell"] is False


def test_servers_of_both_kinds_are_needed_and_can_be_found_when_time_is_up() -> None:
    found = config(
        McpServer(name="sums", transport="stdio", command="/srv/sums", args=("--of", 'a "b"')),
        McpServer(name="far", transport="streamable-http", url="http://side:80/mcp", headers={"X-A": "b"}),
        McpServer(name="bare", transport="streamable-http", url="http://side:81/mcp"),
    )["mcp_servers"]
    assert (found["sums"]["command"], found["sums"]["args"]) == ("/srv/sums", ["--of", 'a "b"'])
    assert found["sums"]["env_vars"] == [MARK_NAME, "TOKEN"]
    assert (found["far"]["url"], found["far"]["http_headers"]) == ("http://side:80/mcp", {"X-A": "b"})
    assert "http_headers" not in found["bare"]
    assert all(server["required"] for server in found.values())


def test_a_server_s_name_that_codex_does_not_take_is_named() -> None:
    with pytest.raises(AgentConfigInvalid, match="hot one"):
        config(McpServer(name="hot one", transport="stdio", command="x"))


def test_case_61_the_command_line_holds_nothing_of_the_instruction_and_no_key() -> None:
    words = command(["/opt/codex"])
    assert words[:3] == ["/opt/codex", "exec", "--json"] and words[-1] == "-"
    assert not any(KEY in word or "127.0.0.1" in word for word in words)
