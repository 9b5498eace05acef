"""An analysis as the files that it is written to, by their endings."""

from __future__ import annotations

from collections.abc import Sequence

from engine.analysis.analysis import Analysis
from engine.analysis.analysis_files import WRITERS

TITLES = {
    "txt": "text, as it stands here",
    "md": "Markdown, for an issue or a report",
    "json": "JSON, for programs",
    "csv": "CSV, a row an arm and benchmark",
    "html": "HTML, one page that needs nothing beside it",
    "svg": "SVG, the rates and the plots",
}


def render(found: Analysis, formats: Sequence[str]) -> dict[str, bytes]:
    return {ending: WRITERS[ending](found).encode("utf-8", "replace") for ending in formats}
