"""What was decided on, so that somebody else can judge it later: the question, who was measured on what, the rule for a
pass, the budget, the result with its uncertainty, what it depends on, its limits, and what would settle the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from engine.analysis import wording as say
from engine.analysis.arms import ArmTrials
from engine.analysis.as_text import (
    cost_line,
    difference_line,
    family_line,
    mcnemar_line,
    method_line,
    power_line,
    rate_line,
    reward_line,
    sides,
    what_was_compared,
)
from engine.analysis.compare import Comparison, compare
from engine.analysis.power import standard_errors_apart, tasks_needed
from engine.analysis.record_text import Record, Section, Table
from engine.analysis.report import Report, source_line
from engine.runs.card import RunCard, Split
from engine.state import RunState

_INTERLEAVED = 0.5
"""From this share of the shorter side's time on that both sides ran together, they count as interleaved."""


def decision_record(
    reports: Sequence[Report],
    trials: Sequence[ArmTrials],
    runs: Mapping[str, RunState],
    cards: Mapping[str, RunCard],
) -> Record:
    """`reports` are of the first of `trials`, the baseline, against each other one; `cards` by the labels of runs."""
    names = [arm.name for arm in trials]
    used = dict.fromkeys(ref.run for arm in trials for ref in arm.arm.refs)
    stated = {label: cards[label] for label in used if label in cards}
    split = next((card.split for card in stated.values() if card.split.pilot or card.split.held_out), Split())
    first = reports[0]
    sections = [
        Section(title="Question", lines=tuple(_question(reports, stated))),
        Section(title="Population", lines=tuple(_population(reports, stated, split))),
        Section(title="Acceptance rule", lines=tuple(_acceptance(used, stated))),
        Section(title="Budget", lines=tuple(_budget(reports, {label: runs[label] for label in used}, stated))),
    ]
    for report, other in zip(reports, trials[1:], strict=True):
        against = f", {names[0]} against {other.name}" if len(reports) > 1 else ""
        sections += [
            Section(title=f"Result{against}", lines=tuple(_result(report.found)), tables=(_rates(report.found),)),
            *_split(trials[0], other, split, report, against),
            *_blocks(trials[0], other, runs, against),
            Section(
                title=f"Sensitivity{against}", lines=tuple(_labelled(report)), tables=(_sensitivity(report.found),)
            ),
            Section(title=f"Limits{against}", lines=report.limits or ("none is known",)),
            Section(title=f"What would settle the rest{against}", lines=tuple(_rest(report.found))),
        ]
    if first.standings:
        sections.insert(4, _standings(first))
    sources = {source_line(source): None for report in reports for source in report.sources}
    sections.append(Section(title="Sources", lines=tuple(sources)))
    title = f"Decision record: {' against '.join(names[:2])}{f' and {len(names) - 2} more' if len(names) > 2 else ''}"
    return Record(title=title, sections=tuple(sections), made=f"made {first.made_at.isoformat()} by {first.made_by}")


def _question(reports: Sequence[Report], stated: Mapping[str, RunCard]) -> Iterator[str]:
    asked = dict.fromkeys(str(card.question) for card in stated.values() if card.question)
    yield f"stated before the run: {' and '.join(asked)}" if asked else "no run card states a question"
    for text in dict.fromkeys(card.hypothesis for card in stated.values() if card.hypothesis):
        yield f"hypothesis: {text}"
    for text in dict.fromkeys(card.primary_metric for card in stated.values()):
        yield f"looked at first: {text}"
    for text in dict.fromkeys(report.question for report in reports if report.question):
        yield f"what the arms can answer: {text}"
    for report in reports:
        a, b = report.found.arms
        of = f"{a.name} against {b.name}: " if len(reports) > 1 else ""  # each is B in its turn
        yield from (f"{of}{text}" for text in report.arm_differences)


def _population(reports: Sequence[Report], stated: Mapping[str, RunCard], split: Split) -> Iterator[str]:
    yield from dict.fromkeys(what_was_compared(report.found) for report in reports)
    sets = dict.fromkeys(
        f"{source.task_set or 'task set unknown'} "
        f"{source.task_set_version[:12] or 'of unknown version'}"
        f"{f' (digest {digest})' if (digest := source.task_set_digest.removeprefix('sha256:')[:12]) else ''}"
        for report in reports
        for source in report.sources
    )
    yield f"task set: {'; '.join(sets)}"
    left_out = {one.task: one.reason for card in stated.values() for one in card.exclusions}
    for task, reason in left_out.items():
        yield f"left out before the run: {task}, {reason}"
    if split.pilot or split.held_out:
        yield f"{say.many(len(split.pilot), 'pilot task')}, {len(split.held_out)} held out; shown apart below"


def _acceptance(used: Mapping[str, None], stated: Mapping[str, RunCard]) -> Iterator[str]:
    for rule in dict.fromkeys(card.acceptance for card in stated.values()):
        whose = [label for label, card in stated.items() if card.acceptance == rule]
        yield f"a trial passes where {rule}, as said before the run" + (
            f" ({say.listed(whose)})" if len(whose) < len(used) else ""
        )
    silent = [label for label in used if label not in stated]
    if silent:
        yield f"no run card states a rule for {say.listed(silent)}: a pass is what the source calls one"


def _budget(reports: Sequence[Report], runs: Mapping[str, RunState], stated: Mapping[str, RunCard]) -> Iterator[str]:
    for label, state in runs.items():
        plan = state.plan
        if plan is None or plan.source == "csv":
            yield f"{label}: nothing is known of its limits"
            continue
        if plan.source != "trialdeck":
            yield f"{label}: {say.many(plan.attempts, 'attempt')} a task; its other limits are not told"
            continue
        cap = "no spend cap" if plan.max_cost_usd is None else f"at most {say.money(plan.max_cost_usd)}"
        parts = [say.many(plan.attempts, "attempt") + " a task", f"timeout factor {plan.timeout_factor:g}", cap]
        card = stated.get(label)
        if card is not None:
            causes = say.listed([str(cause) for cause in card.retries.causes]) or "no cause"
            parts.append(f"reruns for {causes}, at most {card.retries.most}")
            parts += [f"CPUs capped at {card.cpus_cap:g}"] if card.cpus_cap is not None else []
            parts += [f"memory capped at {card.memory_mb_cap} MB"] if card.memory_mb_cap is not None else []
            parts += [
                f"amended {change.at.isoformat()}: {change.key} {change.before} → {change.after}"
                for change in card.amendments
            ]
        yield f"{label}: {' · '.join(parts)}"
    lines = [
        cost_line(side if len(reports) == 1 else arm.name, arm)
        for report in reports
        for side, arm in sides(report.found)
    ]
    yield from dict.fromkeys(f"spent: {line}" for line in lines)


def _result(found: Comparison) -> Iterator[str]:
    yield from (rate_line(side, arm) for side, arm in sides(found))
    yield f"{difference_line(found)} {method_line(found.difference)}"
    if family_line(found):
        yield family_line(found)
    if reward_line(found):
        yield reward_line(found)
    yield mcnemar_line(found)
    table = found.table
    yield f"first attempts: both {table.both}, A only {table.a_only}, B only {table.b_only}, neither {table.neither}"
    yield power_line(found)
    yield f"in a sentence: {_verdict(found)}"


def _settled(found: Comparison) -> bool:
    delta = found.difference
    known = delta.low is not None and delta.high is not None and not delta.too_few and not delta.degenerate
    return known and ((delta.low or 0.0) > 0 or (delta.high or 0.0) < 0)


def _verdict(found: Comparison) -> str:
    delta = found.difference
    if delta.estimate is None:
        return "there is nothing to compare yet"
    if delta.too_few:
        return "too few tasks to say which is better"
    if delta.degenerate:
        return "every task differs by the same amount: nothing tells how far this result would vary"
    if _settled(found):
        better = "A" if delta.estimate > 0 else "B"
        return f"{better} resolves more of these tasks; the interval of the difference leaves 0 out"
    fits = (
        f"the data don't tell the arms apart: anything from {say.points_range(delta.low, delta.high)} points fits them"
    )
    least = found.power.detectable
    if least is None or abs(delta.estimate) >= least:
        return fits
    return f"{fits}, and {say.points(delta.estimate)} is less than the {100 * least:.1f} that this design detects"


def _rates(found: Comparison) -> Table:
    return Table(
        head=(
            "arm",
            "assigned",
            "completed",
            "scored",
            "excluded",
            "resolved",
            "rate",
            "95 % interval",
            "of completed",
        ),
        rows=tuple(
            (
                f"{side} {arm.name}",
                *(str(n) for n in (arm.assigned, arm.completed, arm.scored, arm.excluded, arm.resolved)),
                say.percent(arm.rate) + ("" if arm.rate_of == "assigned" else " of finished"),
                say.percent_range(arm.interval),
                say.percent(arm.rate_completed),
            )
            for side, arm in sides(found)
        ),
    )


def _labelled(report: Report) -> Iterator[str]:
    if not any(view.left_out or view.changed for view in report.found.sensitivity):
        yield say.LABELLED
    for mover in report.movers[:10]:
        reach = say.points_range(mover.low, mover.high) if mover.low != mover.high else say.points(mover.low)
        whose = f"{mover.side.upper()} attempt {mover.attempt}"
        yield f"{mover.task}, {whose}, {mover.cause}: moves A − B by {reach} points"
    if len(report.movers) > 10:
        yield f"and {len(report.movers) - 10} more labelled trials that move it less"


def _sensitivity(found: Comparison) -> Table:
    return Table(
        head=("reading", "pairs left out", "verdicts set", "A", "B", "A − B", "95 % interval"),
        rows=tuple(
            (
                view.name,
                str(view.left_out),
                str(view.changed),
                say.percent(view.rate_a),
                say.percent(view.rate_b),
                say.points(view.difference),
                say.points_range(view.low, view.high),
            )
            for view in found.sensitivity
        ),
    )


def _standings(report: Report) -> Section:
    rows = tuple(
        (
            arm.name,
            str(arm.rank),
            say.percent(arm.rate.rate),
            say.percent_range(arm.rate.interval),
            say.points(arm.difference),
            say.p_value(arm.adjusted.exact) if arm.adjusted else say.DASH,
            say.p_value(arm.adjusted.holm) if arm.adjusted else say.DASH,
        )
        for arm in report.standings
    )
    looked = f"{len(rows) - 1} arms were compared with the baseline; each is one more chance to be wrong"
    head = ("arm", "rank", "rate", "95 % interval", "baseline − arm", "p (exact)", "p (Holm)")
    return Section(title="All arms", lines=(looked,), tables=(Table(head=head, rows=rows),))


# --- pilot and held-out tasks, blocks of time ---------------------------------------------------------------------


def _split(a: ArmTrials, b: ArmTrials, split: Split, report: Report, against: str) -> Iterator[Section]:
    """Arms were made ready on the pilot tasks, so their numbers flatter; what nobody looked at stands apart."""
    if not (split.pilot or split.held_out):
        return
    common = {pair.task for pair in report.pairs}
    groups = [("pilot", set(split.pilot)), ("held out", set(split.held_out))]
    groups.append(("neither", common - groups[0][1] - groups[1][1]))
    rows = []
    for name, tasks in groups:
        if not tasks & common:
            rows.append((name, "0", *[say.DASH] * 4))
            continue
        found = compare(
            [trial for trial in a.outcomes if trial.task in tasks],
            [trial for trial in b.outcomes if trial.task in tasks],
            attempts=report.found.attempts,
            names=(a.name, b.name),
        )
        delta = found.difference
        rows.append(
            (
                name,
                str(found.tasks),
                *(say.percent(arm.rate) for arm in found.arms),
                say.points(delta.estimate) + (" (too few to say)" if delta.too_few else ""),
                say.points_range(delta.low, delta.high),
            )
        )
    table = Table(head=("tasks", "number", "A", "B", "A − B", "95 % interval"), rows=tuple(rows))
    said = "pilot tasks were looked at while the arms were made ready; only held-out ones speak for what is new"
    yield Section(title=f"Pilot and held out{against}", lines=(said,), tables=(table,))


def _blocks(a: ArmTrials, b: ArmTrials, runs: Mapping[str, RunState], against: str) -> Iterator[Section]:
    """When each side ran, where they did not run together: a provider's bad hour may then be one side's alone."""
    spans = [_spans(arm, runs) for arm in (a, b)]
    if not all(spans):
        return
    begins, ends = ([edge(span[at] for span in side) for side in spans] for edge, at in ((min, 0), (max, 1)))
    together = (min(ends) - max(begins)).total_seconds()
    shorter = min((end - begin).total_seconds() for begin, end in zip(begins, ends, strict=True))
    if together > 0 and together >= _INTERLEAVED * shorter:
        return
    rows = tuple(
        (f"{letter} {arm.name}", begin.isoformat(timespec="seconds"), end.isoformat(timespec="seconds"), str(len(side)))
        for letter, arm, side in zip("AB", (a, b), spans, strict=True)
        for begin, end in [(min(one[0] for one in side), max(one[1] for one in side))]
    )
    said = "the arms did not run at the same time: what changed between their blocks can't be told from the arms"
    table = Table(head=("arm", "first start", "last end", "trials"), rows=rows)
    yield Section(title=f"Time blocks{against}", lines=(said,), tables=(table,))


def _spans(arm: ArmTrials, runs: Mapping[str, RunState]) -> list[tuple[datetime, datetime]]:
    arms = {(ref.run, ref.arm) for ref in arm.arm.refs}
    return [
        (trial.started_at, trial.finished_at or trial.started_at)
        for label in dict.fromkeys(ref.run for ref in arm.arm.refs)
        for trial in list(runs[label].trials.values())
        if (label, trial.arm) in arms and trial.started_at is not None
    ]


# --- what would settle the rest -----------------------------------------------------------------------------------


def _rest(found: Comparison) -> Iterator[str]:
    if found.unfinished:
        yield f"the end of {say.many(found.unfinished, 'trial')}"
    if found.no_verdict:
        yield f"a verdict for {say.many(len(found.no_verdict), 'task')}: {say.listed(found.no_verdict)}"
    doubtful = sum(view.changed for view in found.sensitivity[2:3])
    if doubtful:
        yield f"a decision on {say.many(doubtful, 'trial')} labelled ambiguous"
    if found.card_differences or found.card_unknowns:
        yield "runs whose cards differ in the arm alone, and say everything"
    if found.only_in_a or found.only_in_b:
        yield f"both arms on the {say.many(len(found.only_in_a) + len(found.only_in_b), 'task')} that one side lacks"
    needed = _tasks_for(found)
    if _settled(found):
        yield "the same comparison on tasks that nobody has looked at"
    elif needed is not None:
        delta = found.difference.estimate or 0.0
        yield (
            f"about {needed:,} tasks, if the difference is truly {say.points(delta)} points and tasks vary as here "
            f"(80 % power; these are {found.tasks:,})"
        )
    else:
        yield "more tasks; how many can't be told from a difference of 0 or from tasks that never disagree"


def _tasks_for(found: Comparison) -> int | None:
    """How many tasks would tell the difference seen from 0."""
    delta = found.difference
    if not delta.estimate or not found.tasks:
        return None
    if any(arm.attempts_per_task > 1 for arm in found.arms):
        if not delta.standard_error:
            return None
        return math.ceil(found.tasks * (standard_errors_apart() * delta.standard_error / delta.estimate) ** 2)
    table = found.table
    return tasks_needed(delta.estimate, (table.a_only + table.b_only) / table.tasks) if table.tasks else None
