"""Where an MCP server of a task fails: what of the task's own words about it can't be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.agents.in_main.server_faults import DEFINITION, servers_failed, wrong_address, wrong_definitions
from engine.events import ArmInfo
from engine.issues import Code, Evidence, Severity
from engine.tasks.folder import read_task
from engine.tasks.task import McpServer
from tests.engine.agents.sessions import Session
from tests.engine.tasks.task_folders import make_task

ARM = ArmInfo(name="x", agent="codex")
COMPOSE = """
services:
  main: {}
  db:
    networks: {inner: {aliases: [sums]}}
    container_name: the-db
networks: {inner: {}}
"""
CUT_OFF = '[environment]\nnetwork_mode = "no-network"\n'


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://db:1/sse", ""),
        ("http://SUMS:1/sse", ""),
        ("http://the-db/mcp", ""),
        ("http://main:80/mcp", ""),
        ("http://localhost:80/mcp", ""),
        ("http://127.0.0.1:80/mcp", ""),
        ("http://[::1]:80/mcp", ""),
        ("https://tools.example.org/mcp", ""),
        ("http://db2:1/sse", "has no service db2"),
        ("http://inner-db:1/sse", "has no service inner-db"),
        ("http://[1:2/sse", "is no address"),
    ],
)
def test_a_host_that_no_service_has_is_the_task_s_mistake(tmp_path: Path, url: str, words: str) -> None:
    task = read_task(make_task(tmp_path / "t", files={"environment/docker-compose.yaml": COMPOSE}))
    found = wrong_address(task, url)
    assert words in found if words else found == ""


def test_what_a_compose_file_includes_is_not_known_and_so_not_held_against_it(tmp_path: Path) -> None:
    compose = "include: [more.yaml]\nservices: {main: {}}\n"
    task = read_task(make_task(tmp_path / "t", files={"environment/docker-compose.yaml": compose}))
    assert wrong_address(task, "http://db:1/sse") == ""


@pytest.mark.parametrize(("url", "wrong"), [("https://tools.example.org/mcp", True), ("http://127.0.0.1/mcp", False)])
def test_a_server_outside_of_a_task_without_network_is_the_task_s_mistake(
    tmp_path: Path, url: str, wrong: bool
) -> None:
    task = read_task(make_task(tmp_path / "t", CUT_OFF))
    assert bool(wrong_address(task, url)) is wrong


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("exit_code", "starts", "wrong"), [(0, True, 0), (9, True, 1), (127, True, 0), (None, False, 0)]
)
async def test_a_command_is_wrong_only_where_main_says_that_it_is_not_there(
    tmp_path: Path, exit_code: int | None, starts: bool, wrong: int
) -> None:
    session = Session(tmp_path, ARM)
    session.provider.when("command -v", exit_code, starts=starts)
    servers = [McpServer(name="sums", transport="stdio", command="/srv/sums")]
    found = await wrong_definitions(session.given, servers, {"PATH": "/opt/bin"})
    assert list(found) == ["sums"] * wrong
    [look] = session.provider.commands
    assert look.words[-1] == "/srv/sums" and look.env["PATH"] == "/opt/bin"


def test_only_the_words_about_those_that_failed_are_evidence() -> None:
    said = Evidence("its first record", "sums (failed)", "agent/log", 1)
    found = servers_failed("gone", said, ["sums"], {"sums": "not in main", "other": "nowhere"})
    assert (found.code, found.severity) == (Code.MCP_SERVER_FAILED, Severity.ERROR)
    assert found.evidence == (said, Evidence(DEFINITION, "sums: not in main"))
