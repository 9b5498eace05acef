"""A comparison written to files, in the formats that were asked for. Whole files or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.analysis.as_csv import report_csv
from engine.analysis.as_html import report_html
from engine.analysis.as_markdown import report_markdown
from engine.analysis.as_svg import report_svg
from engine.analysis.report import Report, make_report, report_json
from engine.readers.open_run import OpenedRun
from engine.state import RunState
from screens import format as fmt
from screens.comparing import Comparing, Worked

FORMATS: Mapping[str, Callable[[Report], bytes]] = {
    "md": lambda report: _utf8(report_markdown(report)),
    "json": report_json,
    "csv": lambda report: _utf8(report_csv(report)),
    "html": lambda report: _utf8(report_html(report)),
    "svg": lambda report: _utf8(report_svg(report)),
}
"""By the ending of the file."""

TITLES = {
    "md": "Markdown, for an issue or a report",
    "json": "JSON, for programs",
    "csv": "CSV, a row a task",
    "html": "HTML, one page that needs nothing beside it",
    "svg": "SVG, the rates and the difference with their intervals",
}


@dataclass(frozen=True)
class Wanted:
    """Files `folder/name.<format>`."""

    folder: Path
    name: str
    formats: tuple[str, ...]


def default_folder(runs: Sequence[OpenedRun]) -> Path:
    """The folder of the one run, if it is ours; no byte is written into a folder of another system."""
    return runs[0].folder if len(runs) == 1 and runs[0].ours else Path.cwd()


def name_of(comparing: Comparing) -> str:
    """`comparison`; where there is a choice of arms, with their places among them."""
    runs = comparing.sources
    name = "comparison" if len(runs) != 1 or runs[0].run.ours else f"{runs[0].folder.name}-comparison"
    arms = comparing.refs
    if len(arms) > 2 and len(runs) == 1:
        for arm in (comparing.a, comparing.b):
            if arm is not None and arm.refs[0] in arms:
                name += f"-{fmt.arm_letter(arms.index(arm.refs[0]))}"
    return name


def export(
    worked: Worked, states: Mapping[str, RunState], wanted: Wanted, foreign: Sequence[Path], now: datetime
) -> list[Path]:
    """Call it in a thread. Raises OSError, and ValueError for a folder inside of another system's run."""
    if worked.compared is None or worked.trials is None:
        raise ValueError("nothing is worked out yet")
    folder = wanted.folder.expanduser()
    refuse_foreign(folder, foreign)
    report = make_report(worked.compared, *worked.trials, states, now)
    written = []
    for ending in wanted.formats:
        path = folder / f"{wanted.name}.{ending}"
        replace(path, FORMATS[ending](report))
        written.append(path)
    return written


def refuse_foreign(folder: Path, foreign: Sequence[Path]) -> None:
    """Raises ValueError where `folder` lies in one of the foreign run folders, links followed."""
    inside = folder.resolve()
    for run in foreign:
        if inside.is_relative_to(run.resolve()):
            raise ValueError(f"{run.name} is another system's run: nothing is written into it; give another folder")


def replace(path: Path, content: bytes) -> None:
    """Under a temporary name, then renamed. Raises OSError and leaves the old file as it was."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
