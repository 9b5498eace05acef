"""Two run cards side by side, field by field, and what a difference means for comparing their scores."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from engine.runs.card import RunCard
from engine.runs.plain_struct import plain as plain_struct

_MEANS = {
    "task_set": "the task sets differ: the scores are of different tasks",
    "tasks": "tasks, or their content, differ: only tasks of the same content can be compared",
    "acceptance": "a pass means something else on each side",
    "attempts": "another number of attempts: rates are of other things, and intervals of other widths",
    "timeout_factor": "time limits differ: one side had more time",
    "cpus_cap": "CPUs differ: one side's environments were smaller",
    "memory_mb_cap": "memory differs: one side's environments were smaller",
    "engine_version": "another engine: phases and failures may be treated otherwise",
    "allowed_host_env": "other variables of the host were there for the tasks",
    "retries": "failures were repeated under another policy",
    "exclusions": "other tasks were left out",
    "include": "other tasks were chosen",
    "exclude": "other tasks were chosen",
    "primary_metric": "another number was to be looked at first",
    "order": "trials ran in another order",
}
_CONDUCT = frozenset({"conduct", "amendments", "name"})
_ENDPOINT = re.compile(r"arms\..+\.endpoint\.\w+(\..*)?")
"""Where an arm's model is reached."""


class CardDifference(msgspec.Struct, frozen=True, kw_only=True):
    """`field` is a dotted path; values as text, "" where the field isn't there. `meaning` is set where it stands in the
    way of comparing the two scores; `conduct`: it is no part of what is measured."""

    field: str
    a: str
    b: str
    meaning: str = ""
    conduct: bool = False


def card_differences(a: RunCard, b: RunCard) -> list[CardDifference]:
    """What is measured first, conduct last. Where tasks lie and when the run was made are no differences."""
    left, right = _plain(a), _plain(b)
    found = []
    for field in sorted(set(left) | set(right)):
        before, after = left.get(field, ""), right.get(field, "")
        if before == after:
            continue
        top = field.partition(".")[0]
        found.append(
            CardDifference(field=field, a=before, b=after, meaning=_MEANS.get(top, ""), conduct=_is_conduct(field))
        )
    return sorted(found, key=lambda one: (one.conduct, not one.meaning))


def _is_conduct(field: str) -> bool:
    return field.partition(".")[0] in _CONDUCT or _ENDPOINT.fullmatch(field) is not None


def incomparable(differences: list[CardDifference]) -> list[str]:
    """What makes the two scores incomparable, in words, each once."""
    return list(dict.fromkeys(one.meaning for one in differences if one.meaning))


def _plain(card: RunCard) -> dict[str, str]:
    plain: dict[str, Any] = plain_struct(card, defaults=True)
    for key in ("run", "created"):
        plain.pop(key)
    plain["tasks"] = {task["id"]: task.get("refused") or task["digest"] for task in plain["tasks"]}
    plain["arms"] = {arm["name"]: {key: value for key, value in arm.items() if key != "name"} for arm in plain["arms"]}
    plain["exclusions"] = {one["task"]: one["reason"] for one in plain.get("exclusions", ())}
    plain["amendments"] = [f"{one['key']}: {one['before']} → {one['after']}" for one in plain.get("amendments", ())]
    return dict(_flat(plain, ""))


def _flat(value: Any, place: str) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [pair for key, item in value.items() for pair in _flat(item, f"{place}.{key}" if place else key)]
    if isinstance(value, list | tuple):
        return [(place, ", ".join(str(item) for item in value))] if value else []
    return [(place, "" if value is None else str(value))]
