"""How an arm is written: `NAME[:key=value,…]`. What the agent takes and what says which model it works with stand in
one list."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from engine.agents.agent import AgentConfigInvalid, AgentTraits, AgentUnavailable
from engine.agents.registry import AGENTS, make_agent, traits_of
from engine.events import ArmInfo, Endpoint
from engine.models.scrubbed import scrubbed
from engine.models.settings import Wire

MODEL_PARAMETERS: dict[str, str] = {
    "model": "the model's name, as its server knows it",
    "protocol": f"what the server speaks: {', '.join(Wire)} (the agent's first, if not given)",
    "base_url": "the server's address (the provider's own, if not given)",
    "key_env": "the variable that holds the key (OPENAI_API_KEY or ANTHROPIC_API_KEY, if not given)",
    "key_file": "a file that holds the key and nothing else",
    "effort": "how hard the model shall think, in the provider's words",
    "temperature": "the sampling temperature (the provider's own, if not given)",
    "context_tokens": "how many tokens the model can hold",
    "max_output_tokens": "the most tokens of one answer",
    "headers": "extra headers, `Name: value; Name: value`; a value may be ${VAR}",
}
"""What every agent that calls a model takes beside its own parameters."""

ANY_NAME = ".*"
"""How the name of a parameter ends that stands for many: `kwargs.*` takes `kwargs.version` and whatever else."""

NO_DEFAULTS: Mapping[str, str] = {}

_PAIR = re.compile(r"([a-z_]+(?:\.\w+)?)=((?:[^,\\]|\\.)*)(?:,|$)", re.DOTALL)
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_OF_A_VARIABLE = re.compile(r"(?:\w+ )?\$\{\w+\}", re.ASCII)


def parse_arm(text: str, name: str | None = None, defaults: Mapping[str, str] = NO_DEFAULTS) -> ArmInfo:
    """`replay:sessions=recorded` -> an arm. A comma in a value is written `\\,`, and a backslash may be written `\\\\`;
    before any other letter it stands for itself. `defaults` are of MODEL_PARAMETERS, for an arm that calls a model and
    doesn't say its own.

    Raises AgentConfigInvalid for an unknown agent, an unknown key or a part that is no `key=value`.
    """
    agent, colon, rest = text.partition(":")
    if agent not in AGENTS:
        raise AgentConfigInvalid(
            f'unknown agent "{agent}": there are {", ".join(sorted(AGENTS))} (`trialdeck agents` tells of each)'
        )
    parameters: dict[str, str] = {}
    position = 0
    while colon and position < len(rest):
        found = _PAIR.match(rest, position)
        if found is None:
            before, equals, _ = scrubbed(rest[position:], ()).partition("=")
            shown = f"{before}=…" if equals else before  # what was meant for a value may be a key
            raise AgentConfigInvalid(
                f'agent "{agent}": expected key=value at "{shown}" (a comma inside a value is written \\,)'
            )
        key, value = found.group(1), re.sub(r"\\([,\\])", r"\1", found.group(2))
        if key in parameters:
            raise AgentConfigInvalid(f'agent "{agent}": parameter {key} is given twice')
        parameters[key] = value
        position = found.end()
    arm = arm_of(name or arm_name(agent, parameters), agent, _with_defaults(AGENTS[agent].traits, parameters, defaults))
    with suppress(AgentUnavailable):  # the plan refuses its trials, and the other arms run
        return checked(arm)
    return arm


def checked(arm: ArmInfo) -> ArmInfo:
    """The arm with its version, once it is known that its agent can be made of it. Raises AgentConfigInvalid for an arm
    that can never work, AgentUnavailable for one that can't here."""
    make_agent(arm)
    return with_version(arm)


def with_version(arm: ArmInfo) -> ArmInfo:
    """The arm with the version of its agent that its parameters ask for. Raises AgentConfigInvalid."""
    return msgspec.structs.replace(arm, agent_version=traits_of(arm).version)


def _with_defaults(
    traits: AgentTraits, parameters: Mapping[str, str], defaults: Mapping[str, str]
) -> Mapping[str, str]:
    """An arm that says where its key is says both: a key comes from one place."""
    own_key = {"key_env", "key_file"} & parameters.keys()
    fit = {key: value for key, value in defaults.items() if not (own_key and key in ("key_env", "key_file"))}
    return {**fit, **parameters} if traits.calls_model else parameters


def arm_of(name: str, agent: str, parameters: Mapping[str, str]) -> ArmInfo:
    """An arm from the agent's parameters and those of its model. Raises AgentConfigInvalid for a key that the agent
    doesn't take and for a value that can't be one."""
    traits = AGENTS[agent].traits
    check_parameters(traits, parameters, f'agent "{agent}"')
    arm = ArmInfo(
        name=name,
        agent=agent,
        agent_version=traits.version,
        parameters={key: value for key, value in parameters.items() if takes(traits, key)},
    )
    model = {key: value for key, value in parameters.items() if not takes(traits, key)}
    return with_model(arm, model)


def arm_name(agent: str, parameters: Mapping[str, str]) -> str:
    """What an arm is called that nobody named: its agent, with the one of many that it stands for."""
    which = parameters.get("agent", "") or parameters.get("import_path", "").rpartition(":")[2]
    which = re.sub(r"[^\w.@+-]+", "-", which)
    return f"{agent}-{which}"[:64] if which else agent


def takes(traits: AgentTraits, key: str) -> bool:
    """Whether a parameter is the agent's own."""
    group, dot, name = key.partition(".")
    return key in traits.parameters or (bool(dot and name) and group + ANY_NAME in traits.parameters)


def check_parameters(traits: AgentTraits, given: Sequence[str] | Mapping[str, str], what: str) -> None:
    """Raises AgentConfigInvalid for a key that the agent doesn't take."""
    known = [*traits.parameters, *(MODEL_PARAMETERS if traits.calls_model else ())]
    for key in given:
        if key in ("key", "api_key"):
            raise AgentConfigInvalid(
                f"{what}: a key is never written into an arm; name the variable that holds it (key_env=NAME) or a file "
                "(key_file=PATH)"
            )
        if key not in known and not takes(traits, key):
            names = ", ".join(known) or "no parameters"
            raise AgentConfigInvalid(f"{what}: unknown parameter {key}; {traits.name} takes {names}")


def with_model(arm: ArmInfo, model: Mapping[str, str]) -> ArmInfo:
    """The arm with what MODEL_PARAMETERS says of its model. Raises AgentConfigInvalid for a value that can't be one."""
    what = f"arm {arm.name}"
    wire = model.get("protocol", "")
    wires = AGENTS[arm.agent].traits.wires
    if wire and wire not in wires:
        raise AgentConfigInvalid(
            f'{what}: protocol is "{wire}", but {arm.agent} speaks {", ".join(wires) or "to no model"}'
        )
    if model.get("key_env") and model.get("key_file"):
        raise AgentConfigInvalid(f"{what}: key_env and key_file: give one of them")
    if (variable := model.get("key_env", "")) and not re.fullmatch(r"[A-Za-z_]\w*", variable, re.ASCII):
        raise AgentConfigInvalid(f"{what}: key_env takes the name of a variable, never the key itself")
    return msgspec.structs.replace(
        arm,
        model=model.get("model", arm.model),
        protocol=wire or arm.protocol,
        effort=model.get("effort", arm.effort),
        temperature=_temperature(model, what) if "temperature" in model else arm.temperature,
        context_tokens=_whole(model, "context_tokens", what) if "context_tokens" in model else arm.context_tokens,
        max_output_tokens=(
            _whole(model, "max_output_tokens", what) if "max_output_tokens" in model else arm.max_output_tokens
        ),
        endpoint=Endpoint(
            base_url=_address(model, what) if "base_url" in model else arm.endpoint.base_url,
            key_env=model.get("key_env", arm.endpoint.key_env),
            key_file=_lasting(model["key_file"]) if "key_file" in model else arm.endpoint.key_file,
            headers=_headers(model["headers"], what) if "headers" in model else arm.endpoint.headers,
        ),
    )


def _lasting(path: str) -> str:
    """A path that means the same wherever the run is gone on with."""
    return path if not path or path.startswith("~") else str(Path(path).absolute())


def _temperature(model: Mapping[str, str], what: str) -> float:
    text = model["temperature"]
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 2:
        raise AgentConfigInvalid(f"{what}: temperature is {text}, expected a number from 0 to 2")
    return value


def _whole(model: Mapping[str, str], key: str, what: str) -> int:
    text = model[key]
    if not re.fullmatch(r"[1-9][0-9]{0,11}", text):
        raise AgentConfigInvalid(f"{what}: {key} is {text}, expected a whole number above 0")
    return int(text)


def _address(model: Mapping[str, str], what: str) -> str:
    address = model["base_url"].rstrip("/")
    if not re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", address):
        raise AgentConfigInvalid(
            f"{what}: base_url must be http://HOST[:PORT][/PATH] or https://…, without a user, a password or a query"
        )
    return address


def _headers(text: str, what: str) -> dict[str, str]:
    headers: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, colon, value = (piece.strip() for piece in part.partition(":"))
        if not colon or not re.fullmatch(r"[A-Za-z0-9-]{1,100}", name):
            raise AgentConfigInvalid(f"{what}: headers are written `Name: value; Name: value`")
        if _SECRET_HEADER.search(name) and not _OF_A_VARIABLE.fullmatch(value):
            raise AgentConfigInvalid(
                f"{what}: header {name} looks like a secret, which is never written into an arm: give ${{VAR}}"
            )
        headers[name] = value
    return headers


def name_arms(specs: list[str], names: list[str], defaults: Mapping[str, str] = NO_DEFAULTS) -> list[ArmInfo]:
    """Arms with names: given ones in order, else the agent's name, numbered where it would repeat. `defaults` as
    `parse_arm` takes them; raises AgentConfigInvalid where none of the arms calls a model."""
    if defaults and not any(AGENTS[agent].traits.calls_model for agent in _agents(specs) if agent in AGENTS):
        raise AgentConfigInvalid(f"{next(iter(defaults))} is given, but no arm calls a model")
    if names and len(names) != len(specs):
        raise AgentConfigInvalid(f"{len(specs)} --agent but {len(names)} --arm-name: give one name for each, or none")
    arms: list[ArmInfo] = []
    for index, spec in enumerate(specs):
        arm = parse_arm(spec, names[index] if names else None, defaults)
        taken = {other.name for other in arms}
        if arm.name in taken:
            if names:
                raise AgentConfigInvalid(f'two arms are named "{arm.name}": names must differ')
            number = next(n for n in range(2, len(specs) + 2) if f"{arm.name}-{n}" not in taken)
            arm = parse_arm(spec, f"{arm.name}-{number}", defaults)
        check_arm_name(arm.name)
        arms.append(arm)
    return arms


def _agents(specs: Sequence[str]) -> list[str]:
    return [spec.partition(":")[0] for spec in specs]


def check_arm_name(name: str) -> None:
    """Raises AgentConfigInvalid."""
    if not re.fullmatch(r"[\w.@+-]{1,64}", name):
        raise AgentConfigInvalid(f'arm name "{name}": letters, digits and . _ - + @ only, at most 64')
