"""What an arm says of Claude Code, and how the CLI is told: its command line, its environment, its MCP servers.

Pure: nothing is started here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from engine.agents.agent import AgentConfigInvalid
from engine.agents.capsules.claude_code import VERSION, tag_of
from engine.agents.capsules.node import NODE_TAG
from engine.agents.in_main.forwarder import beside_proxies
from engine.events import ArmInfo
from engine.models.settings import ModelSettings
from engine.tasks.task import McpServer

CAPSULE, NPM = "capsule", "npm"
CONFIG = "/logs/agent/claude"
"""Where the CLI keeps its own files in `main`: settings, sessions, skills. It is fetched with the agent's logs."""
TEMPORARY = "/opt/trialdeck/claude-code"
"""Not in /tmp: what the CLI itself writes is no change that the agent made. Not below a folder that everybody may write
to: it would not put its sockets there."""
MCP_FILE = f"{TEMPORARY}/mcp.json"
"""Not among the agent's logs: headers of a server may be secrets of the host's."""
DUMMY_KEY = "sk-ant-kept-by-the-gateway"
LEAST_CONTEXT = 100_000
MAX_RETRIES = 8
EFFORTS = ("low", "medium", "high", "xhigh", "max")
_FIRST_PARTY = re.compile(r"https://api\.anthropic\.com(?:/|$)")
_TYPES = {"stdio": "stdio", "streamable-http": "http", "sse": "sse"}
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?", re.ASCII)

PARAMETERS = {
    "version": f"the CLI's version ({VERSION}, if not given)",
    "setup_capsule_tag": f"a capsule to set up with: {NODE_TAG} puts its node, npm and npx at the end of PATH; "
    f"{tag_of('VERSION')} says the version",
    "install": f"{CAPSULE} (carried in, no network needed; so if not given) or {NPM} (npm install in main, with the "
    "image's npm or that of setup_capsule_tag)",
    "max_turns": "the most turns it may make",
    "max_budget_usd": "the most it may spend, as it reckons itself",
    "tools": "the tools of its own that there are, by name, separated by spaces",
    "allowed_tools": "tools it may use, in its own words: `Bash(git *) Edit`",
    "disallowed_tools": "tools it may not use, in its own words",
    "append_system_prompt": "text at the end of its system prompt",
    "small_model": "the model for its small side jobs (the arm's model, if not given)",
    "tool_search": "on or off: MCP tools are looked up when they are needed, or all offered at once (off where "
    "base_url isn't Anthropic's own, if not given)",
    "web_search": "on or off: the provider's own search, which no network policy of a task holds back (off, if not "
    "given)",
    "max_retries": f"how often it asks a failing model again ({MAX_RETRIES}, if not given)",
}


class ClaudeCodeParameters(msgspec.Struct, frozen=True, kw_only=True):
    """An arm's parameters, checked. `capsule` is the tag of the CLI's own, `runtime` that of the Node that the arm asks
    for ("": none)."""

    version: str
    install: str
    runtime: str
    max_turns: int | None
    max_budget_usd: str
    tools: str | None
    allowed_tools: str
    disallowed_tools: str
    append_system_prompt: str
    small_model: str
    tool_search: bool | None
    web_search: bool
    max_retries: int

    @property
    def capsule(self) -> str:
        return tag_of(self.version)

    @property
    def capsules(self) -> tuple[str, ...]:
        """What is carried in. Node goes with it always: it opens the way to the model."""
        return (NODE_TAG,) if self.install == NPM else (self.capsule, NODE_TAG)


def read_parameters(arm: ArmInfo) -> ClaudeCodeParameters:
    """Raises AgentConfigInvalid, which names the arm and the key."""
    given = arm.parameters
    what = f"arm {arm.name}"
    tag = given.get("setup_capsule_tag", "")
    own = tag.removeprefix(tag_of("")) if tag.startswith(tag_of("")) else ""
    if tag and tag != NODE_TAG and not own:
        raise AgentConfigInvalid(
            f"{what}: setup_capsule_tag is {tag}, Claude Code is set up with {NODE_TAG} or {tag_of('VERSION')}"
        )
    version = given.get("version", own or VERSION)
    if not _VERSION.fullmatch(version):
        raise AgentConfigInvalid(f"{what}: version is {version}, expected one like {VERSION}")
    if own and own != version:
        raise AgentConfigInvalid(f"{what}: version is {version}, but setup_capsule_tag is {tag}: give one of them")
    install = given.get("install", CAPSULE)
    if install not in (CAPSULE, NPM):
        raise AgentConfigInvalid(f"{what}: install is {install}, expected {CAPSULE} or {NPM}")
    if install == NPM and own:
        raise AgentConfigInvalid(f"{what}: install={NPM} and setup_capsule_tag={tag} are two ways: give one of them")
    _check_model(arm, version, what)
    return ClaudeCodeParameters(
        version=version,
        install=install,
        runtime=NODE_TAG if tag == NODE_TAG else "",
        max_turns=_whole(given, "max_turns", what),
        max_budget_usd=_money(given, what),
        tools=given.get("tools"),
        allowed_tools=given.get("allowed_tools", ""),
        disallowed_tools=given.get("disallowed_tools", ""),
        append_system_prompt=given.get("append_system_prompt", ""),
        small_model=given.get("small_model", ""),
        tool_search=_on_or_off(given, "tool_search", what),
        web_search=_on_or_off(given, "web_search", what) or False,
        max_retries=MAX_RETRIES if (tries := _whole(given, "max_retries", what)) is None else tries,
    )


def _check_model(arm: ArmInfo, version: str, what: str) -> None:
    """What Claude Code can't be told of its model. Of another version nobody knows which words it has for effort."""
    if arm.temperature is not None:
        raise AgentConfigInvalid(f"{what}: claude_code takes no temperature: Claude Code chooses it itself")
    if arm.context_tokens is not None and arm.context_tokens < LEAST_CONTEXT:
        raise AgentConfigInvalid(
            f"{what}: context_tokens is {arm.context_tokens}, Claude Code needs {LEAST_CONTEXT} or more"
        )
    if arm.effort and arm.effort not in EFFORTS and version == VERSION:
        raise AgentConfigInvalid(f"{what}: effort is {arm.effort}, Claude Code knows {', '.join(EFFORTS)}")


def command_line(program: str, parameters: ClaudeCodeParameters, settings: ModelSettings, *, mcp: bool) -> list[str]:
    """The instruction goes to stdin. No key, no address and nothing of the task is in it."""
    words = [program, "-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    words += ["--model", settings.name]
    if settings.effort:
        words += ["--effort", settings.effort]
    if settings.context_tokens is not None:
        words += ["--autocompact", str(settings.context_tokens)]
    if parameters.max_turns is not None:
        words += ["--max-turns", str(parameters.max_turns)]
    if parameters.max_budget_usd:
        words += ["--max-budget-usd", parameters.max_budget_usd]
    if parameters.tools is not None:
        words += [f"--tools={parameters.tools}"]
    if parameters.allowed_tools:
        words += [f"--allowedTools={parameters.allowed_tools}"]
    not_allowed = [parameters.disallowed_tools, "" if parameters.web_search else "WebSearch"]
    if any(not_allowed):
        words += [f"--disallowedTools={' '.join(filter(None, not_allowed))}"]
    if parameters.append_system_prompt:
        words += [f"--append-system-prompt={parameters.append_system_prompt}"]
    return [*words, "--mcp-config", MCP_FILE, "--strict-mcp-config"] if mcp else [*words, "--strict-mcp-config"]


_OTHER_WAYS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
"""Variables of an image or a task that would send the CLI to another server than the arm's."""


def environment(
    parameters: ClaudeCodeParameters, settings: ModelSettings, address: str, found: Mapping[str, str]
) -> dict[str, str]:
    """`address` is the forwarder's. `found`: what the image has in PATH, SHELL and the like."""
    small = parameters.small_model or settings.name
    search = parameters.tool_search
    if search is None:
        search = _FIRST_PARTY.match(settings.base_url) is not None
    env = {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "ANTHROPIC_AUTH_TOKEN": "",
        "ANTHROPIC_MODEL": settings.name,
        "ANTHROPIC_DEFAULT_OPUS_MODEL": settings.name,
        "ANTHROPIC_DEFAULT_SONNET_MODEL": settings.name,
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": small,
        "ANTHROPIC_SMALL_FAST_MODEL": small,
        "CLAUDE_CODE_SUBAGENT_MODEL": settings.name,
        "CLAUDE_CONFIG_DIR": CONFIG,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_TMPDIR": TEMPORARY,
        "CLAUDE_CODE_MAX_RETRIES": str(parameters.max_retries),
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        **dict.fromkeys(_OTHER_WAYS, "0"),
        "IS_SANDBOX": "1",  # else it doesn't skip permissions as root
        "NO_PROXY": beside_proxies(found.get("NO_PROXY") or found.get("no_proxy") or ""),
    }
    env["no_proxy"] = env["NO_PROXY"]
    if not search:
        env["ENABLE_TOOL_SEARCH"] = "false"
    if settings.max_output_tokens is not None:
        env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(settings.max_output_tokens)
    return env


def mcp_config(servers: Sequence[McpServer]) -> bytes:
    """The file that `--mcp-config` takes."""
    found: dict[str, Any] = {}
    for server in servers:
        entry: dict[str, Any] = {"type": _TYPES[server.transport]}
        if server.transport == "stdio":
            entry |= {"command": server.command, "args": list(server.args)}
        else:
            entry |= {"url": server.url} | ({"headers": server.headers} if server.headers else {})
        found[server.name] = entry
    return msgspec.json.format(msgspec.json.encode({"mcpServers": found})) + b"\n"


def as_input(instruction: bytes) -> bytes:
    """What is written to stdin: the instruction, with a blank line before one that begins with `/`, which would be
    taken for a command of the CLI's own."""
    return b"\n" + instruction if instruction.startswith(b"/") else instruction


def _whole(given: Mapping[str, str], key: str, what: str) -> int | None:
    text = given.get(key)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,6}", text) or (text == "0" and key != "max_retries"):
        raise AgentConfigInvalid(f"{what}: {key} is {text}, expected a whole number above 0")
    return int(text)


def _money(given: Mapping[str, str], what: str) -> str:
    text = given.get("max_budget_usd", "")
    if text and (not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", text) or float(text) == 0):
        raise AgentConfigInvalid(f"{what}: max_budget_usd is {text}, expected an amount of dollars above 0")
    return text


def _on_or_off(given: Mapping[str, str], key: str, what: str) -> bool | None:
    text = given.get(key)
    if text is None:
        return None
    if text not in ("on", "off"):
        raise AgentConfigInvalid(f"{what}: {key} is {text}, expected on or off")
    return text == "on"
