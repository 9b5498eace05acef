"""What triage has come to: causes per arm, asymmetry, agreement; labels out to files and in from them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.message import Message

from engine.text import clean_line
from engine.triage.label_book import LabelBook
from screens import format as fmt
from screens.deck_screen import DeckScreen
from screens.pieces import Pieces
from screens.question_screen import Answer, QuestionScreen
from screens.read_only import refused
from screens.source import RunSource
from screens.triage_actions import SUMMARY
from screens.triage_blindfold import Cover
from screens.triage_counts import summary
from screens.triage_desk import TriageDesk
from screens.triage_exchange import Exchanged, Format, export_labels, export_path, import_labels
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.lines import Line, Lines
from screens.widgets.triage_lines import SaidLines
from screens.widgets.triage_note import EntryLine

MOST_PATH = 4_096
AGAIN_SEC = 0.5
"""The summary is worked out anew at most this often."""


class SummaryText(Lines):
    def __init__(self, desk: TriageDesk, cover: Cover) -> None:
        super().__init__()
        self._desk = desk
        self._hiding = cover

    def make(self, width: int) -> list[Line]:
        return [([(" ", ""), *line], []) for line in summary(self._desk, self._hiding, width - 1)]


class SummaryScreen(DeckScreen[None]):
    CSS_PATH = "triage_summary.tcss"
    PLACE = SUMMARY
    BINDINGS: ClassVar[list[BindingType]] = [*SUMMARY.bindings()]
    AUTO_FOCUS = "VerticalScroll"

    @dataclass
    class Done(Message):
        result: Exchanged

    def __init__(self, source: RunSource, desk: TriageDesk, cover: Cover) -> None:
        super().__init__()
        self.source = source
        self.desk = desk
        self.cover = cover
        self.said: Pieces = []
        self._due = False

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("triage", "summary")
        with VerticalScroll():
            yield SummaryText(self.desk, self.cover)
        yield EntryLine()
        yield SaidLines(id="said", rows=8)
        yield ActionFooter(SUMMARY)

    def on_mount(self) -> None:
        self.desk.listen(self._desk_changed)
        self._show()

    def on_unmount(self) -> None:
        self.desk.unlisten(self._desk_changed)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def run_changed(self, dirty: set[str]) -> None:
        self._show_soon()

    def clock_ticked(self, now: datetime) -> None:
        """Nothing here goes by time."""

    def _desk_changed(self, trials: set[str]) -> None:
        self._show_soon()

    def _show_soon(self) -> None:
        if not self._due and self.is_mounted:
            self._due = True
            self.set_timer(AGAIN_SEC, self._show)

    def _show(self) -> None:
        self._due = False
        if not self.is_mounted or not self.query(SummaryText):
            return
        plan = self.source.state.plan
        run = self.cover.text(plan.name if plan else self.source.folder.name)
        items = self.desk.queue()
        decided = sum(item.decided for item in items)
        right: Pieces = [(f"{decided} of {len(items)} decided", "deck--strong")]
        right.append((" · blind" if self.cover.on else "", "deck--accent"))
        right.append((f" · you: {clean_line(self.desk.who, 24)}", "deck--dim"))
        wide = self.size.width >= 100
        self.query_one(Breadcrumbs).set([run, "triage", "summary"] if wide else ["triage", "summary"], right)
        self.query_one(SummaryText).show()
        self.query_one("#said", SaidLines).set([(self.said, [])] if self.said else [])
        footer = self.query_one(ActionFooter)
        footer.hidden = set() if self.desk.book.disagreements(self.desk.who) else {"disagreements"}
        footer.show()

    def _say(self, text: str, style: str = "") -> None:
        self.said = [(clean_line(text, 1_000), style)]
        self._show()

    # --- what a person does ---

    def action_export(self, kind: Format) -> None:
        if not refused(self.app):
            self._export(kind)

    def _export(self, kind: Format, *, replacing: bool = False) -> None:
        path = export_path(self.source.folder, self.source.run.ours, kind)
        book = LabelBook(self.desk.records())  # a copy: the thread must not read what changes
        self._in_thread(partial(export_labels, book, self.desk.identity, path, kind, replacing=replacing))

    def action_import_labels(self) -> None:
        if refused(self.app, "no label is taken in"):
            return
        self.query_one(EntryLine).ask("import from", "", MOST_PATH, "path of a .csv or .json file of labels")

    def on_entry_line_kept(self, event: EntryLine.Kept) -> None:
        self.query_one(VerticalScroll).focus()
        text = event.text.strip()
        if text:
            book = LabelBook(self.desk.records())
            path = Path(text).expanduser()
            self._in_thread(partial(import_labels, path, self.source.state, self.desk.identity, book))

    def on_entry_line_left(self) -> None:
        self.query_one(VerticalScroll).focus()

    def _in_thread(self, job: partial[Exchanged]) -> None:
        self.run_worker(lambda: self.post_message(self.Done(job())), thread=True, group="exchange")

    def on_summary_screen_done(self, event: Done) -> None:
        result = event.result
        if result.there is not None:
            self._ask_to_replace(result.there)
        elif result.problem:
            self._say(f"! {result.problem}", "deck--bad")
        elif result.incoming is None:
            named = "; arms are named in it" if self.cover.on else ""
            self._say(f"✓ {result.said}{named}", "deck--good")
        else:
            incoming = result.incoming
            taken = self.desk.take_imported(incoming.labels)
            words = [f"✓ {fmt.count(taken, 'label')} taken in", f"{incoming.known} known before"]
            if incoming.unknown:
                words.append(f"{fmt.count(len(incoming.unknown), 'trial')} not in this run")
            if incoming.other_runs:
                words.append("made on another run")
            self._say(", ".join(words), "deck--warn" if incoming.unknown or incoming.other_runs else "deck--good")

    def _ask_to_replace(self, path: Path) -> None:
        kind: Format = "csv" if path.suffix == ".csv" else "json"
        answer = Answer("y", "write anew over what is there", "yes")
        question = QuestionScreen("There is a file of that name", self.cover.text(str(path)), answer)
        self.app.push_screen(question, lambda given: self._export(kind, replacing=True) if given else None)

    def action_disagreements(self) -> None:
        from screens.triage_disagreements import DisagreementsScreen

        self.app.push_screen(DisagreementsScreen(self.source, self.desk, self.cover))

    async def action_step_back(self) -> None:
        await self.app.run_action("app.back")
