"""What is known about a trial beyond its logs, as lines of pieces."""

from __future__ import annotations

from engine import trial_state
from engine.events import ArmInfo
from engine.text import clean_line
from engine.triage.blind import HIDDEN
from engine.trial_state import ServiceUse, TrialState
from screens import format as fmt
from screens.pieces import Pieces, fit
from screens.widgets.lines import Line

_LABEL = 11
_DOT = (" · ", "deck--faint")
_STATE_STYLES = {
    trial_state.PASSED: "deck--good",
    trial_state.FAILED: "deck--strong",
    trial_state.UNSCORED: "deck--bad",
    trial_state.RUNNING: "deck--accent",
}
_SERVICE_STYLES = {"healthy": "deck--good", "running": "", "unhealthy": "deck--bad", "exited": "deck--dim"}
_ARTIFACT_STYLES = {"collected": "", "empty": "deck--warn", "skipped": "deck--dim"}


CUT_OFF: Pieces = [(f"{fmt.GLYPHS[trial_state.INTERRUPTED]} cut off", "deck--warn")]


def state_pieces(trial: TrialState, stale: bool = False) -> Pieces:
    """`● collect`, `− failed`: a glyph and a word. `stale`: the run's engine is gone, so that nothing runs."""
    if stale and trial.state == trial_state.RUNNING:
        return CUT_OFF
    style = _STATE_STYLES.get(trial.state, "deck--dim")
    return [(f"{fmt.state_glyph(trial)} {fmt.state_word(trial)}", style)]


def summary(trial: TrialState, *, spent: bool = True) -> Pieces:
    """One line of what decides; left out is what is not known. Without `spent` what a trial brought and took is left to
    others: reward, steps, tokens, cost. Empty where nothing is left."""
    parts: list[Pieces] = []
    if not trial.done and trial.activity:
        parts.append([(trial.activity, "deck--accent")])
    if trial.state == trial_state.WAITING:
        parts.append([(f"waits for {trial.waiting_for}", "deck--dim")])
    if spent and (trial.done or trial.reward is not None):
        parts.append([("reward ", "deck--dim"), (fmt.reward(trial.reward), "deck--strong")])
    if trial.tests_total is not None:
        parts.append([(f"{trial.tests_passed or 0} of {trial.tests_total} tests", "")])
    if trial.agent_exit is not None:
        parts.append([(f"agent exit {trial.agent_exit}", "" if trial.agent_exit == 0 else "deck--warn")])
    if trial.timed_out:
        parts.append([("▲ out of time", "deck--warn")])
    if trial.out_of_memory:
        parts.append([("! out of memory", "deck--bad")])
    changed = trial.files_changed
    if changed is not None:
        parts.append([(f"files +{changed.added} ~{changed.changed} −{changed.deleted}", "")])
    parts += _spent(trial) if spent else []
    if trial.model_retries:
        parts.append([(f"▲ {fmt.count(trial.model_retries, 'model call')} tried again", "deck--warn")])
    if trial.kept:
        parts.append([("environment was kept", "deck--accent")])
    elif trial.kept_gone:
        parts.append([(f"environment was kept, gone: {trial.kept_gone}", "deck--dim")])
    line: Pieces = [(" ", "")] if parts else []
    for number, part in enumerate(parts):
        line += [_DOT] if number else []
        line += [(clean_line(text), style) for text, style in part]
    return line


def _spent(trial: TrialState) -> list[Pieces]:
    parts: list[Pieces] = []
    if trial.steps:
        parts.append([(fmt.count(trial.steps, "step"), "")])
    if trial.tokens_in is not None or trial.tokens_out is not None:
        parts.append([(f"{tokens(trial.tokens_in)} in, {tokens(trial.tokens_out)} out", "")])
    if trial.cost_usd is not None:
        parts.append([(fmt.spent(trial.cost_usd, partial=trial.cost_partial), "")])
    return parts


def facts(trial: TrialState, width: int, arm: ArmInfo | None = None) -> list[Line]:
    """Everything, in groups; each line fits `width`. `arm` is the trial's."""
    groups = [
        _verdict(trial),
        _agent(trial, arm, width),
        _services(trial, width),
        _hooks(trial, width),
        _artifacts(trial, width),
        _plan(trial),
    ]
    lines: list[Line] = []
    for group in groups:
        if group and lines:
            lines.append(([], []))
        lines += [(pieces, []) for pieces in group]
    return lines


def tokens(count: int | None) -> str:
    """`812`, `12.4K`, `1.2M`; a dash where nobody knows."""
    if count is None:
        return fmt.DASH
    if count < 1_000:
        return str(count)
    return f"{count / 1_000:.1f}K" if count < 999_950 else f"{count / 1_000_000:.1f}M"


def _row(label: str, *pieces: tuple[str, str]) -> Pieces:
    """Whatever a folder says passes the sanitiser here, whether the state cleaned it or not."""
    return [(" ", ""), *fit([(label, "deck--dim")], _LABEL), *((clean_line(text), style) for text, style in pieces)]


def _verdict(trial: TrialState) -> list[Pieces]:
    rows = [_row("verdict", *state_pieces(trial), ("  ", ""), (f"reward {fmt.reward(trial.reward)}", "deck--strong"))]
    rows += [
        _row("" if number else "rewards", (f"{name} {value:g}", ""))
        for number, (name, value) in enumerate(trial.rewards.items())
        if len(trial.rewards) > 1
    ]
    rows += [
        _row("" if number else "steps", (f"{step}  reward {rewards.get('reward', 0):g}", ""))
        for number, (step, rewards) in enumerate(trial.step_rewards.items())
    ]
    if trial.tests_total is not None:
        rows.append(_row("tests", (f"{trial.tests_passed or 0} of {trial.tests_total} passed", "")))
    return rows


def _agent(trial: TrialState, arm: ArmInfo | None, width: int) -> list[Pieces]:
    over = trial.agent_exit is not None or trial.done
    said: Pieces = [(f"exit {_exit(trial.agent_exit)}" if over else "not over", "")]
    if trial.agent_seconds is not None:
        said.append((f"  {fmt.short_time(trial.agent_seconds)}", "deck--dim"))
    if trial.timed_out:
        said.append(("  ▲ out of time", "deck--warn"))
    rows = [_row("agent", *said)]
    hidden = trial.arm == HIDDEN
    if hidden:
        rows += [_row("tokens", (HIDDEN, "")), _row("steps", (str(trial.steps), ""))]
    elif trial.steps or trial.tokens_in is not None:
        cached = f", {tokens(trial.tokens_cached)} of them cached" if trial.tokens_cached is not None else ""
        rows.append(_row("tokens", (f"{tokens(trial.tokens_in)} in{cached}, {tokens(trial.tokens_out)} out", "")))
        parts = [(trial.tokens_cache_written, "written to the cache"), (trial.tokens_reasoning, "reasoning")]
        if found := [f"{tokens(number)} {what}" for number, what in parts if number]:
            rows.append(_row("", (", ".join(found), "deck--dim")))
        rows.append(_row("steps", (str(trial.steps), "")))
    rows += _model(trial, arm, width)
    known = f", from {trial.cost_source}" if trial.cost_source else ""
    cost = "unknown" if trial.cost_usd is None else fmt.spent(trial.cost_usd, partial=trial.cost_partial)
    partly = ", part of it is unknown" if trial.cost_partial and trial.cost_usd is not None else ""
    rows.append(_row("cost", (HIDDEN if hidden else cost, ""), (known + partly, "deck--dim")))
    if trial.discarded_cost_usd is not None:
        text = fmt.spent(trial.discarded_cost_usd, partial=trial.discarded_cost_partial)
        rows.append(_row("", (f"{text} in interrupted runs of it", "deck--dim")))
    changed = trial.files_changed
    if changed is not None:
        words = f"{changed.added} added, {changed.changed} changed, {changed.deleted} deleted"
        unseen = f"  not known of {', '.join(changed.unseen)}" if changed.unseen else ""
        rows.append(_row("files", (words, ""), (unseen, "deck--dim")))
    return rows


def _model(trial: TrialState, arm: ArmInfo | None, width: int) -> list[Pieces]:
    """Its name and where it is, and calls of it, where the engine sees them."""
    rows = []
    if arm is not None and arm.model:
        places = (("from", arm.provider), ("at", arm.endpoint.base_url))
        where = "".join(f" · {word} {place}" for word, place in places if place)
        rows.append(fit(_row("model", (arm.model, ""), (where, "deck--dim")), width))
    if trial.model_calls is None:
        return rows
    said: Pieces = [(f"{fmt.count(trial.model_calls, 'call')} answered", "")]
    if trial.model_failures:
        again = f", {trial.model_retries} tried again" if trial.model_retries else ""
        said.append((f"  ▲ {trial.model_failures} failed{again}", "deck--warn"))
    return [*rows, _row("" if rows else "model", *said)]


def _exit(code: int | None) -> str:
    return fmt.DASH if code is None else str(code)


def _services(trial: TrialState, width: int) -> list[Pieces]:
    rows = []
    names = max((len(use.service) for use in trial.services.values()), default=0)
    for number, use in enumerate(trial.services.values()):
        now, peak = _now(use), _peak(use)
        wide = width >= 90
        said: Pieces = [
            *fit([(use.service, "")], min(names, 20) + 2),
            *fit(_service_state(use), 13),
            *now,
            *(([("  ", ""), *peak] if now else peak) if peak and (wide or not now) else []),
        ]
        if use.environment != "agent":
            said.append((f"  ({clean_line(use.environment)})", "deck--faint"))
        rows.append(_row("" if number else "services", *said))
        if now and peak and not wide:
            rows.append(_row("", (" " * (min(names, 20) + 15), ""), *peak))
        if use.detail:
            rows.append(_row("", (f"  {use.detail}", "deck--dim")))
    return rows


def _service_state(use: ServiceUse) -> Pieces:
    if use.out_of_memory:
        return [("! OOM-killed", "deck--bad")]
    code = f" {use.exit_code}" if use.exit_code is not None else ""
    style = "deck--bad" if use.state == "exited" and use.exit_code else _SERVICE_STYLES.get(use.state, "deck--dim")
    return [(f"{use.state}{code}", style)]


def _now(use: ServiceUse) -> Pieces:
    if not use.sampled:
        return []
    limit = f"/{use.cpu_limit:.0f}" if use.cpu_limit else ""
    memory = fmt.size_of(use.memory_bytes, use.memory_limit)
    return [
        ("cpu ", "deck--dim"),
        (f"{use.cpu_percent:.0f}{limit} %", ""),
        ("  mem ", "deck--dim"),
        (memory, _pressure(use.memory_bytes, use.memory_limit)),
    ]


def _peak(use: ServiceUse) -> Pieces:
    if not (use.peak_memory_bytes or use.peak_cpu_percent):
        return []
    memory = fmt.size_of(use.peak_memory_bytes, use.memory_limit)
    return [
        (f"peak cpu {use.peak_cpu_percent:.0f} %  mem ", "deck--dim"),
        (memory, _pressure(use.peak_memory_bytes, use.memory_limit) or "deck--dim"),
    ]


def _pressure(used: int, limit: int) -> str:
    if not limit:
        return ""
    return "deck--bad" if used >= 0.95 * limit else "deck--warn" if used >= 0.8 * limit else ""


def _hooks(trial: TrialState, width: int) -> list[Pieces]:
    rows = []
    for number, hook in enumerate(trial.hooks):
        bad = hook.timed_out or hook.exit_code != 0
        ended = "timed out" if hook.timed_out else f"exit {_exit(hook.exit_code)}"
        step = f"{hook.step}: " if hook.step else ""
        said: Pieces = [
            (f"{step}{hook.number}/{hook.of} {hook.service}  ", "deck--dim"),
            *fit([(ended, "deck--bad" if bad else "")], 11),
            (f"{hook.seconds:.1f} s  " if hook.seconds is not None else "", "deck--dim"),
            (clean_line(hook.command), ""),
        ]
        rows.append(_row("" if number else "hooks", *said))
        last = hook.output.strip().rpartition("\n")[2] if bad else ""
        if last:
            rows.append(_row("", (f"  {clean_line(last)}", "deck--dim")))
    return rows


def _artifacts(trial: TrialState, width: int) -> list[Pieces]:
    rows = []
    for number, item in enumerate(trial.artifacts):
        step = f"{item.step}: " if item.step else ""
        said: Pieces = [
            *fit([(item.status, _ARTIFACT_STYLES.get(item.status, "deck--bad"))], 11),
            *fit([(fmt.size(item.bytes) if item.bytes else "", "deck--dim")], 6),
            (f"{step}{item.service}:{item.source}", ""),
            (f"  {item.note}" if item.note else "", "deck--dim"),
        ]
        rows.append(_row("" if number else "artifacts", *said))
    return rows


def _plan(trial: TrialState) -> list[Pieces]:
    rows = []
    limits = "  ".join(f"{phase} {fmt.span(seconds)}" for phase, seconds in trial.limits.items())
    if limits:
        rows.append(_row("limits", (limits, "")))
    if trial.cpus or trial.memory_mb:
        memory = fmt.size(trial.memory_mb * 1024 * 1024) if trial.memory_mb else fmt.DASH
        rows.append(_row("resources", (f"{trial.cpus:g} cpu, {memory} memory", "")))
    kind = _DOT[0].join(word for word in (trial.category, trial.difficulty) if word)
    if kind:
        rows.append(_row("task", (kind, "")))
    if trial.started_at is not None:
        ended = f" to {fmt.wall_time(trial.finished_at)}" if trial.finished_at else ""
        rows.append(_row("started", (f"{fmt.wall_date(trial.started_at)}{ended}", "deck--dim")))
    rows += _earlier(trial)
    if trial.project:
        rows.append(_row("project", (clean_line(trial.project), "deck--dim")))
    rows.append(_row("trial", (clean_line(trial.trial), "deck--dim")))
    return rows


def _earlier(trial: TrialState) -> list[Pieces]:
    """The runs of it that this one followed: how each ended, its cost, why another was made, its files."""
    if trial.run_number <= 1 and not trial.earlier:
        return []
    known = "" if trial.earlier else ": earlier ones were interrupted"
    rows = [_row("run", (f"{trial.run_number}{known}", "deck--dim"))]
    for number, run in enumerate(trial.earlier):
        words = [f"run {run.run_number} {run.state}"]
        if run.reward is not None:
            words.append(f"reward {fmt.reward(run.reward)}")
        if run.cost_usd is not None:
            words.append(fmt.spent(run.cost_usd, partial=run.cost_partial))
        if run.cause:
            words.append(f"rerun for {run.cause}" + (f" by {run.by}" if run.by else ""))
        elif run.reason:
            words.append(run.reason)
        rows.append(_row("" if number else "earlier", (_DOT[0].join(words), "")))
        if run.folder:
            rows.append(_row("", (f"kept in {run.folder}", "deck--dim")))
    return rows
