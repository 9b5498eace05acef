"""Arms over one benchmark or several: ranks, index, difficulty, time and cost, steps, effort, refusals; by sections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.message import Message

from engine.analysis import wording as say
from engine.analysis.analysis import Analysis
from engine.analysis.analysis_text import NARROWEST_SECTION, Section, analysis_sections, note_lines
from engine.analysis.given_families import CATEGORY
from engine.text import clean_line
from screens import analysis_export
from screens import format as fmt
from screens.analysing import Analysed, Analysing, weights_in
from screens.analysis_actions import ANALYSIS, ANALYSIS_HELP
from screens.comparing import Comparing, Wish
from screens.export_files import Render
from screens.exporting import Exported, Exporting
from screens.live_numbers import LiveNumbers
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.lines import Line, Lines
from screens.widgets.log_tabs import LogTabs, Tab
from screens.widgets.triage_note import EntryLine

AGAIN_SEC = 2.0
"""While runs live, the numbers are worked out anew at most once in this time, or in ten times as long as they took."""
ALL = "all"
MOST_TEXT = 4_096


class Asked(Lines):
    text = ""

    def make(self, width: int) -> list[Line]:
        return [([(f" {self.text}", "deck--dim")], [])]


class SectionText(Lines):
    """The lines of the section that is chosen, or of all."""

    found: Analysis | None = None
    problem = ""
    section = "ranks"

    def sections(self) -> list[Section]:
        if self.found is None:
            return []
        height = max(6, min(24, self.screen.size.height - 22))
        return analysis_sections(self.found, max(NARROWEST_SECTION, self.size.width - 2), height)

    def make(self, width: int) -> list[Line]:
        if self.found is None:
            style = "deck--warn" if self.problem else "deck--dim"
            text = self.problem or "working it out …"
            return [([(f" {line}", style)], []) for line in say.wrap(text, width - 2)]
        sections = self.sections()
        shown = [one for one in sections if self.section in (ALL, one.name)] or sections[:1]
        lines: list[Line] = []
        if shown and (self.section == ALL or shown[0] is sections[0]):
            lines += [([(f" {line}", "deck--warn")], []) for line in note_lines(self.found, width - 2)]
            lines += [([], [])] if lines else []
        for one in shown:
            lines += [([], [])] if one is not shown[0] else []
            lines.append(([(f" {one.title}", "deck--strong")], []))
            lines += [([(f" {line}", "deck--warn" if line.startswith("  !") else "")], []) for line in one.lines]
        return lines


class AnalysisScreen(LiveNumbers):
    """Of the arms of all runs that it is given; live, as a comparison is."""

    CSS_PATH = "analysis_screen.tcss"
    PLACE = ANALYSIS
    HELP = ANALYSIS_HELP
    BINDINGS: ClassVar[list[BindingType]] = [*ANALYSIS.bindings()]
    AUTO_FOCUS = "VerticalScroll"

    @dataclass
    class WorkedOut(Message):
        analysed: Analysed
        seconds: float

    def __init__(self, analysing: Analysing) -> None:
        super().__init__(analysing)
        self.analysing = analysing
        self.exporting = Exporting(self, "the analysis", analysis_export.TITLES, self._writing)
        self.analysed: Analysed | None = None
        self._read = analysing.wish.sessions
        self._reading = False

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("analysis")
        yield Asked(id="asked")
        yield LogTabs()
        with VerticalScroll():
            yield SectionText()
        yield EntryLine()
        yield ActionFooter(ANALYSIS)

    def on_mount(self) -> None:
        self.query_one(LogTabs).first_number = 0

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    # --- working it out, in a thread ---

    @property
    def _labels_matter(self) -> bool:
        return self.analysing.wish.labelled

    def _may_begin(self) -> bool:
        if not self.analysing.caught_up:
            self._show_state()
            return False  # the run that catches up says so
        return True

    def _begin(self) -> None:
        self._reading, self._read = self._read, False
        job = self.analysing.job(self._labels_of, read=self._reading)
        self._show_state()

        def work() -> None:
            began = perf_counter()
            analysed = job()
            self.post_message(self.WorkedOut(analysed, perf_counter() - began))

        self.run_worker(work, thread=True, group="analysis")

    def on_analysis_screen_worked_out(self, event: WorkedOut) -> None:
        self._reading = False
        analysed = event.analysed
        if analysed.seen is not None:
            self.analysing.seen = analysed.seen
        fits = analysed.key == self.analysing.key
        if fits:
            self.analysed = analysed
            self._rest(max(AGAIN_SEC, 10 * event.seconds))
        self._show()
        self._ended(again=not fits)

    def _ask(self, **changed: object) -> None:
        """Other numbers are wanted: at once."""
        self.analysing.ask(**changed)
        self._work_now()
        self._show()

    # --- showing ---

    def _show(self) -> None:
        if not self.query(SectionText):
            return
        text = self.query_one(SectionText)
        if self.analysed is not None:
            text.found, text.problem = self.analysed.found, self.analysed.problem
        sections = text.sections()
        tabs = self.query_one(LogTabs)
        tabs.tabs = [Tab(ALL, ALL), *(Tab(one.name, one.name) for one in sections)] if sections else []
        known = {tab.key for tab in tabs.tabs}
        tabs.current = text.section if text.section in known else next((one.name for one in sections), ALL)
        tabs.show()
        text.show()
        self._show_state()

    def _show_state(self) -> None:
        self._show_crumbs("analysis")
        found = self.analysed.found if self.analysed is not None else None
        asked = self.query_one(Asked)
        asked.text = " · ".join(self._words(found))
        asked.show()
        footer = self.query_one(ActionFooter)
        several = found is not None and len(found.benchmarks) > 1
        footer.hidden = set() if several else {"weights"}
        if found is None or len(found.arms) < 2:
            footer.hidden |= {"compare"}
        footer.show()

    def _words(self, found: Analysis | None) -> list[str]:
        """What the numbers are of, as far as it isn't what one gets unasked."""
        wish = self.analysing.wish
        words = []
        if found is not None:
            words = [fmt.count(len(found.arms), "arm"), fmt.count(len(found.benchmarks), "benchmark")]
        if self._reading or self.analysing.seen is not None:
            words.append("reading sessions …" if self._reading else "sessions read")
        if not wish.labelled:
            words.append("labels not read")
        if wish.attempts:
            words.append(f"{fmt.count(wish.attempts, 'attempt')} a task stated")
        if wish.families != CATEGORY:
            words.append(f"families {clean_line(wish.families, 40)}")
        if wish.weights:
            words.append("weights " + ", ".join(f"{clean_line(one, 30)}={w:g}" for one, w in wish.weights.items()))
        return words

    # --- sections ---

    def _to(self, name: str) -> None:
        text = self.query_one(SectionText)
        if name != text.section:
            text.section = name
            self.query_one(VerticalScroll).scroll_home(animate=False)
            self._show()

    def action_section(self, step: int) -> None:
        tabs = self.query_one(LogTabs)
        keys = [tab.key for tab in tabs.tabs]
        if keys:
            self._to(keys[(keys.index(tabs.current) + step) % len(keys)])

    def action_number(self, number: int) -> None:
        tabs = self.query_one(LogTabs).tabs
        if number < len(tabs):
            self._to(tabs[number].key)

    def on_log_tabs_chosen(self, event: LogTabs.Chosen) -> None:
        self._to(event.key)

    # --- what is asked ---

    def action_sessions(self) -> None:
        self._read = True
        self._ask(sessions=True)

    def action_labels(self) -> None:
        self._ask(labelled=not self.analysing.wish.labelled)

    def action_attempts(self) -> None:
        now = self.analysing.wish.attempts
        hint = "a number from 1; empty: as the plans state it"
        self.query_one(EntryLine).ask("attempts a task", str(now or ""), 6, hint)

    def action_weights(self) -> None:
        found = self.analysed.found if self.analysed is not None else None
        given = self.analysing.wish.weights
        names = found.benchmarks if found is not None else ()
        text = ", ".join(f"{name}={given.get(name, 1.0):g}" for name in names)
        self.query_one(EntryLine).ask("weights", text, MOST_TEXT, "benchmark=2, other=1; empty: all equal")

    def action_families(self) -> None:
        hint = "category, prefix:SEPARATOR, or a CSV file with task,family"
        self.query_one(EntryLine).ask("families", self.analysing.wish.families, MOST_TEXT, hint)

    def action_reviews(self) -> None:
        self.query_one(EntryLine).ask(
            "reviews", self.analysing.wish.reviews, MOST_TEXT, "path of a CSV file; empty: none"
        )

    def on_entry_line_kept(self, event: EntryLine.Kept) -> None:
        self.query_one(VerticalScroll).focus()
        text = event.text.strip()
        if event.what == "families":
            self._ask(families=text or CATEGORY)
        elif event.what == "reviews":
            self._ask(reviews=text)
        elif event.what == "weights":
            try:
                self._ask(weights=weights_in(text))
            except ValueError as error:
                self.notify(str(error), severity="error", markup=False)
        elif not text or (text.isascii() and text.isdigit() and int(text) > 0):
            self._ask(attempts=int(text) if text else None)
        else:
            self.notify(f"{clean_line(text, 20)!r} is no number from 1", severity="error", markup=False)

    def on_entry_line_left(self) -> None:
        self.query_one(VerticalScroll).focus()

    # --- going elsewhere ---

    def action_compare(self) -> None:
        from screens.compare_screen import CompareScreen

        found = self.analysed.found if self.analysed is not None else None
        if found is None or len(found.arms) < 2:
            self.notify("one arm alone has nothing to be compared with", markup=False)
            return
        wish = Wish(arms=self.analysing.wish.arms, join=len(self.sources) > 1)
        self.app.push_screen(CompareScreen(comparing=Comparing(self.sources, wish)))

    async def action_step_back(self) -> None:
        await self.app.run_action("app.back")

    # --- export ---

    def action_export(self) -> None:
        one = self.sources[0]
        name = "analysis" if len(self.sources) > 1 or one.run.ours else f"{one.folder.name}-analysis"
        self.exporting.ask(self.sources, name)

    def _writing(self) -> Render | None:
        found = self.analysed.found if self.analysed is not None else None
        return partial(analysis_export.render, found) if found is not None else None

    def on_exported(self, event: Exported) -> None:
        self.exporting.tell(event)
