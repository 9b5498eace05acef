"""What Codex can take, in general and as one arm has it."""

from __future__ import annotations

import re

import msgspec

from engine.agents.agent import AgentConfigInvalid, AgentTraits
from engine.agents.capsules import codex as capsule
from engine.agents.capsules.node import NODE_TAG
from engine.agents.capsules.python_v1 import PYTHON_TAG
from engine.events import ArmInfo
from engine.models.settings import Wire

CAPSULE, NPM = "capsule", "npm"
RUNTIMES = (PYTHON_TAG, NODE_TAG)
WEB_SEARCH = ("disabled", "cached", "live")
_VERSION = re.compile(r"\d+(?:\.\d+){2}(?:-[0-9a-z.]+)?", re.ASCII)

TRAITS = AgentTraits(
    name="codex",
    version=capsule.VERSION,
    summary="OpenAI's Codex CLI, in main; calls its model through the engine",
    wires=(Wire.OPENAI_RESPONSES,),
    mcp=frozenset({"stdio", "streamable-http"}),
    takes_skills=True,
    capsules=(capsule.tag_of(capsule.VERSION), PYTHON_TAG),
    needs_gateway=True,
    parameters={
        "version": f"the version of the CLI ({capsule.VERSION}, if not given)",
        "install": "capsule: it is carried in (if not given); npm: installed in main, over its network",
        "setup_capsule_tag": f"the capsule with the runtime that its way to the model needs: {PYTHON_TAG} (if not "
        f"given) or {NODE_TAG}; with install=npm {NODE_TAG}, or the image's own Node.js (if not given)",
        "web_search": "the model provider's own search of the web: disabled (if not given), cached or live",
    },
)


class CodexArm(msgspec.Struct, frozen=True, kw_only=True):
    """`runtime` is a capsule's tag, "" for the Node.js of the image."""

    version: str
    install: str
    runtime: str
    web_search: str

    @property
    def capsules(self) -> tuple[str, ...]:
        program = (capsule.tag_of(self.version),) if self.install == CAPSULE else ()
        return (*program, self.runtime) if self.runtime else program


def configured(arm: ArmInfo) -> CodexArm:
    """Raises AgentConfigInvalid for what can't work, what Codex has no setting for included."""
    given, what = arm.parameters, f"arm {arm.name}"
    install = given.get("install", CAPSULE)
    if install not in (CAPSULE, NPM):
        raise AgentConfigInvalid(f'{what}: install is "{install}", expected {CAPSULE} or {NPM}')
    runtime = given.get("setup_capsule_tag", PYTHON_TAG if install == CAPSULE else "")
    fit = RUNTIMES if install == CAPSULE else (NODE_TAG,)
    if runtime not in fit and (runtime or install == CAPSULE):
        raise AgentConfigInvalid(f'{what}: setup_capsule_tag is "{runtime}", expected {" or ".join(fit)}')
    web_search = given.get("web_search", WEB_SEARCH[0])
    if web_search not in WEB_SEARCH:
        raise AgentConfigInvalid(f'{what}: web_search is "{web_search}", expected {", ".join(WEB_SEARCH)}')
    version = given.get("version", capsule.VERSION)
    if not _VERSION.fullmatch(version):
        raise AgentConfigInvalid(f'{what}: version is "{version}", expected one like {capsule.VERSION}')
    for key, value in (("temperature", arm.temperature), ("max_output_tokens", arm.max_output_tokens)):
        if value is not None:
            raise AgentConfigInvalid(f"{what}: {key} is {value:g}, but Codex has no setting for it")
    return CodexArm(version=version, install=install, runtime=runtime, web_search=web_search)


def traits_for(arm: ArmInfo) -> AgentTraits:
    """Raises AgentConfigInvalid."""
    found = configured(arm)
    return msgspec.structs.replace(
        TRAITS, version=found.version, capsules=found.capsules, installs_over_network=found.install == NPM
    )
