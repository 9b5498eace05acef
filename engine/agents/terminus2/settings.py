"""The parameters of terminus2 that are not its model's."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine.agents.agent import AgentConfigInvalid
from engine.agents.terminus2.limits import PARAMETERS as LIMITS
from engine.agents.terminus2.limits import Limits, limits_of

PARAMETERS: dict[str, str] = {
    "answers": "what the model answers in: json or xml (json, if not given)",
    "waits": "early: a wait ends once the shell is back at its prompt; full: it never does (early, if not given)",
    "summarise": "on: a conversation that fills the context goes on from notes; off: it ends (on, if not given)",
    **LIMITS,
}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    answers: str = "json"
    ends_early: bool = True
    summarises: bool = True
    limits: Limits = Limits()


def settings_of(parameters: Mapping[str, str], what: str) -> Settings:
    """Raises AgentConfigInvalid, which begins with `what`."""
    return Settings(
        answers=_one_of(parameters, "answers", ("json", "xml"), what),
        ends_early=_one_of(parameters, "waits", ("early", "full"), what) == "early",
        summarises=_one_of(parameters, "summarise", ("on", "off"), what) == "on",
        limits=limits_of(parameters, what),
    )


def _one_of(parameters: Mapping[str, str], key: str, choices: tuple[str, ...], what: str) -> str:
    """The first choice where the parameter isn't given."""
    value = parameters.get(key, choices[0])
    if value not in choices:
        raise AgentConfigInvalid(f"{what}: {key} is {value}, expected {' or '.join(choices)}")
    return value
