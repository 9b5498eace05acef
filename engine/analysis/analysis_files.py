"""An analysis as files: text, Markdown, JSON, CSV, HTML and SVG. Data in them is escaped; CSV cells are no formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping

from engine.analysis.analysis import Analysis
from engine.analysis.analysis_svg import analysis_svg
from engine.analysis.analysis_text import analysis_lines, analysis_sections, note_lines
from engine.analysis.as_html import page
from engine.analysis.as_markdown import escaped
from engine.analysis.as_svg import text_of
from engine.analysis.safe_cell import safe_cell
from engine.json_document import json_document

WIDTH = 100
_COLUMNS = (
    "benchmark",
    "arm",
    "rank",
    "tasks",
    "attempts",
    "assigned",
    "completed",
    "scored",
    "excluded",
    "passed",
    "rate",
    "low",
    "high",
    "index",
)


def analysis_json(found: Analysis) -> str:
    """Fractions, seconds and dollars."""
    return json_document(found, indent=2).decode() + "\n"


def analysis_markdown(found: Analysis) -> str:
    """A heading a section; tables and plots as they stand in text."""
    parts = [f"# Analysis: {escaped(', '.join(found.arms))}", ""]
    if found.notes:
        parts += [_fenced(note_lines(found, WIDTH)), ""]
    for section in analysis_sections(found, WIDTH):
        parts += [f"## {section.title}", "", _fenced(section.lines), ""]
    return "\n".join(parts)


def analysis_html(found: Analysis) -> str:
    """One page that needs nothing beside it: the picture, then every section."""
    title = f"Analysis: {', '.join(found.arms)}"
    body = [f"<h1>{text_of(title, 400)}</h1>"]
    body += [f'<p class="warn">! {text_of(note, 1_000)}</p>' for note in found.notes]
    body.append(analysis_svg(found, standalone=False))
    for section in analysis_sections(found, WIDTH):
        body.append(f"<h2>{text_of(section.title)}</h2>")
        body.append("<pre>" + "\n".join(text_of(line, 1_000) for line in section.lines) + "</pre>")
    return page(title, body)


def analysis_csv(found: Analysis) -> str:
    """A row an arm and benchmark; shares as fractions, empty where there is none."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    for note in found.notes:
        rows.writerow([f"# note: {safe_cell(note)}"])
    for source in found.sources:
        rows.writerow([f"# source: {safe_cell(source)}"])
    rows.writerow(_COLUMNS)
    values = {index.arm: index.value for index in found.indices}
    for row in found.ranked:
        low, high = row.interval or (None, None)
        numbers = (row.rank, row.tasks, row.attempts, row.assigned, row.completed, row.scored, row.excluded, row.passed)
        shares = (row.rate, low, high, values.get(row.arm))
        cells = ("" if share is None else repr(share) for share in shares)
        rows.writerow((safe_cell(row.benchmark), safe_cell(row.arm), *numbers, *cells))
    return out.getvalue()


WRITERS: Mapping[str, Callable[[Analysis], str]] = {
    "txt": lambda found: "\n".join(analysis_lines(found, WIDTH)) + "\n",
    "md": analysis_markdown,
    "json": analysis_json,
    "csv": analysis_csv,
    "html": analysis_html,
    "svg": analysis_svg,
}
"""By the ending of the file."""


def _fenced(lines: tuple[str, ...] | list[str]) -> str:
    """A block that no line in it can end."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])
