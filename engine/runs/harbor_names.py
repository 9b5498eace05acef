"""What runs, trials, agents, models and failures are called in Harbor."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID, uuid5

from engine.runs.harbor_records import AgentRecord

JsonObject = dict[str, Any]

DATASET_OF_LOOSE_TASKS = "adhoc"
CANCELLED = "CancelledError"

_NAMESPACE = UUID("5b6d1c0e-9d0c-5d7e-8a55-0f6c5f6b2c11")

# Names under which Harbor files the same failures. Other codes are written in its style: `DiskFullError`.
EXCEPTION_TYPES = {
    "image_build_failed": "SandboxBuildFailedError",
    "image_build_timeout": "EnvironmentStartTimeoutError",
    "start_timeout": "EnvironmentStartTimeoutError",
    "healthcheck_failed": "HealthcheckError",
    "agent_exit_nonzero": "NonZeroAgentExitCodeError",
    "harness_timeout": "AgentTimeoutError",
    "harness_interrupted": CANCELLED,
    "out_of_memory": "SandboxLikelyOutOfMemoryError",
    "verifier_timeout": "VerifierTimeoutError",
    "verifier_result_invalid": "VerifierOutputParseError",
}


def job_id(run_id: str) -> str:
    """Harbor wants UUIDs. The same run has the same one whoever writes it, and whenever."""
    return str(uuid5(_NAMESPACE, run_id))


def trial_id(run_id: str, trial_name: str) -> str:
    return str(uuid5(UUID(job_id(run_id)), trial_name))


def exception_type(code: str) -> str:
    """The exception name that stands for an issue's code in a Harbor result."""
    if known := EXCEPTION_TYPES.get(code):
        return known
    return "".join(part.capitalize() for part in re.split(r"[^0-9A-Za-z]+", code)) + "Error"


def shown_name(agent: AgentRecord) -> str:
    return agent.arm or agent.name


def model_info(model: str) -> JsonObject | None:
    if not model:
        return None
    provider, slash, name = model.partition("/")
    return {"name": name, "provider": provider} if slash else {"name": model, "provider": None}
