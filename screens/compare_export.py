"""A comparison as the files that it is written to, by their endings, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from engine.analysis.as_csv import report_csv
from engine.analysis.as_html import report_html
from engine.analysis.as_markdown import report_markdown
from engine.analysis.as_svg import report_svg
from engine.analysis.report import Report, make_report, report_json
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


def render(worked: Worked, states: Mapping[str, RunState], now: datetime, formats: Sequence[str]) -> dict[str, bytes]:
    """Raises ValueError where there is no comparison."""
    if worked.compared is None or worked.trials is None:
        raise ValueError("nothing is worked out yet")
    report = make_report(worked.compared, *worked.trials, states, now)
    return {ending: FORMATS[ending](report) for ending in formats}


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
