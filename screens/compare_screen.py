"""Arms against a baseline: the table, the rates, what the difference is worth, and the tasks that make it, live."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message

from engine.analysis.arms import Arm
from engine.analysis.compare import Comparison, DiscordantTask
from screens import compare_export, compare_facts
from screens.actions import key_called
from screens.compare_actions import COMPARE, COMPARE_HELP
from screens.compare_panes import Arms, Detail, Head
from screens.comparing import Comparing, Worked
from screens.export_files import Render
from screens.exporting import Exported, Exporting
from screens.live_numbers import WIDE, LiveNumbers
from screens.open_analysis import open_analysis
from screens.source import RunSource
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.discordant_list import DiscordantList
from screens.widgets.line_table import LineTable
from screens.widgets.triage_note import EntryLine

AGAIN_SEC = 1.0
"""The numbers are worked out anew at most once in this time, unless a label or a key asks for it."""
FAMILIES_HINT = "category, prefix:SEPARATOR, or a CSV file; empty: none"


class CompareScreen(LiveNumbers):
    """Without a choice the first two of all arms; the first is the baseline, A."""

    CSS_PATH = "compare_screen.tcss"
    PLACE = COMPARE
    HELP = COMPARE_HELP
    BINDINGS: ClassVar[list[BindingType]] = [*COMPARE.bindings()]
    AUTO_FOCUS = "DiscordantList"

    @dataclass
    class Compared(Message):
        worked: Worked

    def __init__(self, *sources: RunSource, comparing: Comparing | None = None) -> None:
        self.comparing = comparing or Comparing(sources)
        super().__init__(self.comparing)
        self.exporting = Exporting(self, "the comparison", compare_export.TITLES, self._writing)
        self.worked: Worked | None = None
        self._read = False
        self._families_before: str | None = None  # what stood before others were asked for

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("compare")
        yield Arms(id="arms")
        yield Head(id="head")
        with Horizontal(id="lists"):
            yield DiscordantList("A", id="a-only")
            yield DiscordantList("B", id="b-only")
        with VerticalScroll(id="text"):
            yield Detail()
        yield EntryLine()
        yield ActionFooter(COMPARE)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_state)

    # --- which arms ---

    def action_arm(self, step: int) -> None:
        """The other side steps through the arms that are not the baseline."""
        if self.comparing.step(step):
            self._start_anew()

    def action_baseline(self) -> None:
        if self.comparing.rotate():
            self._start_anew()

    def action_attempts(self) -> None:
        if not self.comparing.several_attempts:
            self.notify("there is one attempt of each task", markup=False)
            return
        self.comparing.attempts = "first" if self.comparing.attempts == "all" else "all"
        self._start_anew()

    def action_common_tasks(self) -> None:
        if len(self.sources) < 2:
            self.notify("of one run's arms the tasks that both have are compared", markup=False)
            return
        self.comparing.common_tasks = not self.comparing.common_tasks
        self._start_anew()

    def action_families(self) -> None:
        self.query_one(EntryLine).ask("families", self.comparing.families, 4_096, FAMILIES_HINT)

    def on_entry_line_kept(self, event: EntryLine.Kept) -> None:
        self.on_entry_line_left()
        self._families_before = self.comparing.families if self.found is not None else None
        self.comparing.families = event.text.strip()
        self._start_anew()

    def on_entry_line_left(self) -> None:
        self.query_one("#text" if self.detail else "#a-only").focus()

    def action_pick(self) -> None:
        from screens.arm_picker import ArmPicker

        self.app.push_screen(ArmPicker(self.comparing), self._picked)

    def _picked(self, arms: list[Arm] | None) -> None:
        if arms:
            self.comparing.choose(arms)
            self._listen()
            self._start_anew()

    def _start_anew(self) -> None:
        self.worked = None
        self._show_found()
        self._work_now()
        self._show_state()

    # --- working it out, in a thread ---

    @property
    def found(self) -> Comparison | None:
        compared = self.worked.compared if self.worked is not None else None
        return compared.found if compared is not None else None

    @property
    def _labels_matter(self) -> bool:
        return self.worked is not None

    def _may_begin(self) -> bool:
        self.comparing.settle()
        if self.comparing.b is not None:
            return True
        pick = key_called(self.app, COMPARE, "pick")
        alone = f"one arm alone has nothing to be compared with; {pick} adds the arms of another run"
        problem = self.comparing.problem or alone
        self.worked = Worked(self.comparing.key, problem=problem) if self.comparing.caught_up else None
        self._show_found()
        return False

    def _begin(self) -> None:
        self._rest(AGAIN_SEC)
        job = self.comparing.job(self._labels_of)
        self.run_worker(lambda: self.post_message(self.Compared(job())), thread=True, group="compare")

    def on_compare_screen_compared(self, event: Compared) -> None:
        fits = event.worked.key == self.comparing.key
        if fits and event.worked.problem and self._families_before is not None:
            self.notify(event.worked.problem, severity="error", markup=False)
            self.comparing.families, self._families_before = self._families_before, None
            fits = False
        elif fits:
            self._families_before = None
            self.worked = event.worked
            self._show_found()
            self._show_state()
        self._ended(again=not fits)

    # --- showing ---

    def _show_found(self) -> None:
        worked, found = self.worked, self.found
        head = self.query_one(Head)
        head.worked = worked
        head.text = worked.problem if worked is not None else ""
        if worked is not None and worked.tasks_differ:
            head.text += f" · {key_called(self.app, COMPARE, 'common_tasks')} compares the common ones"
        head.show()
        detail = self.query_one(Detail)
        detail.worked, detail.context = worked, self.comparing.context
        detail.show()
        for list_id, tasks in (("#a-only", found.a_only if found else ()), ("#b-only", found.b_only if found else ())):
            table = self.query_one(list_id, DiscordantList)
            if not self._read:
                table.to_top()  # while runs are read, the cursor is not on a row that moves away
            table.set_tasks(tasks)
        self._read = self._read or (found is not None and self.comparing.caught_up)

    def _show_state(self) -> None:
        comparing = self.comparing
        self._show_crumbs("compare")
        wide = self.size.width >= WIDE
        line = self.query_one(Arms)
        line.sides = compare_facts.arm_names(comparing, wide)
        line.right = compare_facts.what(comparing, self.found, wide)
        line.show()
        self.query_one(Head).show()
        self.query_one(Detail).show()
        footer = self.query_one(ActionFooter)
        footer.hidden = set() if len(comparing.arms) > 2 else {"arm(1)"}
        if not comparing.several_attempts:
            footer.hidden |= {"attempts"}
        if len(self.sources) < 2:
            footer.hidden |= {"common_tasks"}
        if self.detail:
            footer.labels = {f"detail('{self.detail}')": "lists"}
        else:
            footer.labels = {}
        footer.show()

    # --- the lists ---

    def action_side(self, step: int) -> None:
        self.query_one("#b-only" if step > 0 else "#a-only", DiscordantList).focus()

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        if self.on_top:
            self._open_both(event.key)

    def _task_here(self) -> str:
        table = self.focused
        return (table.cursor_key or "") if isinstance(table, DiscordantList) else ""

    def action_open_both(self) -> None:
        self._open_both(self._task_here())

    def _discordant(self, name: str) -> DiscordantTask | None:
        found = self.found
        return next((task for task in found.discordant if task.task == name), None) if found else None

    def _places(self, task: DiscordantTask) -> list[tuple[RunSource, str] | None]:
        assert self.worked is not None
        return [
            self.comparing.trial(self.worked, side, task.task, attempt)
            for side, attempt in ((0, task.attempt_a), (1, task.attempt_b))
        ]

    def _open_both(self, name: str) -> None:
        from screens.side_by_side import PairOfTrials, SideBySide

        focused = self.focused
        if not isinstance(focused, DiscordantList) or self._discordant(name) is None:
            return
        pairs = []
        for other in focused.keys:
            task = self._discordant(other)
            a, b = self._places(task) if task is not None else (None, None)
            if a is not None and b is not None:
                pairs.append(PairOfTrials(other, a, b))
        names = tuple(arm.name if arm else "" for arm in (self.comparing.a, self.comparing.b))
        if any(pair.task == name for pair in pairs):
            self.app.push_screen(SideBySide(pairs, name, (names[0], names[1])), partial(self._seen, focused))

    def _seen(self, table: DiscordantList, task: str | None) -> None:
        """The cursor goes to the task that was looked at last."""
        if task is not None:
            table.move_to_key(task)

    def action_open_side(self, side: str) -> None:
        from screens.trial_screen import TrialScreen

        task = self._discordant(self._task_here())
        if task is None:
            return
        place = self._places(task)[0 if side == "a" else 1]
        table = self.focused
        if place is not None and isinstance(table, DiscordantList):
            source, trial = place
            order = [found[1] for found in self._side_of(table, side) if found is not None and found[0] is source]
            self.app.push_screen(TrialScreen(source, trial, order))

    def _side_of(self, table: DiscordantList, side: str) -> list[tuple[RunSource, str] | None]:
        """One side's trials of a list's tasks, in the list's order."""
        tasks = [task for name in table.keys if (task := self._discordant(name)) is not None]
        return [self._places(task)[0 if side == "a" else 1] for task in tasks]

    # --- the other readings ---

    @property
    def detail(self) -> str:
        return self.query_one(Detail).what

    def action_detail(self, what: str) -> None:
        """Show it in place of the lists; the same key again brings them back."""
        detail = self.query_one(Detail)
        detail.what = "" if detail.what == what else what
        self.set_class(bool(detail.what), "-text")
        detail.show()
        if detail.what:
            pane = self.query_one("#text")
            pane.scroll_home(animate=False)
            pane.focus()
        else:
            self.query_one("#a-only").focus()
        self.call_after_refresh(self._show_state)

    def action_analyse(self) -> None:
        open_analysis(self.app, self.sources)

    async def action_step_back(self) -> None:
        if self.detail:
            self.action_detail(self.detail)
        else:
            await self.app.run_action("back")

    # --- export ---

    def action_export(self) -> None:
        self.exporting.ask(self.sources, compare_export.name_of(self.comparing))

    def _writing(self) -> Render | None:
        if self.worked is None or self.worked.compared is None:
            return None
        states = {label: source.state for source, label in self.comparing.labels.items()}
        return partial(compare_export.render, self.worked, states, self.sources[0].clock())

    def on_exported(self, event: Exported) -> None:
        self.exporting.tell(event)
