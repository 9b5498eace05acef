"""Variables of the host that a task asks for: `${VAR}` and `${VAR:-default}` in its tables of variables.

As in Harbor a value is a request only if all of it is one; inside a longer value `${VAR}` is text. Whatever
is no request arrives as written, byte for byte, and so does what is put in place of one: nothing is expanded
twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from engine.tasks.task import Task
from engine.tasks.toml_table import joined

_REQUEST = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}", re.DOTALL)
_INSIDE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")


class HostVariable(msgspec.Struct, frozen=True, kw_only=True):
    """A request: `key` is where it stands (`environment.env.TOKEN`), `name` the host's variable.

    `default` is None where the task gives none: then a value is needed.
    """

    key: str
    name: str
    default: str | None = None


class ResolvedEnv(msgspec.Struct, frozen=True, kw_only=True):
    """`env` lacks the variables of `missing`; `asked` holds every request, those of `missing` included."""

    env: dict[str, str]
    asked: tuple[HostVariable, ...] = ()
    missing: tuple[HostVariable, ...] = ()


def resolve_env(table: Mapping[str, str], allowed: Mapping[str, str], key: str = "env") -> ResolvedEnv:
    """Fill in one table. `allowed` maps the names that the user allowed, and the host has, to their values.

    `key` is the table's dotted key. A name that isn't in `allowed` gets its default, else it is missing.
    """
    env: dict[str, str] = {}
    asked: list[HostVariable] = []
    missing: list[HostVariable] = []
    for variable, value in table.items():
        request = _request(joined(key, variable), value)
        if request is None:
            env[variable] = value
            continue
        asked.append(request)
        if request.name in allowed:
            env[variable] = allowed[request.name]
        elif request.default is not None:
            env[variable] = request.default
        else:
            missing.append(request)
    return ResolvedEnv(env=env, asked=tuple(asked), missing=tuple(missing))


def env_tables(task: Task) -> dict[str, dict[str, str]]:
    """Every table of a task that may ask for variables of the host, by its dotted key. Steps go by their
    names.
    """
    tables = {"environment.env": task.environment.env, "verifier.env": task.verifier.env}
    if task.verifier.environment is not None:
        tables["verifier.environment.env"] = task.verifier.environment.env
    tables["solution.env"] = task.solution_env
    for step in task.steps:
        own = {name: value for name, value in step.verifier.env.items() if task.verifier.env.get(name) != value}
        tables[joined("steps", step.name) + ".verifier.env"] = own
        environment = step.verifier.environment
        if environment is not None and environment.env != tables.get("verifier.environment.env"):
            tables[joined("steps", step.name) + ".verifier.environment.env"] = environment.env
    return tables


def asked_by(task: Task) -> tuple[HostVariable, ...]:
    """Every variable of the host that the task asks for."""
    return tuple(request for key, table in env_tables(task).items() for request in resolve_env(table, {}, key).asked)


def missing_for(task: Task, allowed: Mapping[str, str]) -> tuple[HostVariable, ...]:
    """The requests that stay without a value: where there are any, the plan refuses the task."""
    return tuple(
        request for key, table in env_tables(task).items() for request in resolve_env(table, allowed, key).missing
    )


def requests_inside_text(task: Task) -> Iterator[tuple[str, str]]:
    """(key, name) of each `${VAR}` that is only a part of a value: it arrives as text, which a task may
    not expect.
    """
    for key, table in env_tables(task).items():
        for variable, value in table.items():
            if _REQUEST.fullmatch(value) is None and (found := _INSIDE.search(value)):
                yield joined(key, variable), found[1]


def _request(key: str, value: str) -> HostVariable | None:
    found = _REQUEST.fullmatch(value)
    return HostVariable(key=key, name=found[1], default=found[2]) if found else None
