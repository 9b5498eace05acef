"""Agents written for Harbor by a person who uses it, named by `import_path=`. Needs Harbor."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from harbor.agents.agent_auth_resolution import ModelConnectionSpec
from harbor.agents.base import BaseAgent
from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed.base import BaseInstalledAgent
from harbor.agents.options import InstalledAgentOptions
from harbor.models.model_api_format import ModelApiFormat


class HostAgent(BaseAgent):
    """Works from the host. What it does in `main` is told by `commands`, a list."""

    capabilities = AgentCapabilities(atif=True)

    def __init__(self, logs_dir: Path, commands: Any = (), fails: str = "", **kwargs: Any) -> None:
        super().__init__(logs_dir, **kwargs)
        self.commands = commands
        self.fails = fails

    @staticmethod
    def name() -> str:
        return "host-agent"

    def version(self) -> str:
        return "3"

    async def setup(self, environment: Any) -> None:
        await environment.exec("prepare", user="root")
        if self.fails == "setup":
            raise RuntimeError("no such package")

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": instruction}]
        for number, command in enumerate(self.commands, 2):
            done = await environment.exec(command)
            metrics = {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 40, "cost_usd": 0.25}
            steps.append({"step_id": number, "source": "agent", "message": f"{command}: {done.stdout}"})
            steps[-1]["metrics"] = metrics
            written = {"schema_version": "ATIF-v1.7", "agent": {"name": "host-agent", "version": "3"}, "steps": steps}
            (self.logs_dir / "trajectory.json").write_text(json.dumps(written))
        context.n_input_tokens = 150 * len(self.commands)
        context.n_output_tokens = 10 * len(self.commands)
        if self.fails == "run":
            raise KeyError("lost")


class ProgramOptions(InstalledAgentOptions):
    flavour: str = "plain"
    limits: dict[str, int] | None = None


class Program(BaseInstalledAgent):
    """A program in `main`, which gets its key as a variable, as Harbor's agents do."""

    capabilities = AgentCapabilities(skills=True, mcp_servers=True)
    options_model = ProgramOptions

    @staticmethod
    def name() -> str:
        return "program"

    def get_version_command(self) -> str:
        return "program --version"

    async def install(self, environment: Any) -> None:
        await self.exec_as_root(environment, "install program")

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        key = self._get_env("PROGRAM_API_KEY") or os.environ.get("PROGRAM_API_KEY", "")
        await self.exec_as_agent(environment, "program --work", env={"PROGRAM_API_KEY": key}, cwd="/srv")

    def populate_context_post_run(self, context: Any) -> None:
        said = json.loads((self.logs_dir / "program.json").read_text())
        context.n_input_tokens = said["read"]
        context.cost_usd = said["dollars"]


class HelloProgram(Program):
    """A program that is a line of shell."""

    def get_version_command(self) -> None:  # type: ignore[override, unused-ignore]
        return None

    async def install(self, environment: Any) -> None:
        await self.exec_as_root(environment, "useradd --uid 1234 --create-home worker; chown -R worker /app")
        told = self.logs_dir / "upload.txt"
        told.write_text("a file for main\n")
        await environment.upload_file(told, "/srv/told.txt")
        told.unlink()

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        env = {"HELLO_API_KEY": self._get_env("HELLO_API_KEY") or ""}
        root = await self.exec_as_root(environment, "id -un")
        await environment.exec(
            f'printf "as {(root.stdout or "").strip()}, as $(id -u), key $HELLO_API_KEY, in $PWD\\n"'
            " && printf 'Hello, world!\\n' > /app/hello.txt && cat /srv/told.txt"
            ' | sed "s/for/from/; s/$/, $HELLO_API_KEY/" > /logs/agent/told.txt',
            user="worker",
            env=env,
            cwd="/tmp",
        )

    def populate_context_post_run(self, context: Any) -> None:
        return None


class Endless(HelloProgram):
    """Leaves a process that leads a session of its own, from its set-up and from its work."""

    async def install(self, environment: Any) -> None:
        await environment.exec("setsid sleep 901 > /dev/null 2>&1 &")

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        await environment.exec("setsid sleep 902 > /dev/null 2>&1 & (while :; do sleep 903; done)")


ASK = r"""
use IO::Socket::INET;
my ($host, $port) = $ENV{OPENAI_BASE_URL} =~ m{^http://([^:/]+):(\d+)/v1$} or die "no address";
my $body = '{"model": "scripted", "messages": [{"role": "user", "content": "hello"}]}';
my $socket = IO::Socket::INET->new("$host:$port") or die "not reached";
printf $socket "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
    . "Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
    $ENV{OPENAI_API_KEY}, length $body, $body;
print while <$socket>;
"""


class Asker(HelloProgram):
    """Asks its model once, in Perl, which every Debian has; and shows its variables."""

    capabilities = AgentCapabilities(base_url=True)
    MODEL_CONNECTION = ModelConnectionSpec(
        default_provider="openai",
        supported_api_formats=[ModelApiFormat.OPENAI_CHAT_COMPLETIONS],
        default_api_format_by_provider={"default": ModelApiFormat.OPENAI_CHAT_COMPLETIONS},
        api_key_destination_names={"default": "OPENAI_API_KEY"},
        base_url_destination_names={"default": "OPENAI_BASE_URL"},
    )

    async def install(self, environment: Any) -> None:
        return None

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        await self.exec_as_agent(environment, f"perl - <<'END'\n{ASK}\nEND\nenv", env=dict(self.model_connection.env))
