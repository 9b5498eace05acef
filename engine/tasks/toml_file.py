"""task.toml -> settings. Reads one file and knows nothing of the folder around it.

Schema 1.0 to 1.4; older files say `version`, `memory = "2G"`, `storage = "10G"`, `allow_internet = false`. An
unknown key is a warning, anything else that doesn't fit is TaskInvalid.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from engine.tasks import toml_schema as schema
from engine.tasks.artifact_rules import artifacts_of, service_name
from engine.tasks.invalid import shown_value, task_invalid
from engine.tasks.network_rules import network_policy
from engine.tasks.step_names import check_step_names
from engine.tasks.task import (
    AgentSettings,
    Artifact,
    CollectHook,
    EnvironmentSettings,
    Healthcheck,
    McpServer,
    TaskWarning,
    VerifierMode,
    VerifierSettings,
)
from engine.tasks.toml_table import TableReader, joined

KNOWN_SCHEMAS = ("1.0", "1.1", "1.2", "1.3", "1.4")
STEP_VERIFIER_TIMEOUT = 600.0
_TASK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([KMG])\s*", re.IGNORECASE)


class StepFile(msgspec.Struct, frozen=True, kw_only=True):
    """One `[[steps]]` entry as written: nothing of the task is merged in."""

    name: str
    agent: AgentSettings
    verifier: VerifierSettings
    min_reward: float | dict[str, float] | None
    healthcheck: Healthcheck | None
    artifacts: tuple[Artifact, ...]


class TaskFile(msgspec.Struct, frozen=True, kw_only=True):
    """What one task.toml says."""

    schema_version: str
    name: str | None
    version: str | None
    description: str
    source: str | None
    keywords: tuple[str, ...]
    metadata: dict[str, object]
    environment: EnvironmentSettings
    agent: AgentSettings
    verifier: VerifierSettings
    solution_env: dict[str, str]
    artifacts: tuple[Artifact, ...]
    steps: tuple[StepFile, ...]
    multi_step_reward_strategy: str
    warnings: tuple[TaskWarning, ...]


def read_task_file(file: Path) -> TaskFile:
    """Read and check one task.toml. Raises TaskInvalid."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise task_invalid(file, f"can't be read: {error.strerror or error}") from None
    return parse_task_file(data, file)


def parse_task_file(data: bytes, file: Path) -> TaskFile:
    """`file` only names the place in messages. Raises TaskInvalid."""
    reader = TableReader(file)
    root = reader.read(_toml(data, file), schema.Root)
    verifier = _verifier(reader, root.verifier, "verifier")
    return TaskFile(
        schema_version=_schema_version(reader, root),
        name=_task_name(reader, root.task.name),
        version=root.task.version or None,
        description=root.task.description,
        source=root.source or None,
        keywords=tuple(root.task.keywords),
        metadata=root.metadata,
        environment=_environment(reader, root.environment, "environment"),
        agent=_agent(reader, root.agent, "agent"),
        verifier=verifier,
        solution_env=_env(reader, root.solution.env, "solution.env"),
        artifacts=artifacts_of(reader, root.artifacts, "artifacts"),
        steps=_steps(reader, root),
        multi_step_reward_strategy=root.multi_step_reward_strategy,
        warnings=tuple(reader.warnings),
    )


def _toml(data: bytes, file: Path) -> dict[str, Any]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise task_invalid(
            file,
            f"is not UTF-8 (byte 0x{data[error.start]:02x})",
            line=line,
            way_out="Save the file as UTF-8",
        ) from None
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise task_invalid(file, "is not valid TOML: nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, and Python's own limit on digits
        found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL)
        if not found:
            raise task_invalid(file, f"is not valid TOML: {error}") from None
        where = f" at column {found[3]}" if found[3] else " at the end of the file"
        line = int(found[2]) if found[2] else text.count("\n") + 1
        raise task_invalid(file, f"is not valid TOML: {found[1]}{where}", line=line) from None


def _schema_version(reader: TableReader, root: schema.Root) -> str:
    if root.schema_version is not None and root.version is not None:
        reader.warn("version", f'ignored, since schema_version = "{root.schema_version}" is given')
    version = root.schema_version or root.version
    if version is None:
        return KNOWN_SCHEMAS[-1]
    if version not in KNOWN_SCHEMAS:
        key = "schema_version" if root.schema_version else "version"
        reader.warn(key, f'"{version}" is not one of {", ".join(KNOWN_SCHEMAS)}; read as {KNOWN_SCHEMAS[-1]}')
    return version


def _task_name(reader: TableReader, name: str | None) -> str | None:
    if name and (not _TASK_NAME.fullmatch(name) or ".." in name):
        reader.warn("task.name", f'"{name}" is not of the form "org/name"; Harbor refuses it')
    return name or None


def _environment(reader: TableReader, table: schema.EnvironmentTable, key: str) -> EnvironmentSettings:
    system = table.os.lower()
    if system not in ("linux", "windows"):
        raise reader.invalid(f"{key}.os", f'expected "linux" or "windows", found "{table.os}"')
    if table.workdir and system == "linux" and not table.workdir.startswith("/"):
        raise reader.invalid(f"{key}.workdir", f'expected an absolute path, found "{table.workdir}"')
    tpu = table.tpu
    return EnvironmentSettings(
        build_timeout_sec=table.build_timeout_sec,
        docker_image=table.docker_image or None,
        workdir=table.workdir or None,
        skills_dir=table.skills_dir or None,
        os=system,
        cpus=table.cpus,
        memory_mb=_mebibytes(reader, key, "memory", table.memory, table.memory_mb),
        storage_mb=_mebibytes(reader, key, "storage", table.storage, table.storage_mb),
        gpus=table.gpus or 0,
        gpu_types=tuple(table.gpu_types),
        tpu=f"{tpu.type} {tpu.topology}" if isinstance(tpu, schema.TpuTable) else tpu or None,
        network=network_policy(reader, key, table.network_mode, table.allowed_hosts, table.allow_internet),
        env=_env(reader, table.env, f"{key}.env"),
        healthcheck=_healthcheck(table.healthcheck),
        mcp_servers=tuple(
            _mcp_server(reader, server, f"{key}.mcp_servers[{index}]") for index, server in enumerate(table.mcp_servers)
        ),
    )


def _mebibytes(reader: TableReader, key: str, name: str, written: str | None, newer: int | None) -> int | None:
    """The older spelling `memory = "2G"`, where the newer `memory_mb` isn't given or says the same."""
    if written is None:
        return newer
    found = _SIZE.fullmatch(written)
    factor = {"K": 1 / 1024, "M": 1, "G": 1024}
    size = int(float(found[1]) * factor[found[2].upper()]) if found else 0
    if not 0 < size <= 2**40:
        raise reader.invalid(joined(key, name), f'expected text like "2G" or "512M", found "{written}"')
    if newer is not None and newer != size:
        raise reader.invalid(joined(key, name), f'"{written}" ({size} MiB) contradicts {name}_mb = {newer}')
    return size


def _env(reader: TableReader, table: dict[str, str], key: str) -> dict[str, str]:
    """Names and values that a process's environment can hold."""
    for name, value in table.items():
        if not name or "=" in name or "\0" in name:
            raise reader.invalid(joined(key, name), "expected a variable name without = and NUL")
        if "\0" in value:
            raise reader.invalid(joined(key, name), "expected a value without NUL bytes")
    return table


def _healthcheck(table: schema.HealthcheckTable | None) -> Healthcheck | None:
    return Healthcheck(**msgspec.structs.asdict(table)) if table else None


def _mcp_server(reader: TableReader, table: schema.McpServerTable, key: str) -> McpServer:
    transport = "streamable-http" if table.transport == "http" else table.transport
    if transport not in ("stdio", "sse", "streamable-http"):
        raise reader.invalid(
            f"{key}.transport",
            f'expected "stdio", "sse" or "streamable-http", found {shown_value(table.transport)}',
        )
    needed, value = ("command", table.command) if transport == "stdio" else ("url", table.url)
    if not value:
        raise reader.invalid(f"{key}.{needed}", f'is missing, transport "{transport}" needs it')
    if transport == "stdio" and table.headers:
        raise reader.invalid(f"{key}.headers", 'only go with transport "sse" or "streamable-http"')
    return McpServer(
        name=table.name,
        transport=transport,
        url=table.url,
        command=table.command,
        args=tuple(table.args),
        headers=table.headers,
    )


def _agent(reader: TableReader, table: schema.AgentTable, key: str) -> AgentSettings:
    return AgentSettings(
        timeout_sec=table.timeout_sec,
        user=_user(table.user),
        network=network_policy(reader, key, table.network_mode, table.allowed_hosts),
    )


def _verifier(reader: TableReader, table: schema.VerifierTable, key: str) -> VerifierSettings:
    if table.environment is not None and table.environment_mode is VerifierMode.SHARED:
        raise reader.invalid(
            f"{key}.environment_mode",
            f'"shared" contradicts [{key}.environment]',
            'Drop one, or say "separate"',
        )
    environment = table.environment
    return VerifierSettings(
        timeout_sec=table.timeout_sec or STEP_VERIFIER_TIMEOUT,
        env=_env(reader, table.env, f"{key}.env"),
        user=_user(table.user),
        network=network_policy(reader, key, table.network_mode, table.allowed_hosts),
        environment_mode=table.environment_mode,
        environment=_environment(reader, environment, f"{key}.environment") if environment else None,
        collect=tuple(_collect(reader, table.collect, f"{key}.collect")),
    )


def _collect(reader: TableReader, hooks: list[schema.CollectTable], key: str) -> Iterable[CollectHook]:
    for index, hook in enumerate(hooks):
        yield CollectHook(
            command=hook.command,
            service=service_name(reader, hook.service, f"{key}[{index}].service"),
            timeout_sec=hook.timeout_sec,
            user=_user(hook.user),
        )


def _user(user: str | int | None) -> str | None:
    return str(user) if user not in (None, "") else None


def _steps(reader: TableReader, root: schema.Root) -> tuple[StepFile, ...]:
    check_step_names(reader, [step.name for step in root.steps])
    steps = []
    for index, table in enumerate(root.steps):
        key = f"steps[{index}]"
        if table.verifier.timeout_sec is None and root.verifier.timeout_sec is not None:
            reader.warn(
                f"{key}.verifier.timeout_sec",
                f"not given: {STEP_VERIFIER_TIMEOUT:g} s, the format's default for a step, whatever [verifier] says",
            )
        steps.append(
            StepFile(
                name=table.name,
                agent=_agent(reader, table.agent, f"{key}.agent"),
                verifier=_verifier(reader, table.verifier, f"{key}.verifier"),
                min_reward=table.min_reward,
                healthcheck=_healthcheck(table.healthcheck),
                artifacts=artifacts_of(reader, table.artifacts, f"{key}.artifacts"),
            )
        )
    return tuple(steps)
