"""A comparison as Markdown, for an issue or a report. Names are data: nothing in them becomes markup."""

from __future__ import annotations

import re

from engine.analysis import wording as say
from engine.analysis.as_text import (
    cascade_line,
    cost_line,
    difference_line,
    family_line,
    mcnemar_line,
    method_line,
    power_line,
    reward_line,
    sides,
    warnings,
    what_was_compared,
)
from engine.analysis.compare import Comparison
from engine.analysis.pass_at_k_table import HEAD, MEANING, TITLE, pass_at_k_rows
from engine.analysis.report import Report, source_line
from engine.text import clean_line

_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")


def escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", clean_line(text))


def comparison_markdown(found: Comparison, *, context: str = "") -> str:
    """Ends with a newline. `context` names the task set and the card."""
    a, b = found.arms
    parts = [what_was_compared(found), escaped(context)]
    lines = [
        f"## {escaped(a.name)} against {escaped(b.name)}",
        "",
        " · ".join(part for part in parts if part),
        "",
        "| arm | assigned | completed | scored | excluded | resolved | rate | 95 % interval | of completed | bounds |",
        "| --- |" + " ---: |" * 9,
    ]
    for side, arm in sides(found):
        live = "" if arm.rate_of == "assigned" else " of finished"
        lines.append(
            f"| {side} {escaped(arm.name)} | {arm.assigned} | {arm.completed} | {arm.scored} "
            f"| {arm.excluded} | {arm.resolved} | {say.percent(arm.rate)}{live} "
            f"| {say.percent_range(arm.interval)} ({arm.interval_method}) "
            f"| {say.percent(arm.rate_completed)} | {say.percent_range(arm.bounds)} |"
        )
    table = found.table
    lines += [
        "",
        "| first attempts | B resolved | B not |",
        "| --- | ---: | ---: |",
        f"| A resolved | {table.both} | {table.a_only} |",
        f"| A not | {table.b_only} | {table.neither} |",
        "",
        f"- {difference_line(found)} {method_line(found.difference)}",
        *([f"- {family_line(found)}"] if family_line(found) else []),
        *([f"- {reward_line(found)}"] if reward_line(found) else []),
        f"- {mcnemar_line(found)}",
        f"- {power_line(found)}",
        *(f"- {cost_line(side, arm)}" for side, arm in sides(found)),
        *([f"- {cascade_line(found)}"] if cascade_line(found) else []),
        *(f"- **note** {escaped(note)}" for note in warnings(found)),
        "",
        *_several_attempts(found),
        *_sensitivity(found),
        "",
        *_discordant(found),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _several_attempts(found: Comparison) -> list[str]:
    rows = pass_at_k_rows(found)
    if not rows:
        return []
    return [
        f"{TITLE}. {escaped(MEANING)}",
        "",
        f"| {' | '.join(HEAD)} |",
        "| --- |" + " ---: |" * (len(HEAD) - 2) + " --- |",
        *(f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows),
        "",
    ]


def report_markdown(report: Report) -> str:
    """The comparison with its question, the other arms, what the arms differ in, and its sources."""
    lines = [comparison_markdown(report.found).rstrip(), ""]
    if report.question:
        lines += [f"Question: {escaped(report.question)}.", ""]
    lines += [*(f"- {escaped(text)}" for text in report.arm_differences), ""] if report.arm_differences else []
    if report.standings:
        lines += [
            f"{len(report.standings) - 1} arms were compared with the baseline; each is one more chance to be wrong.",
            "",
            "| arm | rank | rate | 95 % interval | baseline − arm | p (exact) | p (Holm) |",
            "| --- |" + " ---: |" * 6,
            *(
                f"| {escaped(arm.name)} | {arm.rank} | {say.percent(arm.rate.rate)} "
                f"| {say.percent_range(arm.rate.interval)} "
                f"| {say.points(arm.difference)} ({say.points_range(arm.low, arm.high)}) "
                f"| {say.p_value(arm.adjusted.exact) if arm.adjusted else say.DASH} "
                f"| {say.p_value(arm.adjusted.holm) if arm.adjusted else say.DASH} |"
                for arm in report.standings
            ),
            "",
        ]
    lines += ["Sources:", "", *(f"- {escaped(source_line(source))}" for source in report.sources), ""]
    lines.append(f"Made {report.made_at.isoformat()} by {escaped(report.made_by)}.")
    return "\n".join(lines) + "\n"


def _sensitivity(found: Comparison) -> list[str]:
    if not any(view.left_out or view.changed for view in found.sensitivity):
        return [f"Sensitivity: {say.LABELLED}."]
    return [
        "| sensitivity | pairs left out | verdicts set | A | B | A − B |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {view.name} | {view.left_out} | {view.changed} | {say.percent(view.rate_a)} "
            f"| {say.percent(view.rate_b)} | {say.points(view.difference)} |"
            for view in found.sensitivity
        ),
    ]


def _discordant(found: Comparison) -> list[str]:
    if not found.discordant:
        return ["No task's first attempts disagree."]
    return [
        "| task | resolved by | reward A | reward B |",
        "| --- | --- | ---: | ---: |",
        *(
            f"| {escaped(task.task)} | {task.only.upper()} only "
            f"| {say.reward(task.reward_a)} | {say.reward(task.reward_b)} |"
            for task in (*found.a_only, *found.b_only)
        ),
    ]
