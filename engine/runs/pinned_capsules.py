"""The capsules of a run's arms, by their digests: every trial gets the same bytes, and a comparison says so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec

from engine.agents.capsules.build import find_or_build
from engine.agents.capsules.capsule import CapsuleUnusable
from engine.agents.capsules.store import find
from engine.events import ArmInfo
from engine.runs.agent_refusals import ArmFit, unavailable

NOT_BUILT = ""
"""In place of a digest, in a plan that is only shown."""


def pinned(
    arms: Sequence[ArmInfo], fits: dict[str, ArmFit], say: Callable[[str], None], *, only: Collection[str]
) -> tuple[list[ArmInfo], dict[str, ArmFit]]:
    """The arms with what carries their agents in; what isn't there is built, which takes minutes where it downloads.
    `only` are the names of arms that have something to run. An arm is unfit whose program can't be carried in; an agent
    of this host can do without where an image has what it needs (tmux), so that is only said."""
    made: list[ArmInfo] = []
    unfit: dict[str, ArmFit] = {}
    for arm in arms:
        traits = fits[arm.name].traits
        if traits is None or arm.name not in only or not traits.capsules:
            made.append(arm)
            continue
        try:
            digests = {tag: find_or_build(tag, say).digest for tag in traits.capsules}
        except CapsuleUnusable as error:
            say(f"arm {arm.name}: {error}")
            if traits.needs_gateway:
                unfit[arm.name] = ArmFit(traits=traits, problems=(unavailable(f"arm {arm.name}: {error}"),))
            made.append(arm)
            continue
        made.append(msgspec.structs.replace(arm, capsules=digests))
    return made, {**fits, **unfit}


def shown(arms: Sequence[ArmInfo], fits: dict[str, ArmFit]) -> list[ArmInfo]:
    """The arms with the capsules that they would have, nothing built: NOT_BUILT stands for the digest of one that isn't
    there or isn't sound."""
    return [
        msgspec.structs.replace(arm, capsules={tag: _digest(tag) for tag in traits.capsules})
        if (traits := fits[arm.name].traits) is not None
        else arm
        for arm in arms
    ]


def _digest(tag: str) -> str:
    try:
        found = find(tag)
    except CapsuleUnusable:
        return NOT_BUILT
    return found.digest if found is not None else NOT_BUILT
