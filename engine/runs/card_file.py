"""A run card as a person writes it, before there is a run: read, resolved into what a run pins, frozen.

Paths in it are relative to its own folder. `[frozen]` is written by `freeze`: what the card resolved to then. From then
on it resolves to exactly that, or is refused.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from engine import events as ev
from engine.agents.agent import AgentConfigInvalid, AgentMissing, AgentUnavailable
from engine.agents.arms import arm_name, check_arm_name, check_parameters, checked, takes, with_model
from engine.agents.registry import AGENTS
from engine.layout import CARD
from engine.runs.atomic_file import write_atomically
from engine.runs.card import (
    CardInvalid,
    CardTask,
    Conduct,
    Exclusion,
    Question,
    RetryPolicy,
    RunCard,
    Split,
)
from engine.tasks.task_set import TaskSet, TaskSetInvalid, find_tasks
from engine.trial import acceptance
from engine.trial.acceptance import RuleInvalid, read_rule
from engine.trial.job import Keep
from engine.version import VERSION

SUFFIX = ".toml"


class DraftArm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`prompt` is a file whose digest is pinned. From `protocol` on: how the model is called, as MODEL_PARAMETERS has
    it; `base_url`, `key_env`, `key_file` and `headers` say where it is reached, and are no part of what is measured."""

    agent: str
    name: str = ""
    model: str = ""
    provider: str = ""
    effort: str = ""
    parameters: dict[str, str] = {}
    tools: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    prompt: str = ""
    protocol: str = ""
    temperature: float | None = None
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    base_url: str = ""
    key_env: str = ""
    key_file: str = ""
    headers: dict[str, str] = {}

    def calling(self, base: Path) -> dict[str, str]:
        """How the model is called, as text like that of an arm on the command line. `base` is the card's folder."""
        said = {name: getattr(self, name) for name in ("protocol", "base_url", "key_env", "key_file")}
        numbers = {name: getattr(self, name) for name in ("temperature", "context_tokens", "max_output_tokens")}
        headers = "; ".join(f"{name}: {value}" for name, value in self.headers.items())
        plain = {**said, **{name: str(value) for name, value in numbers.items() if value is not None}}
        if self.key_file and not self.key_file.startswith("~"):
            plain["key_file"] = str(base / self.key_file)
        return {key: value for key, value in {**plain, "headers": headers}.items() if value}


class DraftTaskSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`version` (a commit) and `digest` are checked where they are given."""

    paths: tuple[str, ...]
    include: tuple[str, ...] = ()
    version: str = ""
    digest: str = ""
    exclusions: tuple[Exclusion, ...] = ()


class DraftConduct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    concurrency: int = 4
    max_cost_usd: float | None = None
    keep: Keep = Keep.NEVER


class Frozen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the card resolved to when it was frozen. `digest` is that of the run card before a run pins capsules."""

    digest: str
    engine_version: str
    task_set_version: str = ""
    task_set_digest: str = ""
    tasks: dict[str, str] = {}


class CardDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    arms: tuple[DraftArm, ...]
    task_set: DraftTaskSet
    question: Question | None = None
    hypothesis: str = ""
    primary_metric: str = "resolved"
    acceptance: str = acceptance.DEFAULT
    attempts: int = 1
    seed: int = 0
    timeout_factor: float = 1.0
    allow_host_env: tuple[str, ...] = ()
    retries: RetryPolicy = RetryPolicy()
    split: Split = Split()
    conduct: DraftConduct = DraftConduct()
    frozen: Frozen | None = None


def read_draft(path: Path) -> CardDraft:
    """Raises CardInvalid, which names the file and the key."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
        if path.name == CARD and "digest" in told and "run" in told:
            raise CardInvalid(
                f"{path}: the card of a run, pinned when it began: `trialdeck resume {path.parent}` goes on with it; "
                "a run of its own needs a card of its own"
            )
        draft = msgspec.convert(told, CardDraft)
    except OSError as error:
        raise CardInvalid(f"{path}: {error.strerror or error}; `trialdeck card new {path}` writes one") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CardInvalid(f"{path}: {error}") from None
    for key, value in (("attempts", draft.attempts), ("conduct.concurrency", draft.conduct.concurrency)):
        if value < 1:
            raise CardInvalid(f"{path}: {key} is {value}, expected at least 1")
    if not 0 < draft.timeout_factor < float("inf"):
        raise CardInvalid(f"{path}: timeout_factor is {draft.timeout_factor:g}, expected a number above 0")
    try:
        read_rule(draft.acceptance)
    except RuleInvalid as error:
        raise CardInvalid(f"{path}: {error}") from None
    for exclusion in draft.task_set.exclusions:
        if not exclusion.reason.strip():
            raise CardInvalid(f"{path}: task_set.exclusions: {exclusion.task} is left out without a reason")
    return draft


def resolve(path: Path, draft: CardDraft, *, freezes: bool = False) -> tuple[RunCard, TaskSet]:
    """The card that a run of this draft would pin, and its tasks. It has neither the run's name of itself nor a host.
    An arm whose agent isn't on this host is a part of it, but not where the card is frozen (`freezes`: or will be).

    Raises CardInvalid, also where a frozen draft no longer resolves to what it was.
    """
    base = path.resolve().parent
    task_set = _tasks(path, base, draft.task_set)
    arms = _arms(path, base, draft.arms, is_frozen=draft.frozen is not None or freezes)
    _check_split(path, draft.split, task_set)
    broken = {entry.id: entry for entry in task_set.broken}
    tasks = [CardTask(id=task.id, folder=str(task.folder), digest=task.digest) for task in task_set.tasks]
    tasks += [
        CardTask(id=entry.id, folder=str(entry.folder), digest="", refused=entry.issue.message)
        for entry in broken.values()
    ]
    card = RunCard(
        run="",
        name=draft.name,
        created=ev.now(),
        engine_version=VERSION,
        arms=tuple(arms),
        task_set=ev.TaskSetInfo(name=task_set.name, version=task_set.version, digest=task_set.digest),
        tasks=tuple(sorted(tasks, key=lambda task: task.id)),
        attempts=draft.attempts,
        seed=draft.seed,
        acceptance=draft.acceptance,
        timeout_factor=draft.timeout_factor,
        allowed_host_env=draft.allow_host_env,
        include=draft.task_set.include,
        retries=draft.retries,
        question=draft.question,
        hypothesis=draft.hypothesis,
        primary_metric=draft.primary_metric,
        exclusions=draft.task_set.exclusions,
        split=draft.split,
        conduct=Conduct(
            concurrency=draft.conduct.concurrency, max_cost_usd=draft.conduct.max_cost_usd, keep=draft.conduct.keep
        ),
    )
    if draft.frozen is not None:
        _check_frozen(path, draft.frozen, card)
    return card, task_set


def freeze(path: Path) -> RunCard:
    """Write what the card resolves to now into its file; its own text, comments included, stays. Raises CardInvalid."""
    draft = read_draft(path)
    card, task_set = resolve(path, draft, freezes=True)
    if draft.frozen is not None:
        return card
    if task_set.broken:
        broken = "; ".join(f"{entry.id}: {entry.issue.message}" for entry in task_set.broken)
        raise CardInvalid(f"{path}: a card with broken tasks can't be frozen: {broken}")
    frozen = Frozen(
        digest=card.digest,
        engine_version=card.engine_version,
        task_set_version=card.task_set.version,
        task_set_digest=card.task_set.digest,
        tasks={task.id: task.digest for task in card.tasks},
    )
    text = path.read_text(encoding="utf-8").rstrip("\n")
    added = tomli_w.dumps({"frozen": msgspec.to_builtins(frozen)})
    try:
        write_atomically(path, f"{text}\n\n{added}".encode())
    except OSError as error:
        raise CardInvalid(f"{path}: can't be written: {error.strerror or error}") from None
    return card


def _tasks(path: Path, base: Path, wanted: DraftTaskSet) -> TaskSet:
    try:
        every = find_tasks([base / one for one in wanted.paths], wanted.include)
        found = find_tasks(
            [base / one for one in wanted.paths], wanted.include, [one.task for one in wanted.exclusions]
        )
    except TaskSetInvalid as error:
        raise CardInvalid(f"{path}: task_set: {error}") from None
    known = _ids(every)
    for exclusion in wanted.exclusions:
        if exclusion.task not in known:
            raise CardInvalid(f"{path}: task_set.exclusions: there is no task {exclusion.task}")
    for key, expected, actual in (
        ("version", wanted.version, found.version),
        ("digest", wanted.digest, found.digest),
    ):
        if expected and not actual.startswith(expected):
            raise CardInvalid(f"{path}: task_set.{key} is {expected}, the tasks are at {actual or 'no version'}")
    return found


def _ids(task_set: TaskSet) -> set[str]:
    return {task.id for task in task_set.tasks} | {entry.id for entry in task_set.broken}


def _arms(path: Path, base: Path, drafts: Sequence[DraftArm], *, is_frozen: bool) -> list[ev.ArmInfo]:
    """A frozen card holds the version of every agent, and can't be held against one that isn't here."""
    if not drafts:
        raise CardInvalid(f"{path}: arms is empty, expected one or more")
    arms: list[ev.ArmInfo] = []
    for number, draft in enumerate(drafts, 1):
        place = f"{path}: arms, entry {number}"
        name = draft.name or arm_name(draft.agent, draft.parameters)
        try:
            check_arm_name(name)
            traits = AGENTS[draft.agent].traits if draft.agent in AGENTS else None
            calling = draft.calling(base)
            if traits is not None:
                check_parameters(traits, draft.parameters, place)
                check_parameters(traits, calling, place)
            own = {key for key in draft.parameters if traits is None or takes(traits, key)}
            if twice := sorted((draft.parameters.keys() - own) & _said(draft, calling)):
                raise AgentConfigInvalid(f"{twice[0]} is said twice: as a key of the arm and in its parameters")
            arm = ev.ArmInfo(
                name=name,
                agent=draft.agent,
                agent_version=traits.version if traits is not None else "",
                model=draft.model,
                parameters={key: value for key, value in draft.parameters.items() if key in own},
                provider=draft.provider,
                effort=draft.effort,
                tools=draft.tools,
                mcp=draft.mcp,
                skills=draft.skills,
                prompt_digest=_file_digest(base / draft.prompt, place) if draft.prompt else "",
            )
            if traits is not None:
                arm = with_model(
                    arm, {**calling, **{key: value for key, value in draft.parameters.items() if key not in own}}
                )
            try:
                arm = checked(arm)
            except AgentMissing:
                if is_frozen:
                    raise  # which version it pins can't be known here
            except AgentUnavailable:
                pass  # the plan refuses its trials, and the other arms run
        except AgentConfigInvalid as error:
            raise CardInvalid(f"{place}: {error}") from None
        if any(other.name == arm.name for other in arms):
            raise CardInvalid(f'{place}: two arms are named "{arm.name}": names must differ')
        arms.append(arm)
    return arms


def _said(draft: DraftArm, calling: Mapping[str, str]) -> set[str]:
    return {*calling, *(key for key in ("model", "effort") if getattr(draft, key))}


def _file_digest(path: Path, place: str) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise CardInvalid(f"{place}: prompt {path}: {error.strerror or error}") from None


def _check_split(path: Path, split: Split, task_set: TaskSet) -> None:
    known = _ids(task_set)
    for key, tasks in (("pilot", split.pilot), ("held_out", split.held_out)):
        for task in tasks:
            if task not in known:
                raise CardInvalid(f"{path}: split.{key}: there is no task {task}")
    both = sorted(set(split.pilot) & set(split.held_out))
    if both:
        raise CardInvalid(f"{path}: split: {both[0]} is both pilot and held out")


def _check_frozen(path: Path, frozen: Frozen, card: RunCard) -> None:
    if card.has_digest(frozen.digest):
        return
    changes: list[str] = []
    for task in card.tasks:
        before = frozen.tasks.get(task.id)
        if before != task.digest:
            changes.append(f"task {task.id} " + ("is new" if before is None else "has other content"))
    changes += [f"task {task} is gone" for task in frozen.tasks if task not in {one.id for one in card.tasks}]
    facts: list[tuple[str, Any, Any]] = [
        ("engine_version", frozen.engine_version, card.engine_version),
        ("the task set's version", frozen.task_set_version, card.task_set.version),
    ]
    changes += [f"{name} was {before or '—'}, is {now or '—'}" for name, before, now in facts if before != now]
    said = "; ".join(changes[:5]) or "what the card itself says was changed"
    raise CardInvalid(
        f"{path}: the card is frozen and no longer what it was: {said}. A changed card is another one: "
        "take its [frozen] part out, under another name"
    )
