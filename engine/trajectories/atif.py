"""ATIF, the interchange format of Harbor, 1.0 to 1.8; Terminus 2 writes it by itself after each episode."""

from __future__ import annotations

from engine.trajectories.calls import call_text, exit_code_in, exit_code_of
from engine.trajectories.draft import Draft, Session
from engine.trajectories.object_walk import ObjectWalk
from engine.trajectories.steps import Call, Observation
from engine.trajectories.untyped import Record, block_text, items, moment, number, record, text, whole

_SOURCES = {"agent": "agent", "assistant": "agent", "user": "user"}
_FAILED_TAIL = "[error] tool reported failure"  # how Harbor's converters render a tool's own word that it failed


def read_atif(content: str) -> Session | None:
    """None where it is no ATIF. What is half-written gives the steps that are whole."""
    session = Session("atif")
    walk = ObjectWalk(content, ("steps",))
    known = False
    for key, value in walk:
        if key == "schema_version" and text(value).startswith("ATIF"):
            known = True
        elif key == "agent":
            _agent(session, record(value))
        elif key == "steps" and isinstance(value, dict):
            known = known or "source" in value
            _step(session, value)
        elif key == "final_metrics":
            _totals(session, record(value))
        elif key == "extra":
            session.ended = text(record(value).get("ended"))
        elif key == "continued_trajectory_ref" and text(value):
            session.problem(f"goes on in another file: {text(value)[:200]}")
    if walk.problem:
        session.problem(f"the file {walk.problem}; what stands before it is shown")
    return session if known else None


def _agent(session: Session, agent: Record) -> None:
    session.agent = text(agent.get("name"))
    session.agent_version = text(agent.get("version"))
    session.model = text(agent.get("model_name"))
    if session.agent.lower().startswith("terminus"):
        session.format = "terminus"


def _step(session: Session, step: Record) -> None:
    named = whole(step.get("step_id"))
    after = session.last.number if session.last else 0
    source = _SOURCES.get(text(step.get("source")), "system")
    draft = session.begin(source, moment(step.get("timestamp")), number=named if named and named > after else after + 1)
    if said := block_text(step.get("message")):
        draft.messages.append(session.keep(said))
    if thought := text(step.get("reasoning_content")):
        draft.thoughts.append(session.keep(thought))
    draft.model = text(step.get("model_name"))
    for each in items(step.get("tool_calls")):
        call = record(each)
        draft.calls.append(
            Call(
                tool=text(call.get("function_name")),
                text=session.keep(call_text(call.get("arguments"))),
                id=text(call.get("tool_call_id")),
            )
        )
    extra = record(step.get("extra"))
    for each in items(record(step.get("observation")).get("results")):
        draft.observations.append(_observation(session, record(each), extra))
    draft.seconds = number(extra.get("seconds"))
    if said := text(extra.get("error")):
        session.error(said, draft)
    draft.counted = step.get("is_copied_context") is not True  # else in the file that it was copied from
    if draft.counted:
        _metrics(draft, record(step.get("metrics")))


def _observation(session: Session, result: Record, step_extra: Record) -> Observation:
    said = block_text(result.get("content"))
    for ref in items(result.get("subagent_trajectory_ref")):
        name = text(record(ref).get("trajectory_path")) or text(record(ref).get("trajectory_id"))
        said = f"{said}\n[another agent's session: {name}]".lstrip("\n")
    extra = record(result.get("extra"))
    exit_code = exit_code_of(extra)
    if exit_code is None and not extra:
        exit_code = exit_code_of(step_extra)
    if exit_code is None:
        exit_code = exit_code_in(said)
    told = extra.get("is_error") is True or step_extra.get("tool_result_is_error") is True
    failed = told or bool(exit_code) or said.rstrip().endswith(_FAILED_TAIL)
    return Observation(
        text=session.keep(said), call=text(result.get("source_call_id")), failed=failed, exit_code=exit_code
    )


def _metrics(draft: Draft, metrics: Record) -> None:
    draft.tokens_in = whole(metrics.get("prompt_tokens"))
    draft.tokens_cached = whole(metrics.get("cached_tokens"))
    draft.tokens_out = whole(metrics.get("completion_tokens"))
    draft.cost_usd = number(metrics.get("cost_usd"))


def _totals(session: Session, metrics: Record) -> None:
    session.tokens_in = whole(metrics.get("total_prompt_tokens"))
    session.tokens_cached = whole(metrics.get("total_cached_tokens"))
    session.tokens_out = whole(metrics.get("total_completion_tokens"))
    session.cost_usd = number(metrics.get("total_cost_usd"))
