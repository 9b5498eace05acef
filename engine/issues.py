"""Issues: what went wrong in a trial or a run, with the evidence that a person needs to act.

Codes keep the names that users of AgentCompass know and are finer where those blur things a person must tell apart.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.json_numbers import Whole


class Severity(StrEnum):
    FATAL = "fatal"  # no valid score
    ERROR = "error"
    WARNING = "warning"


class Phase(StrEnum):
    PREPARE = "prepare"
    AGENT = "agent"
    COLLECT = "collect"
    VERIFY = "verify"
    CLEANUP = "cleanup"


class Code(StrEnum):
    """Every code an issue can carry. The value is what files and screens show."""

    # plan
    TASK_INVALID = "task_invalid"
    TASK_REFUSED = "task_refused"
    TASK_CHANGED = "task_changed"
    TASK_WARNING = "task_warning"
    TASK_SERIALISED = "task_serialised"
    NOTHING_HANDED_OVER = "nothing_handed_over"
    HOST_TOO_SMALL = "host_too_small"
    # prepare
    SETUP_FAILED = "setup_failed"
    ENVIRONMENT_FAILED = "environment_failed"
    COMPOSE_INVALID = "compose_invalid"
    BUILD_FAILED = "image_build_failed"
    BUILD_TIMEOUT = "image_build_timeout"
    PULL_FAILED = "image_pull_failed"
    PULL_RATE_LIMITED = "image_pull_rate_limited"
    SERVICE_UNHEALTHY = "service_unhealthy"
    SERVICE_EXITED = "service_exited"
    SERVICE_DIED = "service_died"
    START_TIMEOUT = "start_timeout"
    HEALTHCHECK_FAILED = "healthcheck_failed"
    NAME_CONFLICT = "name_conflict"
    ADDRESS_POOL_EXHAUSTED = "address_pool_exhausted"
    DISK_FULL = "disk_full"
    DAEMON_UNREACHABLE = "daemon_unreachable"
    OUT_OF_DESCRIPTORS = "out_of_file_descriptors"
    # agent
    HARNESS_FAILED = "harness_failed"
    HARNESS_TIMEOUT = "harness_timeout"
    HARNESS_INTERRUPTED = "harness_interrupted"
    AGENT_SETUP_FAILED = "agent_setup_failed"
    AGENT_EXIT_NONZERO = "agent_exit_nonzero"
    AGENT_NOT_STOPPED = "agent_not_stopped"
    AGENT_LIMIT_REACHED = "agent_limit_reached"
    AGENT_INCOMPATIBLE = "agent_incompatible"
    AGENT_UNAVAILABLE = "agent_unavailable"  # this host lacks what the arm needs: a key, a package, a capsule
    MCP_SERVER_FAILED = "mcp_server_failed"
    # the model that the agent works with
    MODEL_FAILED = "model_failed"
    MODEL_TIMEOUT = "model_timeout"
    MODEL_RATE_LIMITED = "model_rate_limited"
    MODEL_OVERLOADED = "model_overloaded"
    MODEL_UNREACHABLE = "model_unreachable"
    MODEL_UNTRUSTED = "model_certificate_untrusted"
    MODEL_AUTH_FAILED = "model_authentication_failed"
    MODEL_REFUSED = "model_refused"
    MODEL_FILTERED = "model_content_filtered"
    MODEL_CONTEXT_FULL = "model_context_full"
    MODEL_CUT_OFF = "model_answer_cut_off"
    MODEL_CALL_MALFORMED = "model_call_malformed"
    MODEL_NEVER_REACHED = "model_never_reached"
    MODEL_RETRIED = "model_retried"
    MODEL_USAGE_ODD = "model_usage_odd"
    OUT_OF_MEMORY = "out_of_memory"
    KILLED_UNKNOWN = "killed_cause_unknown"
    ENVIRONMENT_DIED = "environment_died"
    # collect
    ARTIFACT_COLLECT_FAILED = "artifact_collect_failed"
    ARTIFACT_TRANSFER_FAILED = "artifact_transfer_failed"
    ARTIFACT_MISSING = "artifact_missing"
    ARTIFACT_TOO_LARGE = "artifact_too_large"
    ARTIFACT_COLLISION = "artifact_collision"
    ARTIFACT_REFUSED = "artifact_refused"
    # verify
    VERIFIER_SETUP_FAILED = "verifier_setup_failed"
    VERIFIER_CRASHED = "verifier_crashed"
    VERIFIER_RESULT_INVALID = "verifier_result_invalid"
    VERIFIER_TIMEOUT = "verifier_timeout"
    REWARD_IS_BOOLEAN = "reward_is_boolean"
    REWARD_CONTRADICTED = "reward_contradicted"
    PASSED_WITHOUT_CHANGES = "passed_without_changes"
    # cleanup
    LEFTOVER = "leftover"
    # the engine itself
    ENGINE_FAILED = "engine_failed"
    COST_LIMIT_REACHED = "cost_limit_reached"


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fact behind an issue. `file` is relative to the trial folder, `line` counts from 1 (0: none)."""

    label: str
    text: str
    file: str = ""
    line: Whole = 0


class Issue(msgspec.Struct, frozen=True, omit_defaults=True):
    """`phase` is None for an issue of the plan or of the whole run."""

    severity: Severity
    phase: Phase | None
    code: Code
    message: str
    evidence: tuple[Evidence, ...] = ()
    service: str = ""
    step: str = ""


class TrialFailed(Exception):
    """A phase could not go on. Carries the issue that says why; the trial is unscored unless a verdict still comes."""

    def __init__(self, issue: Issue) -> None:
        super().__init__(issue.message)
        self.issue = issue
