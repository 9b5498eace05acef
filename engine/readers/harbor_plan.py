"""What a Harbor job measures: from its config.json, lock.json and result.json, whichever can be read."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path, PurePosixPath

from engine import events as ev
from engine.readers import json_values as values
from engine.readers.foreign_times import in_utc
from engine.readers.told_parameters import told_parameters

MOST_TRIALS = 200_000
_CONDUCT = frozenset(
    {"name", "import_path", "model_name", "n_concurrent", "concurrency_group", "model_api_key_name", "env"}
    | {"skip_model_parsing", "mcp_servers", "base_url", "include_logs", "exclude_logs"}
)
"""Fields of an agent that are its name, how it is run, or may lead to a secret; the others tell arms apart."""


class HarborPlan:
    """The three files as one plan. `told` anew with each look; names of arms and tasks stay as they were given once.

    Tasks are named by their folder (or package): trials that run know no other name yet. Arms are named by model and
    agent; parameters are added where the job has several that only those tell apart.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.job_id = ""
        self.arms: dict[str, ev.ArmInfo] = {}
        self.assigned: Counter[tuple[str, str]] = Counter()
        self.total = 0
        self.attempts = 1
        self.concurrency = 1
        self.timeout_factor = 1.0
        self.retries = 0
        self.created_at: datetime | None = None
        self.harbor_version = ""
        self._arm_of: dict[tuple[str, ...], str] = {}
        self._task_of: dict[str, str] = {}
        self._name = folder.name
        self._task_set = ev.TaskSetInfo(name="adhoc")

    def tell(self, config: object, lock: object, result: object) -> None:
        """Take over what these say now; None where one can't be read."""
        self.job_id = values.text(values.within(result, "id")) or self.job_id
        self._name = values.text(values.within(config, "job_name")) or self.folder.name
        self.attempts = values.count(values.within(config, "n_attempts")) or 1
        self.concurrency = (
            values.count(values.within(config, "n_concurrent_trials"))
            or values.count(values.within(lock, "n_concurrent_trials"))
            or 1
        )
        self.timeout_factor = values.number(values.within(config, "timeout_multiplier")) or 1.0
        self.retries = values.count(values.within(result, "stats", "n_retries")) or 0
        self.created_at = in_utc(values.within(lock, "created_at")) or self.created_at
        self.harbor_version = values.text(values.within(lock, "harbor", "version"))
        locked = values.rows(values.within(lock, "trials"))[:MOST_TRIALS]
        self.total = values.count(values.within(result, "n_total_trials")) or len(locked)
        agents = values.rows(values.within(config, "agents")) or [values.mapping(row.get("agent")) for row in locked]
        self._name_arms(agents)
        self._name_tasks(row.get("task") for row in locked)
        self.assigned = Counter(
            (self.task_of(row.get("task")), self.arm_of(row.get("agent"))) for row in locked
        ) or self._from_config(config)
        self._task_set = _task_set(config, locked)

    def planned(self, at: datetime, trials: int, versions: dict[str, str]) -> ev.RunPlanned:
        """`trials` are known so far; `versions` of agents come from the first trial of each arm that is over."""
        arms = tuple(
            ev.ArmInfo(
                name=arm.name,
                agent=arm.agent,
                agent_version=versions.get(arm.name, ""),
                model=arm.model,
                parameters=arm.parameters,
            )
            for arm in self.arms.values()
        )
        return ev.RunPlanned(
            at=at,
            run=self.job_id or self.folder.name,
            name=self._name,
            task_set=self._task_set,
            arms=arms,
            tasks=len({task for task, _ in self.assigned}),
            trials=max(self.total, trials),
            attempts=self.attempts,
            concurrency=self.concurrency,
            timeout_factor=self.timeout_factor,
            engine_version=f"Harbor {self.harbor_version}".strip(),
            source="harbor",
        )

    def arm_of(self, agent: object) -> str:
        key = _key(agent)
        if key not in self._arm_of:
            self._name_arms([values.mapping(agent)])
        return self._arm_of[key]

    def task_of(self, task: object) -> str:
        """From a trial's config or lock."""
        where = _where(task)
        return self._task_of.get(where) or _short(where) or "unnamed"

    def _name_arms(self, agents: Iterable[dict[str, object]]) -> None:
        new = {key: agent for agent in agents if (key := _key(agent)) not in self._arm_of}
        plain = Counter(_plain_name(agent) for agent in new.values())
        for key, agent in new.items():
            name = _plain_name(agent)
            parameters = _parameters(agent)
            if plain[name] > 1 or name in self.arms:
                name = " ".join([name, *(f"{field}={said}" for field, said in sorted(parameters.items()))])
            base, number = name, 1
            while name in self.arms:
                number += 1
                name = f"{base} #{number}"
            self._arm_of[key] = name
            self.arms[name] = ev.ArmInfo(
                name=name, agent=_agent_name(agent), model=values.text(agent.get("model_name")), parameters=parameters
            )

    def _name_tasks(self, tasks: Iterable[object]) -> None:
        """Two tasks of the same name are told apart by where they lie."""
        places = dict.fromkeys(where for task in tasks if (where := _where(task)) and where not in self._task_of)
        short = Counter(_short(where) for where in [*places, *self._task_of])
        for where in places:
            parts = PurePosixPath(where).parts
            self._task_of[where] = "/".join(parts[-2:]) if short[_short(where)] > 1 else _short(where)

    def _from_config(self, config: object) -> Counter[tuple[str, str]]:
        """Without a lock: what the config lists by itself; the tasks of a data set are not known then."""
        tasks = [self.task_of(task) for task in values.rows(values.within(config, "tasks"))]
        return Counter({(task, arm): self.attempts for task in tasks for arm in self.arms})


def _agent_name(agent: dict[str, object]) -> str:
    return values.text(agent.get("name")) or values.text(agent.get("import_path")) or "oracle"


def _plain_name(agent: dict[str, object]) -> str:
    return " ".join(part for part in (values.text(agent.get("model_name")), _agent_name(agent)) if part)


def _parameters(agent: dict[str, object]) -> dict[str, str]:
    told = {name: value for name, value in agent.items() if name not in _CONDUCT}
    servers = [values.text(server.get("name")) for server in values.rows(agent.get("mcp_servers"))]
    return told_parameters({**told, "mcp_servers": servers})


def _key(agent: object) -> tuple[str, ...]:
    """The same for a config, which writes nulls, and a lock, which leaves them out."""
    said = values.mapping(agent)
    return (_plain_name(said), *(f"{name}={value}" for name, value in sorted(_parameters(said).items())))


def _where(task: object) -> str:
    said = values.mapping(task)
    return values.text(said.get("path")) or values.text(said.get("name"))


def _short(where: str) -> str:
    return PurePosixPath(where).name


def _task_set(config: object, locked: list[dict[str, object]]) -> ev.TaskSetInfo:
    names, versions = [], []
    for row in values.rows(values.within(config, "datasets")):
        names.append(values.text(row.get("name")) or _short(values.text(row.get("path"))))
        versions.append(values.text(row.get("version")) or values.text(row.get("ref")))
    digests = sorted({values.text(values.within(row, "task", "digest")) for row in locked} - {""})
    digest = hashlib.sha256("\n".join(digests).encode("utf-8", "backslashreplace")).hexdigest() if digests else ""
    return ev.TaskSetInfo(
        name=", ".join(name for name in names if name) or "adhoc",
        version=", ".join(version for version in versions if version),
        digest=f"sha256:{digest}" if digest else "",
    )
