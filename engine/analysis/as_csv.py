"""A comparison as CSV: a line of provenance after another, each begun by `#`, then one row a task."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from engine.analysis.as_text import difference_line, family_line, mcnemar_line, rate_line, sides
from engine.analysis.report import PairRow, Report, source_line
from engine.analysis.safe_cell import safe_cell
from engine.text import clean_line

COLUMNS = (
    "task",
    "outcome",
    "attempts_a",
    "passed_a",
    "first_a",
    "reward_a",
    "cost_usd_a",
    "label_a",
    "attempts_b",
    "passed_b",
    "first_b",
    "reward_b",
    "cost_usd_b",
    "label_b",
)
_OUTCOMES = {
    (True, True): "both",
    (True, False): "A only",
    (False, True): "B only",
    (False, False): "neither",
}


def report_csv(report: Report) -> str:
    """Rewards, costs and verdicts that are missing are empty cells, never a zero."""
    return reports_csv([report])


def reports_csv(reports: Sequence[Report]) -> str:
    """Of several arms against one baseline: each row names its two arms in front."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    several = len(reports) > 1
    for report in reports:
        for text in _provenance(report):
            rows.writerow([f"# {clean_line(text)}"])
    rows.writerow((*(("arm_a", "arm_b") if several else ()), *COLUMNS))
    for report in reports:
        names = tuple(safe_cell(arm.name) for arm in report.found.arms) if several else ()
        for pair in report.pairs:
            rows.writerow((*names, *_cells(pair)))
    return out.getvalue()


def _provenance(report: Report) -> Iterator[str]:
    found = report.found
    yield f"A: {found.arms[0].name}"
    yield f"B: {found.arms[1].name}"
    yield from (f"source {source_line(source)}" for source in report.sources)
    yield from (rate_line(side, arm) for side, arm in sides(found))
    yield difference_line(found)
    if family_line(found):
        yield family_line(found)
    yield mcnemar_line(found)
    for view in found.sensitivity:
        yield (
            f"sensitivity, {view.name}: A {_share(view.rate_a)}, B {_share(view.rate_b)}, "
            f"difference {_share(view.difference)}, {view.left_out} pairs left out, {view.changed} verdicts set"
        )
    yield from (f"note: {text}" for text in report.limits)
    yield f"question: {report.question}"
    yield f"made {report.made_at.isoformat()} by {report.made_by}"


def _cells(pair: PairRow) -> tuple[object, ...]:
    return (
        safe_cell(pair.task),
        _OUTCOMES[pair.first_a is True, pair.first_b is True],
        pair.attempts_a,
        pair.passed_a,
        _verdict(pair.first_a),
        _number(pair.reward_a),
        _number(pair.cost_a),
        safe_cell(pair.label_a),
        pair.attempts_b,
        pair.passed_b,
        _verdict(pair.first_b),
        _number(pair.reward_b),
        _number(pair.cost_b),
        safe_cell(pair.label_b),
    )


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.6f}"


def _verdict(passed: bool | None) -> str:
    return "" if passed is None else "passed" if passed else "failed"


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)
