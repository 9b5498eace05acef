"""What a task says, typed: the ground floor that everything else reads.

Facts of the Harbor task format, schema 1.0 to 1.4. Times are seconds, memory and storage are MiB.
A value that the file does not give is the format's default, or None where the format has none.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path, PurePosixPath

import msgspec


class NetworkMode(StrEnum):
    PUBLIC = "public"
    NO_NETWORK = "no-network"
    ALLOWLIST = "allowlist"


class VerifierMode(StrEnum):
    SHARED = "shared"
    SEPARATE = "separate"


class NetworkPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What containers may reach. `allowed_hosts` means something only with `allowlist`."""

    mode: NetworkMode = NetworkMode.PUBLIC
    allowed_hosts: tuple[str, ...] = ()


class Healthcheck(msgspec.Struct, frozen=True, kw_only=True):
    """The task's own readiness check, run in `main` after Compose's health checks."""

    command: str
    interval_sec: float = 5.0
    timeout_sec: float = 30.0
    start_period_sec: float = 0.0
    start_interval_sec: float = 5.0
    retries: int = 3


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    transport: str
    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    headers: dict[str, str] = {}


class EnvironmentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[environment]` or `[verifier.environment]`. `tpu` is "TYPE TOPOLOGY"; `os` is `linux` or `windows`.

    `env` holds values as written in the file: `${VAR}` is not yet replaced (see `engine.tasks.host_env`).
    `network` is None where the file says nothing (the format's default is `public`).
    """

    build_timeout_sec: float = 600.0
    docker_image: str | None = None
    workdir: str | None = None
    skills_dir: str | None = None
    os: str = "linux"
    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    gpus: int = 0
    gpu_types: tuple[str, ...] = ()
    tpu: str | None = None
    network: NetworkPolicy | None = None
    env: dict[str, str] = {}
    healthcheck: Healthcheck | None = None
    mcp_servers: tuple[McpServer, ...] = ()


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    timeout_sec: float | None = None
    user: str | None = None
    network: NetworkPolicy | None = None


class CollectHook(msgspec.Struct, frozen=True, kw_only=True):
    command: str
    service: str = "main"
    timeout_sec: float = 60.0
    user: str | None = None


class VerifierSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`environment_mode` is None where the file says nothing; `Task.verifier_mode` decides."""

    timeout_sec: float = 600.0
    env: dict[str, str] = {}
    user: str | None = None
    network: NetworkPolicy | None = None
    environment_mode: VerifierMode | None = None
    environment: EnvironmentSettings | None = None
    collect: tuple[CollectHook, ...] = ()


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """A declared artifact. `destination` names only the place on the host; `exclude` are glob patterns."""

    source: str
    destination: str | None = None
    exclude: tuple[str, ...] = ()
    service: str = "main"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a multi-step task. Settings that the step does not give are the task's (already merged in):

    the task's artifacts and collect hooks come first, the step's own follow; its variables win over the
    task's; `verifier.environment_mode` is always given. Two settings are never the task's: `healthcheck` is
    the step's own and runs beside the task's, and `verifier.timeout_sec` is 600 where the step gives none, as
    in Harbor.
    """

    name: str
    folder: Path
    agent: AgentSettings = AgentSettings()
    verifier: VerifierSettings = VerifierSettings()
    min_reward: float | dict[str, float] | None = None
    healthcheck: Healthcheck | None = None
    artifacts: tuple[Artifact, ...] = ()


class TaskWarning(msgspec.Struct, frozen=True, kw_only=True):
    """Something in a task's files that is not wrong enough to refuse, such as an unknown key."""

    file: str
    key: str
    message: str


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task folder, read and checked. `digest` covers the content of every file in the folder."""

    id: str
    folder: Path
    digest: str
    schema_version: str
    name: str | None = None
    version: str | None = None
    description: str = ""
    source: str | None = None
    keywords: tuple[str, ...] = ()
    metadata: dict[str, object] = {}
    environment: EnvironmentSettings = EnvironmentSettings()
    agent: AgentSettings = AgentSettings()
    verifier: VerifierSettings = VerifierSettings()
    solution_env: dict[str, str] = {}
    artifacts: tuple[Artifact, ...] = ()
    steps: tuple[Step, ...] = ()
    multi_step_reward_strategy: str = "mean"
    warnings: tuple[TaskWarning, ...] = ()

    @property
    def environment_folder(self) -> Path:
        return self.folder / "environment"

    @property
    def compose_file(self) -> Path | None:
        """The task's own Compose file for the agent's environment, if it has one."""
        return first_existing(
            self.environment_folder / "docker-compose.yaml", self.environment_folder / "docker-compose.yml"
        )

    @property
    def dockerfile(self) -> Path | None:
        return first_existing(self.environment_folder / "Dockerfile")

    @property
    def category(self) -> str:
        return str(self.metadata.get("category", ""))

    @property
    def difficulty(self) -> str:
        return str(self.metadata.get("difficulty", ""))

    def verifier_mode(self, verifier: VerifierSettings | None = None) -> VerifierMode:
        """Explicit mode, else separate where a verifier environment is declared, else shared."""
        settings = verifier or self.verifier
        if settings.environment_mode is not None:
            return settings.environment_mode
        return VerifierMode.SEPARATE if settings.environment is not None else VerifierMode.SHARED


def first_existing(*paths: Path) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


LOGS_AGENT = PurePosixPath("/logs/agent")
LOGS_VERIFIER = PurePosixPath("/logs/verifier")
LOGS_ARTIFACTS = PurePosixPath("/logs/artifacts")
TESTS = PurePosixPath("/tests")
SOLUTION = PurePosixPath("/solution")
MAIN = "main"
