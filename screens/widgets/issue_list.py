"""The issues of a trial, gravest first; each opens into its evidence, which leads to a log and its line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from engine.issues import Evidence, Issue, Severity
from engine.text import clean_line
from screens import format as fmt
from screens.actions import Action, place
from screens.pieces import Pieces, cells, fit, spread
from screens.widgets.line_table import TABLE, LineTable

ISSUES = place(
    "issues",
    "Among the issues",
    Action(name="unfold", keys=("space",), label="evidence", help="Show an issue's evidence, or hide it"),
    Action(name="fold(False)", keys=("right", "l"), label="show", help="Show its evidence", palette=False),
    Action(name="fold(True)", keys=("left", "h"), label="hide", help="Hide its evidence", palette=False),
)

_STYLES = {Severity.FATAL: "deck--bad", Severity.ERROR: "deck--warn", Severity.WARNING: "deck--dim"}
WIDE = 100
_MOST_LINES = 200
"""Rows that one piece of evidence may take."""


@dataclass(frozen=True)
class _Row:
    issue: int
    evidence: int | None = None
    text: str = ""


class IssueList(LineTable):
    """`place_of` says in words where a piece of evidence leads, "" for nowhere."""

    HEAD: ClassVar[int] = 0
    PLACE = ISSUES
    BINDINGS: ClassVar[list[BindingType]] = [*TABLE.bindings(), *ISSUES.bindings()]
    DEFAULT_CSS = """
    IssueList { height: auto; }
    """

    @dataclass
    class Jump(Message):
        """To where a piece of evidence was found."""

        evidence: Evidence

    @dataclass
    class Unfolded(Message):
        """Another number of rows wants to be shown."""

    def __init__(self, place_of: Callable[[Evidence], str], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._place_of = place_of
        self.issues: list[Issue] = []
        self._open: set[int] = set()
        self._rows: dict[str, _Row] = {}

    def set_issues(self, issues: Sequence[Issue]) -> bool:
        """True if they are others than before. The list only grows while a trial lives: open ones stay open."""
        ordered = sorted(issues, key=lambda issue: list(Severity).index(issue.severity))
        if ordered == self.issues:
            self.refresh()  # a link may have appeared: logs come later than what they explain
            return False
        open_issues = [self.issues[number] for number in self._open]
        self.issues = ordered
        self._open = {number for number, issue in enumerate(ordered) if issue in open_issues}
        self._arrange()
        return True

    @property
    def keys(self) -> Sequence[str]:
        return list(self._rows)

    def find(self, key: str) -> int | None:
        return next((row for row, other in enumerate(self._rows) if other == key), None)

    def cell(self, key: str, column: str) -> Pieces:
        return []

    def whole_row(self, key: str) -> Pieces | None:
        row = self._rows[key]
        issue = self.issues[row.issue]
        width = self.size.width - 3
        if row.evidence is not None:
            evidence = issue.evidence[row.evidence]
            first = key.endswith(".0")
            label = f"    {clean_line(evidence.label)}  " if first else " " * (len(evidence.label) + 6)
            return spread([(label, "deck--dim"), (row.text, "")], self._link(evidence) if first else [], width)
        style = _STYLES[issue.severity]
        codes, places = self._widths
        left: Pieces = [(f"{fmt.SEVERITY_GLYPHS[issue.severity]} ", style)]
        left += fit([(str(issue.code), style)], codes + 2)
        left += fit([(self._where(issue), "deck--dim")], places + 2) if places else []
        left.append((issue.message, ""))
        linked = next((evidence for evidence in issue.evidence if self._place_of(evidence)), None)
        right = self._link(linked) if linked is not None and row.issue not in self._open else []
        if not right and issue.evidence and row.issue not in self._open:
            right = [(f"  + {fmt.count(len(issue.evidence), 'fact')}", "deck--faint")]
        return spread(left, right, width)

    def _where(self, issue: Issue) -> str:
        """On a narrow screen the phase alone: messages name the service where it matters."""
        if self.size.width < WIDE:
            return str(issue.phase or "")
        return " · ".join(word for word in (issue.step, str(issue.phase or ""), issue.service) if word)

    @property
    def _widths(self) -> tuple[int, int]:
        """Of the columns of codes and places, so that messages stand below each other."""
        wide = self.size.width >= WIDE
        codes = max((len(issue.code) for issue in self.issues), default=0)
        places = max((cells(self._where(issue)) for issue in self.issues), default=0)
        return min(codes, 30 if wide else 23), min(places, 24 if wide else 14)

    def _link(self, evidence: Evidence) -> Pieces:
        leads_to = self._place_of(evidence)
        return [(f"  → {leads_to}", "deck--accent")] if leads_to else []

    # --- folding and jumping ---

    def _arrange(self) -> None:
        rows: dict[str, _Row] = {}
        for number, issue in enumerate(self.issues):
            rows[str(number)] = _Row(number)
            if number in self._open:
                for at, evidence in enumerate(issue.evidence):
                    for line, text in enumerate(evidence.text.splitlines()[:_MOST_LINES] or [""]):
                        rows[f"{number}.{at}.{line}"] = _Row(number, at, clean_line(text))
        self._rows = rows
        self.rows_changed()
        self.post_message(self.Unfolded())

    def action_unfold(self) -> None:
        row = self._here()
        if row is not None:
            self.action_fold(row.issue in self._open)

    def action_fold(self, folded: bool) -> None:
        row = self._here()
        if row is None or (row.issue in self._open) != folded or not self.issues[row.issue].evidence:
            return
        (self._open.discard if folded else self._open.add)(row.issue)
        self.cursor = str(row.issue)
        self._arrange()

    def action_open(self) -> None:
        """To the evidence, or its list where it leads nowhere."""
        row = self._here()
        if row is None:
            return
        evidence = self.issues[row.issue].evidence
        found = evidence if row.evidence is None else evidence[row.evidence : row.evidence + 1]
        leads = next((item for item in found if self._place_of(item)), None)
        if leads is None:
            self.action_unfold()
        else:
            self.post_message(self.Jump(leads))

    def _here(self) -> _Row | None:
        key = self.cursor_key
        return self._rows.get(key) if key is not None else None
