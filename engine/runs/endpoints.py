"""Where the models of a run are reached: no part of what it measures, so it can change between its sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from engine import events as ev
from engine.agents.agent import AgentConfigInvalid
from engine.agents.arms import with_model
from engine.agents.registry import AGENTS
from engine.runs.card import Amendment, CardInvalid, RunCard

PARAMETERS = ("base_url", "key_env", "key_file")
_OF_ONE_ARM = re.compile(r"([\w.@+-]{1,64})=(.+)", re.DOTALL)


def with_endpoints(card: RunCard, wanted: Mapping[str, Sequence[str]], *, by: str = "") -> RunCard:
    """`wanted`: parameter -> values, each for every arm that calls a model, or `ARM=value` for one. Every change is an
    amendment. Raises CardInvalid for an arm that isn't there and for a value that can't be one."""
    arms: dict[str, ev.ArmInfo] = {arm.name: arm for arm in card.arms}
    for parameter in PARAMETERS:
        for text in wanted.get(parameter, ()):
            for name, value in _for_arms(arms, parameter, text).items():
                arms[name] = _changed(arms[name], parameter, value)
    amendments = [
        Amendment(
            at=ev.now(), by=by, key=f"arms.{old.name}.{parameter}", before=before or "none", after=after or "none"
        )
        for old in card.arms
        for parameter in PARAMETERS
        if (before := getattr(old.endpoint, parameter)) != (after := getattr(arms[old.name].endpoint, parameter))
    ]
    if not amendments:
        return card
    return msgspec.structs.replace(card, arms=tuple(arms.values()), amendments=(*card.amendments, *amendments))


def _for_arms(arms: Mapping[str, ev.ArmInfo], parameter: str, text: str) -> dict[str, str]:
    found = _OF_ONE_ARM.fullmatch(text)
    if found is not None and not text.startswith(("http://", "https://")):
        if found[1] not in arms:
            raise CardInvalid(f"{parameter}: there is no arm {found[1]}: arms are {', '.join(arms)}")
        return {found[1]: found[2]}
    calling = [arm for arm in arms.values() if arm.agent in AGENTS and AGENTS[arm.agent].traits.calls_model]
    if not calling:
        raise CardInvalid(f"{parameter} is given, but no arm calls a model")
    addresses = {arm.endpoint.base_url for arm in calling}
    if parameter == "base_url" and len(addresses) > 1:
        said = ", ".join(f"{arm.name}: {arm.endpoint.base_url or 'the provider'}" for arm in calling)
        raise CardInvalid(f"base_url: the models of the arms are in different places ({said}): say which, ARM=URL")
    return {arm.name: text for arm in calling}


def _changed(arm: ev.ArmInfo, parameter: str, value: str) -> ev.ArmInfo:
    try:
        changed = with_model(arm, {parameter: value})
    except AgentConfigInvalid as error:
        raise CardInvalid(str(error)) from None
    if parameter == "base_url":
        return changed
    other = "key_file" if parameter == "key_env" else "key_env"  # a key comes from one place
    return msgspec.structs.replace(changed, endpoint=msgspec.structs.replace(changed.endpoint, **{other: ""}))
