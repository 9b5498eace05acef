"""A record of sections as Markdown and as one HTML page. Texts are data: nothing in them becomes markup."""

from __future__ import annotations

import msgspec

from engine.analysis.as_html import page, paragraph, table_of
from engine.analysis.as_markdown import escaped
from engine.analysis.as_svg import text_of


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Cells are text; every row is as long as `head`."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Section(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    sections: tuple[Section, ...]
    made: str


def record_markdown(record: Record) -> str:
    """Ends with a newline."""
    lines = [f"# {escaped(record.title)}", ""]
    for section in record.sections:
        lines += [f"## {escaped(section.title)}", ""]
        if section.lines:
            lines += [*(f"- {escaped(text)}" for text in section.lines), ""]
        for table in section.tables:
            lines += [_row(table.head), "| --- |" + " ---: |" * (len(table.head) - 1)]
            lines += [*(_row(row) for row in table.rows), ""]
    return "\n".join([*lines, escaped(record.made)]) + "\n"


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(escaped(cell) for cell in cells)} |"


def record_html(record: Record) -> str:
    body = [f"<h1>{text_of(record.title)}</h1>"]
    for section in record.sections:
        body.append(f"<h2>{text_of(section.title)}</h2>")
        body += [paragraph(text) for text in section.lines]
        body += [table_of(table.head, table.rows) for table in section.tables]
    return page(record.title, [*body, f'<p class="dim">{text_of(record.made)}</p>'])
