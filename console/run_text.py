"""A run in plain lines: what is measured, what came of it, trial by trial. Pure: state in, lines out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from engine import events as ev
from engine import state as st
from engine import trial_state
from engine.analysis import wording as say
from engine.analysis.from_state import arm_outcomes
from engine.analysis.outcomes import TrialOutcome
from engine.analysis.rates import arm_rate, count
from engine.issues import Issue, Severity
from engine.readers.run_folder import TRIALDECK
from engine.state import RunState
from engine.trial_load import running_beside
from engine.trial_state import TrialState
from screens import format as fmt

DISCORDANT_SHOWN = 20
_COLUMNS = ("", "task", "arm", "#", "state", "reward", "tests", "time", "cost", "issues")


def header_lines(state: RunState, folder: Path) -> list[str]:
    """What the run measures; empty before its plan is known."""
    plan = state.plan
    if plan is None:
        return []
    task_set = task_set_text(plan.task_set)
    trials = f"{fmt.count(plan.tasks, 'task')} × {fmt.count(len(plan.arms), 'arm')}"
    ours = plan.source == TRIALDECK.kind  # of others' runs nobody may have said
    more = [
        f"concurrency {state.concurrency}" if ours or state.concurrency > 1 else "",
        f"seed {plan.seed}" if ours or plan.seed else "",
        f"timeout factor {plan.timeout_factor:g}" if plan.timeout_factor != 1 else "",
        f"spend cap {fmt.usd(plan.max_cost_usd)}" if plan.max_cost_usd is not None else "",
        f"card {short_digest(plan.card_digest)}" if plan.card_digest else "",
    ]
    return [
        f"run      {plan.name}",
        f"tasks    {task_set or '(unnamed)'}"
        + (f" · content {short_digest(plan.task_set.digest)}" if plan.task_set.digest else ""),
        *(
            f"{'arm' if len(plan.arms) == 1 else 'arms' if not index else '':<8} "
            f"{fmt.arm_letter(index)} {describe_arm(arm)}"
            for index, arm in enumerate(plan.arms)
        ),
        " · ".join(
            part
            for part in (f"trials   {plan.trials:,} ({trials} × {fmt.count(plan.attempts, 'attempt')})", *more)
            if part
        ),
        f"folder   {folder}",
    ]


def describe_arm(arm: ev.ArmInfo) -> str:
    """`sonnet (terminus2 1.2, sonnet-5.5)`: whatever the name alone does not say."""
    agent = " ".join(part for part in (arm.agent if arm.agent != arm.name else "", arm.agent_version) if part)
    parts = [f"version {agent}" if agent == arm.agent_version != "" else agent]
    parts += [arm.model if arm.model != arm.name else ""]
    parts += [f"{key}={value}" for key, value in arm.parameters.items()]
    details = ", ".join(part for part in parts if part)
    return f"{arm.name} ({details})" if details else arm.name


def task_set_text(task_set: ev.TaskSetInfo) -> str:
    """Its name and version; of a git commit as much as git itself shows."""
    commit = len(task_set.version) == 40 and all(char in "0123456789abcdef" for char in task_set.version)
    version = task_set.version[:12] if commit else task_set.version
    return " ".join(part for part in (task_set.name, version) if part)


def short_digest(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]


def trial_label(trial: TrialState, state: RunState) -> str:
    """`hello · oracle`, with the attempt where there are several."""
    several = state.plan is not None and state.plan.attempts > 1
    return f"{trial.task} · {trial.arm}" + (f" #{trial.attempt}" if several or trial.attempt > 1 else "")


def issue_text(issue: Issue) -> str:
    """`artifact_collect_failed: exit 3 (db) → way out`."""
    where = f" ({issue.service})" if issue.service and issue.service not in issue.message else ""
    ways = "".join(f" → {item.text}" for item in issue.evidence if item.label == "way out")
    return f"{issue.code}: {issue.message}{where}{ways}"


def summary_lines(state: RunState, folder: Path, *, alive: bool = True) -> list[str]:
    """Every arm with its denominators, money, issues, folder. The same numbers for a fresh run and a resumed one.

    `alive` is False where the engine is gone: what ran was cut off.
    """
    lines = []
    for index, (arm, outcomes) in enumerate(arm_outcomes(state).items()):
        lines += _arm_lines(fmt.arm_letter(index), state.arms[arm], outcomes)
    total = len(state.trials)
    again = sum(1 for trial in state.trials.values() if trial.run_number > 1)
    counts = [f"{state.done} of {total} done"]
    counts += [
        f"{number} {'cut off' if word == trial_state.RUNNING and not alive else word}"
        for word in (trial_state.RUNNING, trial_state.WAITING, trial_state.QUEUED, trial_state.INTERRUPTED)
        if (number := state.count(word))
    ]
    counts += [f"{again} ran again"] if again else []
    lines.append(f"trials   {' · '.join(counts)}")
    lines += _time_up(state)
    lines.append(f"cost     {cost_text(state)}")
    lines.append(f"issues   {severities_text(state.severities)}")
    if state.finished is not None:
        lines.append(
            f"took     {say_seconds(state.took) if state.took is not None else 'unknown'}{_reason(state.finished)}"
        )
    lines.append(f"folder   {folder}")
    return lines


def _time_up(state: RunState) -> list[str]:
    """How many agents ran out of time, and beside how many other trials: where it was more than beside the rest, the
    host or the model's server may be too busy, and not the model too slow."""
    ran = [trial for trial in state.trials.values() if trial.ran]
    late = sum(trial.timed_out for trial in ran)
    if not late:
        return []
    beside = running_beside(ran)
    loads: dict[bool, list[float]] = {True: [], False: []}
    for trial in ran:
        if trial.trial in beside:
            loads[trial.timed_out].append(beside[trial.trial])
    said = f"time up  for {late} of {len(ran)}"
    if loads[True] and loads[False]:
        said += f" · {fmean(loads[True]):.1f} others ran beside these, {fmean(loads[False]):.1f} beside the rest"
    return [said]


def _arm_lines(letter: str, arm: st.ArmState, outcomes: Sequence[TrialOutcome]) -> list[str]:
    counts = count(outcomes)
    lines = [f"{letter}  {arm.info.name}"]
    try:
        rate = arm_rate(outcomes)
    except ValueError as error:  # a folder that names one attempt twice
        return [*lines, f"   {counts.passed}/{counts.assigned} passed of assigned; {error}"]
    unfinished = counts.assigned - counts.finished
    lines.append(
        f"   {counts.passed}/{counts.assigned} passed of assigned  {say.percent(counts.rate)}"
        f"  {say.percent_range(rate.interval)} ({rate.method})" + (f"  {unfinished} not finished" if unfinished else "")
    )
    rest = [f"{counts.passed}/{counts.completed} of completed  {say.percent(counts.rate_completed)}"]
    rest += [
        f"{number} {word}"
        for word in (trial_state.FAILED, trial_state.UNSCORED, trial_state.REFUSED, trial_state.CANCELLED)
        if (number := arm.count(word)) or word == trial_state.UNSCORED
    ]
    if counts.scored < counts.assigned:
        rest.append(f"bounds {say.percent_range(counts.bounds)}")
    return [*lines, f"   {' · '.join(rest)}"]


def cost_text(state: RunState) -> str:
    """Unknown is not 0: it is said, and makes every sum a lower bound."""
    known = state.cost_usd
    if known is None:
        return "unknown"
    discarded = sum(trial.discarded_cost_usd or 0.0 for trial in state.trials.values())
    text = say.at_least(known, state.cost_unknown > 0)
    if state.cost_unknown:
        text += f", unknown for {fmt.count(state.cost_unknown, 'trial')}"
    return text + (f", {say.money(discarded)} of it for runs that were cut off" if discarded else "")


def severities_text(severities: dict[Severity, int]) -> str:
    found = [
        f"{severities[level]} fatal" if level is Severity.FATAL else fmt.count(severities[level], str(level))
        for level in Severity
        if severities.get(level)
    ]
    return " · ".join(found) or "none"


def say_seconds(seconds: float | None) -> str:
    """`2.3 s` where tenths matter, else as a span."""
    if seconds is not None and seconds < 100:
        return f"{seconds:.1f} s"
    return fmt.span(seconds)


def _reason(finished: ev.RunFinished) -> str:
    meaning = {0: "every trial scored", 2: "nothing could be run", 3: "some trials have no score", 130: "interrupted"}
    what = meaning.get(finished.exit_code, "")
    reason = f", {finished.reason}" if finished.reason not in ("", "done", "cancelled") else ""
    return f" · exit {finished.exit_code}{f': {what}' if what else ''}{reason}"


def comparison_text(state: RunState, width: int) -> list[str]:
    """The first arm against each other one; empty where there is nothing to compare yet."""
    arms = arm_outcomes(state)
    if len(arms) < 2 or not state.done:
        return []
    from engine.analysis.as_text import comparison_lines
    from engine.analysis.compare import compare

    first, *others = arms
    context = ""
    if state.plan is not None:
        context = task_set_text(state.plan.task_set)
    lines: list[str] = []
    for other in others:
        lines += [""] if lines else []
        try:
            found = compare(arms[first], arms[other], names=(first, other))
        except ValueError as error:
            lines.append(f"{first} and {other} can't be compared: {error}")
            continue
        lines += comparison_lines(found, width, context=context, most_tasks=DISCORDANT_SHOWN)
    return lines


def trial_table(state: RunState, width: int | None = None) -> list[str]:
    """One line a trial, in the order of the tasks; columns as wide as what is in them. With a `width`, names of tasks
    are cut to fit it."""
    rows = [_row(trial) for trial in sorted(state.trials.values(), key=_by_task)]
    if not rows:
        return ["no trials"]
    kept = [index for index in range(len(_COLUMNS)) if index < 5 or any(row[index] for row in rows)]
    table = [[row[index] for index in kept] for row in (_COLUMNS, *rows)]
    widths = [max(say.cells(row[place]) for row in table) for place in range(len(kept))]
    task = kept.index(1)
    spare = width - sum(widths) - 2 * (len(widths) - 1) if width is not None else 0
    if spare < 0:
        widths[task] = max(16, widths[task] + spare)
    right = {kept.index(index) for index in (3, 5, 6, 7, 8) if index in kept}
    lines = []
    for row in table:
        cells = []
        for place, text in enumerate(row):
            gap = " " * max(0, widths[place] - say.cells(text))
            cells.append(gap + text if place in right else say.fit(text, widths[place]))
        lines.append("  ".join(cells).rstrip())
    return lines


def _by_task(trial: TrialState) -> tuple[str, str, int]:
    return trial.task, trial.arm, trial.attempt


def _row(trial: TrialState) -> tuple[str, ...]:
    tests = f"{trial.tests_passed or 0}/{trial.tests_total}" if trial.tests_total is not None else ""
    codes = list(dict.fromkeys(str(issue.code) for level in Severity for issue in _of(trial, level)))
    return (
        fmt.state_glyph(trial),
        trial.task,
        trial.arm,
        str(trial.attempt),
        fmt.state_word(trial) + (" (time)" if trial.timed_out else ""),
        "" if trial.reward is None else fmt.reward(trial.reward),
        tests,
        "" if trial.seconds is None else say_seconds(trial.seconds),
        "" if trial.cost_usd is None else fmt.spent(trial.cost_usd, partial=trial.cost_partial),
        " ".join(codes[:2]) + (f" +{len(codes) - 2}" if len(codes) > 2 else ""),
    )


def _of(trial: TrialState, level: Severity) -> list[Issue]:
    return [issue for issue in trial.issues if issue.severity is level]


def issue_lines(state: RunState, most: int = 40) -> list[str]:
    """The run's own issues and those of trials, gravest first."""
    found = [(issue, "run") for issue in state.run_issues]
    found += [(issue, trial_label(trial, state)) for trial in state.trials.values() for issue in trial.issues]
    order = list(Severity)
    found.sort(key=lambda pair: order.index(pair[0].severity))
    lines = [
        f"{fmt.SEVERITY_GLYPHS[issue.severity]} {issue.severity:<7}  {whose}"
        f"{f' · {issue.phase}' if issue.phase else ''}  {issue_text(issue)}"
        for issue, whose in found[:most]
    ]
    return lines + ([f"… and {len(found) - most} more; --json has all"] if len(found) > most else [])
