"""What a run's plan says: its arms, its task set, its host, and each trial that is going to be."""

from __future__ import annotations

import msgspec

from engine.event import Event
from engine.issues import Phase
from engine.json_numbers import Whole


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an arm's model is reached from this host: no part of what is measured, so that another port is no other run.

    A key is never in here, only where it is found: a variable's name or a file's path. A value of `headers` may be
    `${VAR}`, filled from the engine's environment.
    """

    base_url: str = ""
    key_env: str = ""
    key_file: str = ""
    headers: dict[str, str] = {}


class ArmInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One configuration. `parameters` never hold a secret. From `provider` on: what a card says of the arm beside what
    its agent takes. `capsules`: what its agent is carried in with, tag -> digest."""

    name: str
    agent: str
    agent_version: str = ""
    model: str = ""
    parameters: dict[str, str] = {}
    provider: str = ""
    effort: str = ""
    tools: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    prompt_digest: str = ""
    protocol: str = ""
    temperature: float | None = None
    context_tokens: Whole | None = None
    max_output_tokens: Whole | None = None
    endpoint: Endpoint = Endpoint()
    capsules: dict[str, str] = {}


class TaskSetInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`version` is what the set calls itself (or the git commit), `digest` covers the chosen tasks' content."""

    name: str
    version: str = ""
    digest: str = ""


class HostInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The host of the Docker engine. `elsewhere`: it is not the one that trialdeck runs on."""

    name: str = ""
    cpus: float = 0
    memory_mb: Whole = 0
    docker: str = ""
    compose: str = ""
    elsewhere: bool = False


class RunPlanned(Event, frozen=True, kw_only=True):
    """First event of every run: what is going to be measured."""

    run: str
    name: str
    task_set: TaskSetInfo
    arms: tuple[ArmInfo, ...]
    tasks: Whole
    trials: Whole
    attempts: Whole = 1
    concurrency: Whole = 1
    seed: int = 0
    timeout_factor: float = 1.0
    max_cost_usd: float | None = None
    card_digest: str = ""
    engine_version: str = ""
    host: HostInfo = HostInfo()
    source: str = "trialdeck"


class TrialPlanned(Event, frozen=True, kw_only=True):
    """`limits` are seconds per phase, the timeout factor already applied; a phase without a limit is left out."""

    trial: str
    task: str
    arm: str
    attempt: Whole
    position: Whole
    cpus: float = 0
    memory_mb: Whole = 0
    limits: dict[Phase, float] = msgspec.field(default_factory=dict)
    category: str = ""
    difficulty: str = ""
