"""One step as ATIF 1.7 writes it: what `engine.trajectories.atif` reads back as the same step."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from engine.agents.agent import StepReport
from engine.trajectories.calls import call_text
from engine.trajectories.steps import Call, Observation, Step
from engine.trajectories.untyped import parsed

Record = dict[str, object]
_SOURCES = frozenset({"agent", "user", "system"})


class Spent(msgspec.Struct, frozen=True):
    """Tokens and money of one step; None: unknown."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    cost_usd: float | None = None


def spent_in(step: Step, report: StepReport | None) -> Spent:
    """What the step itself says, else what was reported of it. Only steps of the agent spend anything."""
    if step.source != "agent":
        return Spent()
    given = report or StepReport(what="")
    return Spent(
        _first(step.tokens_in, given.tokens_in),
        _first(step.tokens_out, given.tokens_out),
        _first(step.tokens_cached, given.tokens_cached),
        step.cost_usd if step.cost_usd is not None else given.cost_usd,
    )


def atif_step(
    step: Step,
    *,
    report: StepReport | None = None,
    arguments: Mapping[str, Mapping[str, object]] | None = None,
    error: str = "",
    copied: bool = False,
) -> bytes:
    """JSON of the step. `arguments`: those of a call, by its id, where they are more than its text says."""
    agent = step.source == "agent"
    source = step.source if step.source in _SOURCES else "system"
    said = step.message if agent or not step.thought else "\n\n".join(filter(None, (step.thought, step.message)))
    found: Record = {"step_id": step.number, "source": source, "message": said}
    if step.at is not None:
        found["timestamp"] = step.at.isoformat()
    calls = [(call.id or f"call_{step.number}_{index}", call) for index, call in enumerate(step.calls, 1)]
    if agent:
        if step.model:
            found["model_name"] = step.model
        if step.thought:
            found["reasoning_content"] = step.thought
        if calls:
            found["tool_calls"] = [
                {"tool_call_id": id_, "function_name": call.tool, "arguments": _arguments(call, arguments or {})}
                for id_, call in calls
            ]
        if metrics := _metrics(spent_in(step, report), report):
            found["metrics"] = metrics
    if step.observations:
        known = {id_ for id_, _ in calls} if agent else set()
        found["observation"] = {"results": [_result(observation, known) for observation in step.observations]}
    if copied:
        found["is_copied_context"] = True
    extra: Record = {}
    if step.seconds is not None:
        extra["seconds"] = step.seconds
    if error:
        extra["error"] = error
    if extra:
        found["extra"] = extra
    return encoded(found)


def encoded(value: object) -> bytes:
    """JSON. What no UTF-8 can hold is written as escapes: a byte that came by `surrogateescape` as `\\xff`."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, ValueError):
        return msgspec.json.encode(_escaped(value))


def _escaped(value: object) -> object:
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        except UnicodeEncodeError:
            return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_escaped(key): _escaped(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_escaped(each) for each in value]
    return value


def _arguments(call: Call, given: Mapping[str, Mapping[str, object]]) -> Mapping[str, object]:
    if call.id in given:
        return given[call.id]
    as_json = parsed(call.text)
    if isinstance(as_json, dict) and call_text(as_json) == call.text:
        return as_json
    return {"command": call.text} if call.text else {}


def _result(observation: Observation, known: set[str]) -> Record:
    found: Record = {"content": observation.text}
    if observation.call in known:
        found["source_call_id"] = observation.call
    extra: Record = {}
    if observation.exit_code is not None:
        extra["exit_code"] = observation.exit_code
    if observation.failed:
        extra["is_error"] = True
    if extra:
        found["extra"] = extra
    return found


def _metrics(spent: Spent, report: StepReport | None) -> Record:
    found = {
        "prompt_tokens": spent.tokens_in,
        "completion_tokens": spent.tokens_out,
        "cached_tokens": spent.tokens_cached,
        "cost_usd": spent.cost_usd,
    }
    kept: Record = {key: value for key, value in found.items() if value is not None}
    if report is not None:
        more = {
            "cache_written_tokens": report.tokens_cache_written,
            "reasoning_tokens": report.tokens_reasoning,
            "cost_source": report.cost_source,
        }
        if extra := {key: value for key, value in more.items() if value is not None}:
            kept["extra"] = extra
    return kept


def _first(one: int | None, other: int | None) -> int | None:
    return one if one is not None else other
