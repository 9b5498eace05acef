"""What mini-swe-agent can take, in general and as one arm has it."""

from __future__ import annotations

import math
import re

import msgspec

from engine.agents.agent import AgentConfigInvalid, AgentTraits
from engine.agents.capsules import mini_swe_agent as capsule
from engine.events import ArmInfo
from engine.models.settings import Wire

CAPSULE, PIP = "capsule", "pip"
_VERSION = re.compile(r"2\.\d+\.\d+(?:\.?[a-z]+\d+)?", re.ASCII)
_WHOLE = re.compile(r"[1-9]\d{0,8}", re.ASCII)

TRAITS = AgentTraits(
    name="mini_swe_agent",
    version=capsule.VERSION,
    summary="mini-swe-agent, which works by shell commands alone, in main; calls its model through the engine",
    wires=(Wire.OPENAI_CHAT, Wire.ANTHROPIC, Wire.OPENAI_RESPONSES),
    capsules=(capsule.tag_of(capsule.VERSION),),
    needs_gateway=True,
    parameters={
        "version": f"its version, 2.0.0 or later ({capsule.VERSION}, if not given)",
        "install": "capsule: it is carried in with a Python of its own (if not given); pip: installed in main, by the "
        "image's Python and over its network",
        "setup_capsule_tag": f"the capsule that carries it in, {capsule.tag_of('VERSION')}: says the version as well",
        "step_limit": "the most answers of the model (any number, if not given)",
        "cost_limit": "the most money in USD, as its own price table has it (any amount, if not given)",
        "command_timeout_sec": "how long a command may take (its own 30 s, if not given)",
    },
)


class MiniSweAgentArm(msgspec.Struct, frozen=True, kw_only=True):
    """Limits: 0 is none; `command_timeout_sec` None: its own."""

    version: str
    install: str
    step_limit: int
    cost_limit: float
    command_timeout_sec: int | None

    @property
    def capsules(self) -> tuple[str, ...]:
        return (capsule.tag_of(self.version),) if self.install == CAPSULE else ()


def configured(arm: ArmInfo) -> MiniSweAgentArm:
    """Raises AgentConfigInvalid for what can't work."""
    given, what = arm.parameters, f"arm {arm.name}"
    install = given.get("install", CAPSULE)
    if install not in (CAPSULE, PIP):
        raise AgentConfigInvalid(f'{what}: install is "{install}", expected {CAPSULE} or {PIP}')
    version = given.get("version", capsule.VERSION)
    if tag := given.get("setup_capsule_tag", ""):
        told = tag.removeprefix(capsule.tag_of(""))
        if install == PIP or told == tag or given.get("version", told) != told:
            raise AgentConfigInvalid(
                f'{what}: setup_capsule_tag is "{tag}", expected {capsule.tag_of("VERSION")}, without install={PIP} '
                "and without another version beside it"
            )
        version = told
    if not _VERSION.fullmatch(version):
        raise AgentConfigInvalid(f'{what}: version is "{version}", expected 2.0.0 or later, as {capsule.VERSION}')
    seconds = _whole(given.get("command_timeout_sec"), "command_timeout_sec", what)
    return MiniSweAgentArm(
        version=version,
        install=install,
        step_limit=_whole(given.get("step_limit"), "step_limit", what) or 0,
        cost_limit=_amount(given.get("cost_limit"), "cost_limit", what),
        command_timeout_sec=seconds,
    )


def traits_for(arm: ArmInfo) -> AgentTraits:
    """Raises AgentConfigInvalid."""
    found = configured(arm)
    return msgspec.structs.replace(
        TRAITS, version=found.version, capsules=found.capsules, installs_over_network=found.install == PIP
    )


def _whole(text: str | None, key: str, what: str) -> int | None:
    if text is None:
        return None
    if not _WHOLE.fullmatch(text):
        raise AgentConfigInvalid(f"{what}: {key} is {text}, expected a whole number above 0")
    return int(text)


def _amount(text: str | None, key: str, what: str) -> float:
    try:
        found = float(text) if text is not None else 0.0
    except ValueError:
        found = math.nan
    if text is not None and not 0 < found < math.inf:
        raise AgentConfigInvalid(f"{what}: {key} is {text}, expected an amount of USD above 0")
    return found
