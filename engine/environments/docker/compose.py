"""The Compose tool: renders a merge, builds, starts. Readiness and removal are not left to it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.environments.docker.definition import Definition
from engine.environments.docker.endpoint import cli_environment, config_folder
from engine.environments.docker.failures import classify, fail
from engine.environments.docker.host_tools import ToolResult, plugin, run_tool
from engine.issues import Code, Evidence, TrialFailed

CONFIG_SEC = 60.0
UNSET = re.compile(r'The \\?"([^"\\]+)\\?" variable is not set')


def tool_environment(reached_at: str) -> dict[str, str]:
    """For tools that read no task file by themselves, to the daemon at a Docker URL that says everything: a context
    would let buildx's default builder be another daemon's. PATH finds credential helpers, HOME their settings."""
    env = {"DOCKER_HOST": reached_at, "DOCKER_CONFIG": str(config_folder())}
    for name in ("PATH", "HOME", "SSH_AUTH_SOCK", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        if os.environ.get(name):
            env[name] = os.environ[name]
    return env


async def render(
    base: Definition, compose_file: Path, project: str, allowed: Mapping[str, str], log: Path
) -> tuple[Definition, list[str]]:
    """Base and task file merged by Compose, and the variables that had no value. Raises TrialFailed `compose_invalid`.

    The tool sees no variable of the host's but the allowed ones, and no `.env`. Relative paths keep the base that they
    have in the task's folder.
    """
    env = {**_allowed(allowed), **cli_environment()}
    folder = compose_file.parent
    base_file = log.parent / "compose.base.json"
    base_file.parent.mkdir(parents=True, exist_ok=True)
    argv = [
        *plugin("compose"),
        *("--ansi", "never", "--project-name", project, "--project-directory", str(folder)),
        *("--env-file", "/dev/null", "-f", str(base_file), "-f", str(compose_file)),
        *("config", "--format", "json"),
    ]
    try:
        base_file.write_text(json.dumps(base, indent=2))
        result = await run_tool(argv, env=env, log=log, timeout_sec=CONFIG_SEC, keep_stdout=True, folder=folder)
    finally:
        base_file.unlink(missing_ok=True)  # it has values of the host's variables
    if result.exit_code != 0:
        said = _last_line(result.tail) or "no message"
        raise fail(
            Code.COMPOSE_INVALID,
            f"{compose_file.name} can't be used: {said}",
            Evidence("file", str(compose_file)),
            Evidence("compose", result.tail.strip()),
        )
    rendered: Definition = json.loads(result.stdout)
    return rendered, sorted(set(UNSET.findall(result.tail)))


def _allowed(allowed: Mapping[str, str]) -> dict[str, str]:
    """What a definition may ask for by name; the tools' own settings are not up to a task."""
    return {name: value for name, value in allowed.items() if not name.startswith(("COMPOSE_", "DOCKER_"))}


class ComposeProject:
    """One settled definition, given to the tool over its stdin: values of the host never lie in a file."""

    def __init__(self, reached_at: str, project: str, folder: Path, allowed: Mapping[str, str]) -> None:
        self._env = {**_allowed(allowed), **tool_environment(reached_at)}
        self._project = project
        self._folder = folder

    def _argv(self, *words: str) -> list[str]:
        return [
            *plugin("compose"),
            *("--ansi", "never", "--progress", "plain", "--project-name", self._project),
            *("--project-directory", str(self._folder), "--env-file", "/dev/null", "-f", "-"),
            *words,
        ]

    async def build(
        self,
        definition: Definition,
        services: list[str],
        *,
        log: Path,
        timeout_sec: float,
        on_line: Callable[[str], None],
    ) -> ToolResult:
        return await run_tool(
            self._argv("build", *services),
            env={**self._env, "BUILDX_NO_DEFAULT_ATTESTATIONS": "1", "BUILDKIT_PROGRESS": "plain"},
            stdin=json.dumps(definition).encode(),
            log=log,
            timeout_sec=timeout_sec,
            on_line=on_line,
            folder=self._folder,
        )

    async def up(self, definition: Definition, *, log: Path, timeout_sec: float) -> ToolResult:
        """Creates and starts everything, in the order and under the conditions of `depends_on`."""
        return await run_tool(
            self._argv("up", "-d", "--no-build", "--quiet-pull", "--no-color"),
            env=self._env,
            stdin=json.dumps(definition).encode(),
            log=log,
            timeout_sec=timeout_sec,
            folder=self._folder,
        )


def up_failed(result: ToolResult, doing: str) -> TrialFailed:
    """What a failed `up` says where the containers' own state says no more."""
    known = classify(result.tail)
    said = _last_line(result.tail)
    code = known.code if known else Code.ENVIRONMENT_FAILED
    message = f"{doing}: {known.message}" if known else f"{doing}: {said or 'no message'}"
    return fail(code, message, Evidence("compose", result.tail.strip()[-4000:]))


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and "level=warning" not in line]
    return lines[-1] if lines else ""
