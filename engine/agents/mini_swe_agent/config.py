"""mini-swe-agent's configuration for one trial, over its own `mini.yaml`."""

from __future__ import annotations

import json
from typing import Any

from engine.agents.mini_swe_agent.arm import MiniSweAgentArm
from engine.models.resolve import NO_KEY
from engine.models.settings import ModelSettings, Wire


def config_json(arm: MiniSweAgentArm, model: ModelSettings, address: str) -> bytes:
    """JSON, which is YAML as well. `address` is `http://127.0.0.1:PORT`; the gateway there takes any key."""
    config: dict[str, Any] = {
        "agent": {"step_limit": arm.step_limit, "cost_limit": arm.cost_limit},
        "model": {
            "model_name": f"{'anthropic' if model.wire is Wire.ANTHROPIC else 'openai'}/{model.name}",
            "model_class": "litellm_response" if model.wire is Wire.OPENAI_RESPONSES else "litellm",
            "cost_tracking": "ignore_errors",  # what has no price is worked with all the same
            "model_kwargs": {
                "api_base": address if model.wire is Wire.ANTHROPIC else f"{address}/v1",
                "api_key": NO_KEY,
                # What the arm asks for is asked of the server, and not left out because litellm doesn't know the model.
                "drop_params": False,
                **_asked_for(model),
            },
        },
    }
    if arm.command_timeout_sec is not None:
        config["environment"] = {"timeout": arm.command_timeout_sec}
    return json.dumps(config, indent=1).encode()


def _asked_for(model: ModelSettings) -> dict[str, Any]:
    match model.wire:
        case Wire.ANTHROPIC:
            return _some(temperature=model.temperature, max_tokens=model.max_output_tokens) | _effort(model.effort)
        case Wire.OPENAI_RESPONSES:
            reasoning = {"effort": model.effort} if model.effort else None
            body = _some(temperature=model.temperature, max_output_tokens=model.max_output_tokens, reasoning=reasoning)
            return {"extra_body": body} if body else {}
        case Wire.OPENAI_CHAT:
            body = _some(temperature=model.temperature, reasoning_effort=model.effort or None)
            limit = _some(max_tokens=model.max_output_tokens)  # litellm knows who calls it max_completion_tokens
            return {**({"extra_body": body} if body else {}), **limit}


def _effort(effort: str) -> dict[str, Any]:
    """A level; `none`; or a number of tokens to think with, as older models have it."""
    if not effort:
        return {}
    if effort == "none" or (effort.isascii() and effort.isdigit()):
        budget = {"type": "disabled"} if effort == "none" else {"type": "enabled", "budget_tokens": int(effort)}
        return {"thinking": budget, "allowed_openai_params": ["thinking"]}
    return {"output_config": {"effort": effort}}


def _some(**values: object) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
