"""The run card: what a run measures, frozen by a digest, and how it is conducted.

The frozen part can't change any more (a changed card is another run); conduct (concurrency, host, spend cap, kept
environments) can.
"""

from __future__ import annotations

import hashlib
import tomllib
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from engine.events import ArmInfo, HostInfo, TaskSetInfo
from engine.layout import CARD
from engine.regular_file import regular_file
from engine.runs.atomic_file import write_atomically
from engine.runs.plain_struct import plain
from engine.triage.causes import Cause
from engine.trial import acceptance
from engine.trial.job import Keep


class CardInvalid(Exception):
    """A card that can't be read; the message names the file and the key."""


class CardTask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A task of the run, by its content. `refused` says why it is not run, "" if it is."""

    id: str
    folder: str
    digest: str
    refused: str = ""


class Question(StrEnum):
    """What a comparison of the arms can answer."""

    CONTROLLED_MODEL = "controlled model"  # only the model differs
    PRODUCT = "product"  # each side as it is shipped


class Exclusion(msgspec.Struct, frozen=True, kw_only=True):
    """A task that is left out of the set, and why: said before the run."""

    task: str
    reason: str


class Split(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tasks that were looked at while the arms were made ready, and tasks that nobody looked at."""

    pilot: tuple[str, ...] = ()
    held_out: tuple[str, ...] = ()


class Amendment(msgspec.Struct, frozen=True, kw_only=True):
    """A change of conduct while the run lasted."""

    at: datetime
    by: str
    key: str
    before: str
    after: str


class Conduct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the run is carried out. None of it is part of the card's identity."""

    concurrency: int = 1
    max_cost_usd: float | None = None
    keep: Keep = Keep.NEVER
    host: HostInfo = HostInfo()
    paths: tuple[str, ...] = ()
    working_folder: str = ""


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which trials may run again, the same for every arm: those for which a person has decided one of `causes`, at most
    `most` times. One that has a verdict runs again only for a cause in `redo_verdicts`."""

    causes: tuple[Cause, ...] = (Cause.INFRASTRUCTURE, Cause.PROVIDER)
    most: int = 1
    redo_verdicts: tuple[Cause, ...] = ()

    @property
    def how_often(self) -> str:
        return {0: "never", 1: "at most once"}.get(self.most, f"at most {self.most} times")


class RunCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`cpus_cap` and `memory_mb_cap` are set where `--allow-smaller-host` caps what tasks declare. Network policies,
    resources, time limits and verifiers are those of the tasks: their digests cover them. `amendments` are of the
    conduct."""

    run: str
    name: str
    created: datetime
    engine_version: str
    arms: tuple[ArmInfo, ...]
    task_set: TaskSetInfo
    tasks: tuple[CardTask, ...]
    attempts: int = 1
    seed: int = 0
    order: str = "interleaved"
    acceptance: str = acceptance.DEFAULT
    timeout_factor: float = 1.0
    allowed_host_env: tuple[str, ...] = ()
    cpus_cap: float | None = None
    memory_mb_cap: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    retries: RetryPolicy = RetryPolicy()
    question: Question | None = None
    hypothesis: str = ""
    primary_metric: str = "resolved"
    exclusions: tuple[Exclusion, ...] = ()
    split: Split = Split()
    conduct: Conduct = Conduct()
    amendments: tuple[Amendment, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 over what defines the measurement: no names of the run, no times, places, addresses, conduct. A field
        that is said with its default counts like one that isn't."""
        return _digest_of(plain(self, defaults=False))

    def has_digest(self, digest: str) -> bool:
        """Cards once had a digest in which a default that was said counted: theirs still holds."""
        return digest in (self.digest, _digest_of(msgspec.to_builtins(self)))


def _digest_of(told: dict[str, Any]) -> str:
    for key in ("run", "name", "created", "conduct", "amendments"):
        told.pop(key, None)
    for task in told["tasks"]:
        task.pop("folder", None)
    for arm in told["arms"]:
        arm.pop("endpoint", None)
    return hashlib.sha256(msgspec.json.encode(told, order="deterministic")).hexdigest()


def write_card(folder: Path, card: RunCard) -> None:
    told = _without_none(msgspec.to_builtins(card, builtin_types=(datetime,)))
    write_atomically(folder / CARD, tomli_w.dumps({"digest": card.digest, **told}).encode())


def read_card(folder: Path) -> RunCard:
    """Raises CardInvalid, also where the card's frozen part no longer has the digest written in it."""
    path = folder / CARD
    try:
        with regular_file(path) as file:
            told = tomllib.loads(file.read().decode("utf-8"))
        written = str(told.pop("digest", ""))
        card = msgspec.convert(told, RunCard)
    except OSError as error:
        raise CardInvalid(f"{path}: {error.strerror or error}; is {folder} a run folder?") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CardInvalid(f"{path}: {error}") from None
    if not card.has_digest(written):
        raise CardInvalid(
            f"{path}: the frozen part was changed after the run began (digest {card.digest[:12]}, expected "
            f"{written[:12]}); a changed card is another run: start it with `trialdeck run`"
        )
    return card


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
