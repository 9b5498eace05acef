"""What each event changes in its own trial: the half of `RunState` that knows of no other trial and of no sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from engine import events as ev
from engine.spending import TOKENS, add, add_call, add_step
from engine.text import clean, clean_line
from engine.trial_state import DONE, INTERRUPTED, EarlierRun, ServiceUse, Span, TrialState


def planned(event: ev.TrialPlanned) -> TrialState:
    return TrialState(
        trial=event.trial,
        task=clean_line(event.task),
        arm=clean_line(event.arm),
        attempt=event.attempt,
        position=event.position,
        cpus=event.cpus,
        memory_mb=event.memory_mb,
        limits=event.limits,
        category=clean_line(event.category),
        difficulty=clean_line(event.difficulty),
    )


def set_aside(old: TrialState, event: ev.TrialInterrupted) -> TrialState:
    """The trial is as good as new; what it cost stays in the books."""
    earlier = EarlierRun(
        run_number=event.run_number,
        state=old.state if old.done else INTERRUPTED,
        reason=clean_line(event.reason),
        folder=clean_line(event.folder),
        reward=old.reward,
        cost_usd=_known(event.cost_usd, old.cost_usd),
        cost_partial=event.cost_partial or old.cost_partial,
        cause=old.rerun.cause if old.rerun is not None else "",
        by=old.rerun.by if old.rerun is not None else "",
    )
    return TrialState(
        trial=old.trial,
        task=old.task,
        arm=old.arm,
        attempt=old.attempt,
        position=old.position,
        category=old.category,
        difficulty=old.difficulty,
        cpus=old.cpus,
        memory_mb=old.memory_mb,
        limits=old.limits,
        state=INTERRUPTED,
        run_number=event.run_number,
        discarded_cost_usd=add(old.discarded_cost_usd, earlier.cost_usd),
        discarded_cost_partial=old.discarded_cost_partial or earlier.cost_partial,
        earlier=[*old.earlier, earlier],
    )


def _waiting(trial: TrialState, event: ev.TrialWaiting) -> None:
    trial.waiting_for = clean_line(event.reason)


def _started(trial: TrialState, event: ev.TrialStarted) -> None:
    trial.run_number = event.run_number
    trial.project = clean_line(event.project)
    trial.started_at = None if event.untimed else event.at
    trial.waiting_for = ""
    trial.activity = ""
    trial.phases.clear()  # what was observed from outside gives way to the trial's own account


def _phase_started(trial: TrialState, event: ev.PhaseStarted) -> None:
    trial.phase = event.phase
    trial.step = clean_line(event.step)
    trial.activity = ""
    trial.activity_at = event.at
    for span in trial.phases:
        if span.phase == event.phase and span.step == trial.step and span.started_at > event.at:
            span.started_at, span.limit_sec, span.seconds, span.ok = event.at, event.limit_sec, None, True
            return
    trial.phases.append(Span(phase=event.phase, started_at=event.at, step=trial.step, limit_sec=event.limit_sec))


def _phase_finished(trial: TrialState, event: ev.PhaseFinished) -> None:
    step = clean_line(event.step)
    for span in reversed(trial.phases):
        if span.phase == event.phase and span.step == step and span.seconds is None:
            span.seconds = event.seconds
            span.ok = event.ok
            break
    if trial.phase == event.phase:
        trial.phase = None
        trial.activity = ""


def _activity_changed(trial: TrialState, event: ev.ActivityChanged) -> None:
    trial.activity = clean_line(event.activity, 200)
    trial.activity_at = event.at


def _use(trial: TrialState, service: str, environment: str) -> ServiceUse:
    name = clean_line(service)
    key = name if environment == "agent" else f"{clean_line(environment)}:{name}"
    use = trial.services.get(key)
    if use is None:
        use = trial.services[key] = ServiceUse(service=name, environment=clean_line(environment))
    return use


def _service_changed(trial: TrialState, event: ev.ServiceChanged) -> None:
    use = _use(trial, event.service, event.environment)
    if event.state == "oom":
        use.out_of_memory = True
    else:
        use.state = clean_line(event.state)
    use.exit_code = event.exit_code
    use.detail = clean_line(event.detail)
    use.container = clean_line(event.container) or use.container


def _resource_sampled(trial: TrialState, event: ev.ResourceSampled) -> None:
    if trial.state in DONE:
        return
    use = _use(trial, event.service, event.environment)
    use.sampled = True
    use.cpu_percent = event.cpu_percent
    use.cpu_limit = event.cpu_limit
    use.memory_bytes = event.memory_bytes
    use.memory_limit = event.memory_limit
    use.pids = event.pids
    use.network_bytes = event.network_rx + event.network_tx
    use.block_bytes = event.block_read + event.block_write
    use.peak_cpu_percent = max(use.peak_cpu_percent, event.cpu_percent)
    use.peak_memory_bytes = max(use.peak_memory_bytes, event.memory_bytes)


def _resource_peaked(trial: TrialState, event: ev.ResourcePeaked) -> None:
    use = _use(trial, event.service, event.environment)
    use.peak_cpu_percent = max(use.peak_cpu_percent, event.cpu_percent)
    use.peak_memory_bytes = max(use.peak_memory_bytes, event.memory_bytes)
    use.memory_limit = event.memory_limit or use.memory_limit
    use.network_bytes = event.network_bytes
    use.block_bytes = event.block_bytes


def _hook_finished(trial: TrialState, event: ev.HookFinished) -> None:
    trial.hooks.append(
        msgspec.structs.replace(
            event,
            command=clean(event.command),
            output=clean(event.output),
            service=clean_line(event.service),
            step=clean_line(event.step),
        )
    )


def _artifact_recorded(trial: TrialState, event: ev.ArtifactRecorded) -> None:
    trial.artifacts.append(
        msgspec.structs.replace(
            event,
            service=clean_line(event.service),
            source=clean_line(event.source),
            status=clean_line(event.status),
            note=clean_line(event.note),
            step=clean_line(event.step),
        )
    )


def _agent_finished(trial: TrialState, event: ev.AgentFinished) -> None:
    trial.agent_exit = event.exit_code
    if event.seconds is not None:
        trial.agent_seconds = (trial.agent_seconds or 0.0) + event.seconds
    trial.timed_out = trial.timed_out or event.timed_out


def _files_changed(trial: TrialState, event: ev.FilesChanged) -> None:
    unseen = tuple(clean_line(place) for place in event.unseen)
    trial.files_changed = msgspec.structs.replace(event, unseen=unseen)


def _reward_recorded(trial: TrialState, event: ev.RewardRecorded) -> None:
    trial.reward = event.reward
    trial.rewards = {clean_line(name): value for name, value in event.rewards.items()}
    if event.step and event.reward is not None:
        trial.step_rewards[clean_line(event.step)] = {**trial.rewards, "reward": event.reward}
    if event.tests_total is not None:
        trial.tests_passed = event.tests_passed
        trial.tests_total = event.tests_total


def _finished(trial: TrialState, event: ev.TrialFinished) -> None:
    trial.reward = event.reward
    trial.passed = event.passed
    trial.seconds = event.seconds
    trial.finished_at = None if event.untimed else event.at
    trial.phase = None
    trial.activity = ""
    trial.timed_out = event.timed_out
    trial.agent_seconds = _known(event.agent_seconds, trial.agent_seconds)
    for name in TOKENS:
        setattr(trial, name, _known(getattr(event, name), getattr(trial, name)))
    if event.cost_usd is not None:
        trial.cost_usd, trial.cost_partial = event.cost_usd, event.cost_partial
        trial.cost_source = clean_line(event.cost_source) or trial.cost_source
    trial.model_calls = _known(event.model_calls, trial.model_calls)
    trial.model_failures = max(event.model_failures, trial.model_failures)
    trial.model_retries = max(event.model_retries, trial.model_retries)
    trial.kept = event.kept and not trial.kept_gone
    for span in trial.phases:
        if span.seconds is None:  # it ended by force: nobody measured it
            span.seconds, span.ok = max(0.0, (event.at - span.started_at).total_seconds()), False
    for use in trial.services.values():
        use.sampled = False


def _rerun_wanted(trial: TrialState, event: ev.RerunWanted) -> None:
    trial.rerun = msgspec.structs.replace(event, cause=clean_line(event.cause), by=clean_line(event.by))


def _environment_gone(trial: TrialState, event: ev.EnvironmentGone) -> None:
    """It may go before the end of its trial is told."""
    uses = [use for use in trial.services.values() if use.environment == "agent"]
    if not event.container or clean_line(event.container) not in [use.container for use in uses]:
        return
    trial.kept = False
    trial.kept_gone = clean_line(event.reason) or "removed"
    for use in uses:
        use.state = "removed"


def _known(new: float | Any | None, old: float | Any | None) -> Any:
    """What is unknown at the end takes nothing away from what was known before."""
    return old if new is None else new


CHANGES: dict[type[ev.Event], Callable[[TrialState, Any], None]] = {
    ev.TrialWaiting: _waiting,
    ev.TrialStarted: _started,
    ev.PhaseStarted: _phase_started,
    ev.PhaseFinished: _phase_finished,
    ev.ActivityChanged: _activity_changed,
    ev.ServiceChanged: _service_changed,
    ev.ResourceSampled: _resource_sampled,
    ev.ResourcePeaked: _resource_peaked,
    ev.HookFinished: _hook_finished,
    ev.ArtifactRecorded: _artifact_recorded,
    ev.AgentStepped: add_step,
    ev.ModelCalled: add_call,
    ev.AgentFinished: _agent_finished,
    ev.FilesChanged: _files_changed,
    ev.RewardRecorded: _reward_recorded,
    ev.TrialFinished: _finished,
    ev.RerunWanted: _rerun_wanted,
    ev.EnvironmentGone: _environment_gone,
}
"""By kind of event; what else one means, for the run and its sums, is up to `RunState`."""
