"""Reviews of an analysis as lines of text."""

from __future__ import annotations

from engine.analysis import wording as say
from engine.analysis.analysis import Analysis
from engine.analysis.named_rows import named


def review_lines(found: Analysis, width: int) -> list[str]:
    lines: list[str] = []
    name = max(16, width - 62)
    for benchmark in dict.fromkeys(row.benchmark for row in found.reviews):
        lines.append(say.fit(f"  {benchmark}", width))
        lines.append(
            f"  {say.fit('arm', name)}{'resolved':>10}{'wrong':>8}{'abstained':>11}{'no verdict':>12}{'reviewed':>17}"
        )
        rows = [row for row in found.reviews if row.benchmark == benchmark]
        for row in rows:
            numbers = f"{row.resolved:>10,}{row.wrong:>8,}{row.abstained:>11,}{row.no_verdict:>12,}"
            numbers += f"{f'{row.reviewed:,} of {row.finished:,}':>17}"
            lines += named("  ", row.arm, name, numbers, width)
        for row in rows:
            least = "at least " if row.minutes_unknown else ""
            parts = [
                f"{least}{row.minutes:,.0f} minutes of review" if row.minutes is not None else "",
                f"{least}{row.minutes_per_resolved:,.1f} a resolved task"
                if row.minutes_per_resolved is not None
                else "",
                f"{say.at_least(row.dollars_per_resolved, row.dollars_are_lower_bound)} a resolved task"
                if row.dollars_per_resolved is not None
                else "",
                f"{row.reworked:,} reworked" if row.reworked is not None else "",
                f"{row.reopened:,g} reopened" if row.reopened is not None else "",
            ]
            told = " · ".join(part for part in parts if part)
            if told:
                lines += [f"  {line}" for line in say.wrap(f"{row.arm}: {told}", width - 2, "  ")]
    return lines
