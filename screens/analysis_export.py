"""An analysis written to files, in the formats that were asked for. Whole files or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.analysis.analysis import Analysis
from engine.analysis.analysis_files import WRITERS
from screens.compare_export import Wanted, refuse_foreign, replace

TITLES = {
    "txt": "text, as it stands here",
    "md": "Markdown, for an issue or a report",
    "json": "JSON, for programs",
    "csv": "CSV, a row an arm and benchmark",
    "html": "HTML, one page that needs nothing beside it",
    "svg": "SVG, the rates and the plots",
}


def export(found: Analysis, wanted: Wanted, foreign: Sequence[Path]) -> list[Path]:
    """Call it in a thread. Raises OSError, and ValueError for a folder inside of another system's run."""
    folder = wanted.folder.expanduser()
    refuse_foreign(folder, foreign)
    written = []
    for ending in wanted.formats:
        path = folder / f"{wanted.name}.{ending}"
        replace(path, WRITERS[ending](found).encode("utf-8", "replace"))
        written.append(path)
    return written
