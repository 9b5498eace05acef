"""All arms of all open runs: which are compared, which is the baseline. Other runs can be added by path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from engine.analysis.arms import Arm, ArmRef, joined, one_each
from engine.readers.open_run import recognise
from engine.text import clean_line
from screens import format as fmt
from screens.actions import MARKING, Action, place
from screens.app_protocols import KeepsRunsOpen
from screens.columns import Column
from screens.comparing import Comparing
from screens.deck_screen import DeckScreen
from screens.pieces import Pieces
from screens.source import RunSource
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.line_input import LineInput
from screens.widgets.line_table import LineTable
from screens.widgets.marking_table import MarkingTable

PICKER = place(
    "arm_picker",
    "Picking arms",
    Action(name="choose", keys=("space",), label="choose", help="Take the arm in, or out again", footer=80),
    Action(name="baseline", keys=("a", "B"), label="baseline", help="Make the arm the baseline A", footer=78),
    Action(name="join", keys=("j",), label="join runs", help="Runs of one arm are its attempts, or not", footer=70),
    Action(name="add_run", keys=("plus",), label="add run", help="Add a run by the path of its folder", footer=72),
    Action(name="accept", keys=("enter",), label="compare", help="Compare the chosen arms", footer=90),
    Action(name="give_up", keys=("escape",), label="as it was", help="Back, nothing changed", footer=60, palette=False),
    mouse=MARKING,
)


class ArmTable(MarkingTable):
    """Keys are places in `refs`."""

    COLUMNS = (
        Column("letter", "", 2, keep=100),
        Column("arm", "arm", 14, keep=100, widest=48),
        Column("run", "run", 12, keep=90, widest=48),
        Column("passed", "passed", 9, keep=80, right=True),
        Column("tasks", "tasks", 5, keep=60, right=True),
        Column("model", "model", 10, keep=50, widest=28),
        Column("agent", "agent", 8, keep=40, widest=24),
        Column("source", "source", 10, keep=30, widest=16),
    )

    def __init__(self, pool: Comparing) -> None:
        super().__init__()
        self.pool = pool
        self.refs: list[ArmRef] = []
        self.chosen: list[ArmRef] = []
        self._tasks: dict[ArmRef, int] = {}

    def look(self) -> None:
        """At what arms there are now."""
        self.refs = self.pool.refs
        self.chosen = [ref for ref in self.chosen if ref in self.refs]
        by_label = self.pool.by_label
        tasks: dict[ArmRef, set[str]] = {}
        for label in dict.fromkeys(ref.run for ref in self.refs):
            for trial in by_label[label].state.trials.values():
                tasks.setdefault(ArmRef(label, trial.arm), set()).add(trial.task)
        self._tasks = {ref: len(names) for ref, names in tasks.items()}
        self.rows_changed()
        self.repaint(self.keys)

    @property
    def keys(self) -> Sequence[str]:
        return [str(place) for place in range(len(self.refs))]

    def find(self, key: str) -> int | None:
        place = int(key)
        return place if place < len(self.refs) else None

    def is_marked(self, key: str) -> bool:
        """An arm that is taken in; it has a letter in place of a mark."""
        return self.refs[int(key)] in self.chosen

    def set_marks(self, keys: Iterable[str], on: bool) -> None:
        for ref in (self.refs[int(key)] for key in keys):
            if on and ref not in self.chosen:
                self.chosen.append(ref)
            elif not on and ref in self.chosen:
                self.chosen.remove(ref)

    @property
    def here(self) -> ArmRef | None:
        return self.refs[int(self.cursor_key)] if self.cursor_key is not None else None

    def wanted_widths(self) -> dict[str, int]:
        return {
            "arm": max((len(ref.arm) for ref in self.refs), default=0),
            "run": max((len(ref.run) for ref in self.refs), default=0),
        }

    def cell(self, key: str, column: str) -> Pieces:
        ref = self.refs[int(key)]
        source = self.pool.by_label[ref.run]
        arm = source.state.arms[ref.arm]
        match column:
            case "letter":
                letter = fmt.arm_letter(self.chosen.index(ref)) if ref in self.chosen else ""
                return [(letter, "deck--accent")]
            case "arm":
                return [(clean_line(ref.arm), "deck--strong" if ref in self.chosen else "")]
            case "run":
                return [(clean_line(ref.run), "deck--dim")]
            case "passed":
                return [(f"{arm.passed}/{arm.assigned}", "")]
            case "tasks":
                return [(str(self._tasks.get(ref, 0)), "")]
            case "source":
                return [(source.run.kind, "deck--dim")]
        return [(clean_line(arm.info.model if column == "model" else arm.info.agent), "deck--dim")]

    def empty_text(self) -> str:
        return "no arm yet"


class ArmPicker(DeckScreen[list[Arm] | None]):
    """Returns the chosen arms, the baseline first, and adds their runs to `comparing`; None where nothing changes."""

    CSS_PATH = "arm_picker.tcss"
    PLACE = PICKER
    BINDINGS: ClassVar[list[BindingType]] = [*PICKER.bindings()]
    AUTO_FOCUS = "ArmTable"

    @dataclass
    class Recognised(Message):
        folder: Path
        problem: str

    def __init__(self, comparing: Comparing) -> None:
        super().__init__()
        self.comparing = comparing
        self.pool = Comparing(comparing.sources)
        self.join = comparing.join or any(len(arm.refs) > 1 for arm in comparing.arms)

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("compare", "arms")
        yield ArmTable(self.pool)
        path = LineInput(placeholder="the folder of a run", id="path")
        path.display = False
        yield path
        yield ActionFooter(PICKER)

    def on_mount(self) -> None:
        if isinstance(self.app, KeepsRunsOpen):
            for source in self.app.open_runs:
                self.pool.add(source)
        table = self.query_one(ArmTable)
        table.chosen = [ref for arm in self.comparing.arms for ref in arm.refs]
        table.look()
        self._show()

    # --- what the app calls ---

    @property
    def sources(self) -> Sequence[RunSource]:
        return self.pool.sources

    def source_changed(self, source: RunSource, dirty: set[str]) -> None:
        if self.query(ArmTable):
            self.query_one(ArmTable).look()
            self._show()

    def clock_ticked(self, now: datetime) -> None:
        """Nothing here goes by the clock."""

    # --- choosing ---

    @property
    def table(self) -> ArmTable:
        return self.query_one(ArmTable)

    def action_choose(self) -> None:
        ref = self.table.here
        if ref is None:
            return
        if ref in self.table.chosen:
            self.table.chosen.remove(ref)
        else:
            self.table.chosen.append(ref)
        self.table.action_move(1)
        self._show()

    def action_baseline(self) -> None:
        ref = self.table.here
        if ref is not None:
            self.table.chosen = [ref, *(other for other in self.table.chosen if other != ref)]
            self._show()

    def action_join(self) -> None:
        self.join = not self.join
        self._show()

    def on_marking_table_marks_changed(self, event: MarkingTable.MarksChanged) -> None:
        event.stop()
        self._show()

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        event.stop()
        self.action_accept()

    def action_accept(self) -> None:
        arms = self._arms()
        if len(arms) < 2:
            self.notify("choose two arms or more with space; the first is the baseline", markup=False)
            return
        used = {ref.run for arm in arms for ref in arm.refs}
        labels = self.pool.labels
        last = max(place for place, source in enumerate(self.pool.sources) if labels[source] in used)
        for source in self.pool.sources[: last + 1]:
            self.comparing.add(source)
        self.comparing.join = self.join
        self.dismiss(arms)

    def _arms(self) -> list[Arm]:
        states = {label: source.state for source, label in self.pool.labels.items()}
        chosen = self.table.chosen
        return joined(chosen, states) if self.join else one_each(chosen, self.pool.refs)

    def action_give_up(self) -> None:
        path = self.query_one("#path", Input)
        if path.display:
            path.display = False
            self.table.focus()
        else:
            self.dismiss(None)

    # --- other runs ---

    def action_add_run(self) -> None:
        path = self.query_one("#path", Input)
        path.display = True
        path.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        if text:
            self.run_worker(partial(self._recognise, Path(text).expanduser()), thread=True, group="path")

    def _recognise(self, folder: Path) -> None:
        """In a thread: the folder may be far away."""
        try:
            known = recognise(folder) is not None
        except (OSError, ValueError):
            known = False
        problem = "" if known else "no run that can be read" if folder.is_dir() else "no such folder"
        self.post_message(self.Recognised(folder, problem))

    def on_arm_picker_recognised(self, event: Recognised) -> None:
        name = clean_line(str(event.folder))
        if event.problem or not isinstance(self.app, KeepsRunsOpen):
            self.notify(f"{name}: {event.problem}", severity="error", markup=False)
            return
        try:
            self.pool.add(self.app.open_source(event.folder))
        except ValueError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        path = self.query_one("#path", Input)
        path.value, path.display = "", False
        self.table.look()
        self.table.focus()
        self._show()

    def _show(self) -> None:
        self.table.repaint(self.table.keys)
        arms = self._arms()
        said = (
            f"{fmt.count(len(arms), 'arm')} chosen of {len(self.table.refs)} in {fmt.count(len(self.sources), 'run')}"
        )
        joins = " · runs of one arm joined" if self.join else ""
        self.query_one(Breadcrumbs).set(["compare", "arms"], [(f"{said}{joins}", "deck--dim")])
        self.query_one(ActionFooter).show()
