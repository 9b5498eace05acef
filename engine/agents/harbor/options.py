"""An arm's words as Harbor's agents take them: options, variables, and how their model is reached.

Harbor resolves a model's address and key for each agent from what its constructor is given before it looks at the
process's environment. So nothing here touches that environment: concurrent trials of other arms see none of it.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.agents.agent import AgentConfigInvalid, AgentUnavailable
from engine.agents.harbor.secrets import names_a_secret
from engine.events import ArmInfo
from engine.models.resolve import filled_header, key_of_file
from engine.models.settings import ModelInvalid, Wire

KEY_OF_FILE = "TRIALDECK_MODEL_KEY"
"""The name under which Harbor finds a key that comes from a file. It is in no process's environment."""

FORMATS = {
    Wire.OPENAI_CHAT: "openai_chat_completions",
    Wire.OPENAI_RESPONSES: "openai_responses",
    Wire.ANTHROPIC: "anthropic_messages",
}
_TEMPLATE = re.compile(r"\$\{([A-Za-z_]\w*)\}", re.ASCII)
_OURS = {
    "base_url": "base_url=",
    "api_base": "base_url=",
    "model_name": "model=",
    "model": "model=",
    "model_api_key_name": "key_env=",
    "model_api_format": "protocol=",
    "reasoning_effort": "effort=",
    "temperature": "temperature=",
    "extra_env": "env.NAME=",
    "mcp_servers": "the task",
    "skills_dir": "the task",
    "logs_dir": "the trial",
    "environment_logs_dir": "the trial",
    "logger": "the trial",
    "task_dir": "the trial",
    "trial_paths": "the trial",
    "load_trajectory": "nothing here",
}
"""Options that come from elsewhere; and where."""


class Reading:
    """What is said about an arm when something of it can't be."""

    def __init__(self, arm: ArmInfo) -> None:
        self.what = f"arm {arm.name}"
        self.agent = arm.parameters.get("agent") or arm.parameters.get("import_path", "")

    def invalid(self, why: str) -> AgentConfigInvalid:
        return AgentConfigInvalid(f"{self.what}: {why}")

    def unavailable(self, why: str) -> AgentUnavailable:
        """It is this host that lacks something: a variable, a key."""
        return AgentUnavailable(f"{self.what}: {why}")

    def cannot(self, key: str, hint: str = "") -> AgentConfigInvalid:
        return self.invalid(f"Harbor's {self.agent} takes no {key}{hint}")


def through_gateway(arm: ArmInfo) -> bool:
    """Raises AgentConfigInvalid."""
    said = arm.parameters.get("gateway", "no")
    if said not in ("yes", "no"):
        raise Reading(arm).invalid(f'gateway is "{said}", expected yes or no')
    return said == "yes"


def group(arm: ArmInfo, name: str) -> dict[str, str]:
    """The parameters `name.…`, without that."""
    start = f"{name}."
    return {key.removeprefix(start): value for key, value in arm.parameters.items() if key.startswith(start)}


def variables(arm: ArmInfo, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """`env.…`, filled. Raises AgentConfigInvalid for a secret that is written out, AgentUnavailable for a variable that
    is unset."""
    reading = Reading(arm)
    found: dict[str, str] = {}
    for name, value in group(arm, "env").items():
        if names_a_secret(name) and not _TEMPLATE.fullmatch(value):
            raise reading.invalid(
                f"env.{name} looks like a secret, which is never written into an arm: give env.{name}=${{{name}}}"
            )
        found[name] = _filled(reading, f"env.{name}", value, environ)
    return found


def keywords(arm: ArmInfo, agent_class: Any, environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """What Harbor's constructor gets beside the model's name and address: `kwargs.…` and what the arm says of its
    model. Raises AgentConfigInvalid for what that agent doesn't take, AgentUnavailable for a variable that is unset."""
    reading = Reading(arm)
    known = _option_names(agent_class)
    found: dict[str, Any] = {}
    for name, text in group(arm, "kwargs").items():
        if name in _OURS:
            raise reading.invalid(f"kwargs.{name}: that comes from {_OURS[name]}")
        if known is not None and name not in known:
            takes = ", ".join(sorted(known - set(_OURS))) or "none"
            raise reading.invalid(f"kwargs.{name}: Harbor's {reading.agent} has no such option; it has {takes}")
        value = _value(agent_class, name, text)
        found[name] = _without_secrets(reading, f"kwargs.{name}", name, value, environ)
    return _with_model(arm, agent_class, known or set(), found, environ)


def _with_model(
    arm: ArmInfo, agent_class: Any, known: set[str], found: dict[str, Any], environ: Mapping[str, str]
) -> dict[str, Any]:
    reading = Reading(arm)
    calls = _table(found, "llm_call_kwargs") if "llm_call_kwargs" in known else None
    if arm.effort:
        if not agent_class.capabilities.reasoning_effort:
            raise reading.cannot("effort")
        found["reasoning_effort"] = arm.effort
    if arm.temperature is not None:
        if "temperature" not in known:
            raise reading.cannot("temperature")
        found["temperature"] = arm.temperature
    if arm.context_tokens is not None:
        if "model_info" not in known:
            raise reading.cannot("context_tokens")
        found["model_info"] = {**_table(found, "model_info"), "max_input_tokens": arm.context_tokens}
    if arm.max_output_tokens is not None:
        if calls is None:
            raise reading.cannot("max_output_tokens")
        calls["max_tokens"] = arm.max_output_tokens
    if arm.endpoint.headers and not through_gateway(arm):
        if calls is None:
            raise reading.cannot("headers")
        calls["extra_headers"] = headers(arm, environ)
    if calls:
        found["llm_call_kwargs"] = calls
    return found


def key_from_file(arm: ArmInfo) -> str:
    """Raises AgentUnavailable. "" where the arm names no file."""
    path = arm.endpoint.key_file
    if not path:
        return ""
    try:
        return key_of_file(Path(path).expanduser(), f"arm {arm.name}: key_file {path}").reveal()
    except ModelInvalid as error:
        raise AgentUnavailable(str(error)) from None


def headers(arm: ArmInfo, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Raises AgentUnavailable."""
    try:
        return {
            name: filled_header(name, value, environ, f"arm {arm.name}").reveal()
            for name, value in arm.endpoint.headers.items()
        }
    except ModelInvalid as error:
        raise AgentUnavailable(str(error)) from None


def secret_values(arm: ArmInfo, environ: Mapping[str, str] = os.environ) -> list[str]:
    """All that an arm's ${VAR} stand for, where the name of the variable or of what it fills says that it is secret."""
    found: list[str] = []
    texts = {**group(arm, "kwargs"), **group(arm, "env"), **arm.endpoint.headers}
    for name, text in texts.items():
        for variable in _TEMPLATE.findall(text):
            if names_a_secret(variable) or names_a_secret(name) or name.lower() == "cookie":
                found.append(environ.get(variable, ""))
    return found


def _filled(reading: Reading, what: str, value: str, environ: Mapping[str, str]) -> str:
    template = _TEMPLATE.fullmatch(value)
    if template is None:
        return value
    if template.group(1) not in environ:
        raise reading.unavailable(f"{what}: the variable {template.group(1)} is not set")
    return environ[template.group(1)]


def _option_names(agent_class: Any) -> set[str] | None:
    """None: the class says nowhere what it takes, and takes anything."""
    if agent_class.options_model is not None:
        names: set[str] = set()
        for name, field in agent_class.options_model.model_fields.items():
            names.add(name)
            names.update(getattr(field.validation_alias, "choices", ()))
        return names
    found: set[str] = set()
    for one in agent_class.__mro__:
        if "__init__" not in one.__dict__ or one is object:
            continue
        parameters = inspect.signature(one.__init__).parameters.values()
        if not one.__module__.startswith("harbor.") and any(each.kind is each.VAR_KEYWORD for each in parameters):
            return None
        found.update(each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY))
        if one.__module__.startswith("harbor.") and one.__name__ == "BaseAgent":
            break
    described = (*getattr(agent_class, "CLI_FLAGS", ()), *getattr(agent_class, "ENV_VARS", ()))
    return (found | {each.kwarg for each in described}) - {"self"}


def _value(agent_class: Any, name: str, text: str) -> Any:
    """Harbor's agents say what their options are and turn a text into that; so only lists and tables are read here. For
    a class that says nothing a value is what Harbor's own command line makes of it."""
    if agent_class.options_model is None or text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return {"True": True, "False": False, "None": None}.get(text, text)
    return None if text in ("null", "None") else text


def _without_secrets(reading: Reading, what: str, name: str, value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _without_secrets(reading, f"{what}.{key}", str(key), each, environ) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_secrets(reading, what, name, each, environ) for each in value]
    if not isinstance(value, str):
        return value
    if names_a_secret(name) and not _TEMPLATE.fullmatch(value):
        raise reading.invalid(f"{what} looks like a secret, which is never written into an arm: give ${{VAR}}")
    return _filled(reading, what, value, environ)


def _table(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = found.get(name)
    return dict(value) if isinstance(value, dict) else {}
