"""The keys of task.toml as they stand in the file: older spellings included, nothing merged, None where
not given.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from engine.tasks.task import NetworkMode, VerifierMode

Seconds = Annotated[float, Meta(gt=0, description="a number of seconds above 0")]
SecondsOrZero = Annotated[float, Meta(ge=0, description="a number of seconds, 0 or more")]
Mebibytes = Annotated[int, Meta(gt=0, le=2**40, description="a whole number of MiB above 0")]
Count = Annotated[int, Meta(ge=0, le=2**31, description="a whole number, 0 or more")]
Cpus = Annotated[float, Meta(gt=0, le=2**20, description="a number of CPUs above 0")]
User = Annotated[str | int, Meta(description="a user name or a user number")]
Size = Annotated[str, Meta(description='text like "2G", "512M" or "1024K"')]
NonEmpty = Annotated[str, Meta(min_length=1, description="text that is not empty")]
Number = Annotated[float, Meta(description="a number")]


class HealthcheckTable(msgspec.Struct, frozen=True, kw_only=True):
    command: NonEmpty
    interval_sec: SecondsOrZero = 5.0
    timeout_sec: Seconds = 30.0
    start_period_sec: SecondsOrZero = 0.0
    start_interval_sec: SecondsOrZero = 5.0
    retries: Annotated[int, Meta(ge=1, le=2**31, description="a whole number above 0")] = 3


class McpServerTable(msgspec.Struct, frozen=True, kw_only=True):
    name: NonEmpty
    transport: str = "sse"
    url: str | None = None
    command: str | None = None
    args: list[str] = []
    headers: dict[str, str] = {}


class TpuTable(msgspec.Struct, frozen=True, kw_only=True):
    type: NonEmpty
    topology: NonEmpty


class EnvironmentTable(msgspec.Struct, frozen=True, kw_only=True):
    build_timeout_sec: Seconds = 600.0
    docker_image: str | None = None
    workdir: str | None = None
    skills_dir: str | None = None
    os: str = "linux"
    cpus: Cpus | None = None
    memory_mb: Mebibytes | None = None
    storage_mb: Mebibytes | None = None
    gpus: Count | None = None
    gpu_types: list[str] = []
    tpu: str | TpuTable | None = None
    network_mode: NetworkMode | None = None
    allowed_hosts: list[str] | None = None
    env: dict[str, str] = {}
    healthcheck: HealthcheckTable | None = None
    mcp_servers: list[McpServerTable] = []
    # older spellings
    memory: Size | None = None
    storage: Size | None = None
    allow_internet: bool | None = None


class AgentTable(msgspec.Struct, frozen=True, kw_only=True):
    timeout_sec: Seconds | None = None
    user: User | None = None
    network_mode: NetworkMode | None = None
    allowed_hosts: list[str] | None = None


class CollectTable(msgspec.Struct, frozen=True, kw_only=True):
    command: NonEmpty
    service: str = "main"
    timeout_sec: Seconds = 60.0
    user: User | None = None


class VerifierTable(msgspec.Struct, frozen=True, kw_only=True):
    timeout_sec: Seconds | None = None
    env: dict[str, str] = {}
    user: User | None = None
    network_mode: NetworkMode | None = None
    allowed_hosts: list[str] | None = None
    environment_mode: VerifierMode | None = None
    environment: EnvironmentTable | None = None
    collect: list[CollectTable] = []


class ArtifactTable(msgspec.Struct, frozen=True, kw_only=True):
    source: NonEmpty
    destination: str | None = None
    exclude: list[str] = []
    service: str | None = None


class StepTable(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    agent: AgentTable = AgentTable()
    verifier: VerifierTable = VerifierTable()
    min_reward: Number | dict[str, Number] | None = None
    healthcheck: HealthcheckTable | None = None
    artifacts: list[NonEmpty | ArtifactTable] = []


class AuthorTable(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    email: str | None = None


class PackageTable(msgspec.Struct, frozen=True, kw_only=True):
    name: str | None = None
    version: str | None = None
    description: str = ""
    authors: list[AuthorTable] = []
    keywords: list[str] = []


class SolutionTable(msgspec.Struct, frozen=True, kw_only=True):
    env: dict[str, str] = {}


class Root(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: str | None = None
    version: str | None = None  # older files
    source: str | None = None
    artifacts: list[NonEmpty | ArtifactTable] = []
    steps: list[StepTable] = []
    multi_step_reward_strategy: Annotated[str, Meta(pattern="^(mean|final)$", description='"mean" or "final"')] = "mean"
    metadata: dict[str, object] = {}
    task: PackageTable = PackageTable()
    environment: EnvironmentTable = EnvironmentTable()
    agent: AgentTable = AgentTable()
    verifier: VerifierTable = VerifierTable()
    solution: SolutionTable = SolutionTable()
