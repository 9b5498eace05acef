"""A comparison as one HTML page that needs nothing beside it: no script, no link, light and dark. Data is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.analysis import wording as say
from engine.analysis.as_svg import report_svg, svg_style, text_of
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
    what_was_compared,
)
from engine.analysis.compare import Comparison
from engine.analysis.pass_at_k_table import HEAD, MEANING, TITLE, pass_at_k_rows
from engine.analysis.report import Report, source_line

_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.5 ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  margin: 2rem auto; max-width: 62rem; padding: 0 1rem;
  color: #1c2430; background: #ffffff; }
h1 { font-size: 1.3rem; } h2 { font-size: 1rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: .5rem 0; }
th, td { padding: .2rem .45rem; text-align: right; border-bottom: 1px solid #d8dee6; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; min-width: 11rem; }
td:first-child, .long { white-space: normal; }
th { font-weight: normal; color: #5b6675; }
.warn { border-left: 3px solid #b35900; padding-left: .7rem; }
.dim { color: #5b6675; }
svg { max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) {
  body { color: #dfe6ee; background: #12171e; }
  th, td { border-color: #3a4552; } th, .dim { color: #93a0b0; } .warn { border-color: #e0a050; }
}
"""
_NUMBER = 15
_COUNTS = ("arm", "assigned", "completed", "scored", "excluded", "resolved")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_html(report: Report) -> str:
    return reports_html([report])


def reports_html(reports: Sequence[Report]) -> str:
    """Several arms against one baseline: one after the other, all arms once at the end."""
    body = [line for report in reports for line in _body(report)]
    return page(
        "; ".join(_title(report) for report in reports),
        [
            *body,
            *_standings(reports[0]),
            f'<p class="dim">made {reports[0].made_at.isoformat()} by {text_of(reports[0].made_by)}</p>',
        ],
    )


def _title(report: Report) -> str:
    a, b = report.found.arms
    return f"{a.name} against {b.name}"


def _body(report: Report) -> list[str]:
    found = report.found
    table = found.table
    return [
        f"<h1>{text_of(_title(report))}</h1>",
        paragraph(what_was_compared(found)),
        *([paragraph(f"Question: {report.question}.")] if report.question else []),
        *(f'<p class="warn">! {text_of(text)}</p>' for text in report.limits),
        report_svg(report, standalone=False),
        "<h2>Difference</h2>",
        paragraph(f"{difference_line(found)} {method_line(found.difference)}"),
        *([paragraph(family_line(found))] if family_line(found) else []),
        *([paragraph(reward_line(found))] if reward_line(found) else []),
        paragraph(mcnemar_line(found)),
        paragraph(power_line(found)),
        table_of(
            ["first attempts", "B resolved", "B not"],
            [("A resolved", table.both, table.a_only), ("A not", table.b_only, table.neither)],
        ),
        "<h2>Rates</h2>",
        table_of(
            [*_COUNTS, "rate", "95 % interval", "of completed", "missing all lost – all won"],
            [
                (
                    f"{side} {arm.name}",
                    arm.assigned,
                    arm.completed,
                    arm.scored,
                    arm.excluded,
                    arm.resolved,
                    say.percent(arm.rate) + ("" if arm.rate_of == "assigned" else " of finished"),
                    f"{say.percent_range(arm.interval)} ({arm.interval_method})",
                    say.percent(arm.rate_completed),
                    say.percent_range(arm.bounds),
                )
                for side, arm in sides(found)
            ],
        ),
        *(paragraph(cost_line(side, arm)) for side, arm in sides(found)),
        *([paragraph(cascade_line(found))] if cascade_line(found) else []),
        *_several_attempts(found),
        "<h2>Sensitivity</h2>",
        table_of(
            ["reading", "pairs left out", "verdicts set", "A", "B", "A − B"],
            [
                (
                    view.name,
                    view.left_out,
                    view.changed,
                    say.percent(view.rate_a),
                    say.percent(view.rate_b),
                    say.points(view.difference),
                )
                for view in found.sensitivity
            ],
        ),
        "<h2>Tasks on which the first attempts disagree</h2>",
        _discordant(report),
        "<h2>Sources</h2>",
        *(paragraph(text) for text in report.arm_differences),
        *(paragraph(source_line(source)) for source in report.sources),
    ]


def _several_attempts(found: Comparison) -> list[str]:
    rows = pass_at_k_rows(found)
    return [f"<h2>{TITLE}</h2>", paragraph(MEANING), table_of(HEAD, rows)] if rows else []


def page(title: str, body: Iterable[str]) -> str:
    """`title` is text, `body` is HTML."""
    head = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{text_of(title)}</title>",
        f"<style>{_STYLE}{svg_style()}</style></head><body>",
    ]
    return "\n".join([*head, *body, "</body></html>"]) + "\n"


def paragraph(text: str) -> str:
    return f"<p>{text_of(text)}</p>"


def _cell(text: str) -> str:
    """A number stays on one line; words may take several."""
    kind = ' class="long"' if len(text) > _NUMBER else ""
    return f"<td{kind}>{text_of(text)}</td>"


def table_of(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["<table><thead><tr>" + "".join(f"<th>{text_of(cell)}</th>" for cell in head) + "</tr></thead><tbody>"]
    lines += ["<tr>" + "".join(_cell(str(cell)) for cell in row) + "</tr>" for row in rows]
    return "\n".join([*lines, "</tbody></table>"])


def _discordant(report: Report) -> str:
    found = report.found
    if not found.discordant:
        return paragraph("None.")
    rows = [
        (task.task, f"{task.only.upper()} only", say.reward(task.reward_a), say.reward(task.reward_b))
        for task in (*found.a_only, *found.b_only)
    ]
    return table_of(["task", "resolved by", "reward A", "reward B"], rows)


def _standings(report: Report) -> list[str]:
    if not report.standings:
        return []
    rows = [
        (
            arm.name,
            arm.rank,
            say.percent(arm.rate.rate),
            say.percent_range(arm.rate.interval),
            say.points(arm.difference),
            say.points_range(arm.low, arm.high),
            say.p_value(arm.adjusted.exact) if arm.adjusted else say.DASH,
            say.p_value(arm.adjusted.holm) if arm.adjusted else say.DASH,
        )
        for arm in report.standings
    ]
    looked = f"{len(rows) - 1} arms were compared with the baseline; each is one more chance to be wrong."
    head = ["arm", "rank", "rate", "95 % interval", "baseline − arm", "95 % interval", "p (exact)", "p (Holm)"]
    return ["<h2>All arms</h2>", paragraph(looked), table_of(head, rows)]
