"""Two arms over the same tasks: the table, the rates, what the difference is worth, and the tasks that make it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.screen import Screen

from engine.analysis.as_text import comparison_lines, what_was_compared
from engine.analysis.compare import Comparison, compare
from engine.analysis.from_state import arm_outcomes
from engine.analysis.many_arms import Adjusted, against_baseline
from engine.analysis.outcomes import TrialOutcome
from engine.analysis.pairs import Attempts
from engine.text import clean_line
from screens import compare_export, compare_lines
from screens import format as fmt
from screens.compare_actions import COMPARE, COMPARE_HELP
from screens.pieces import Pieces
from screens.run_facts import badge
from screens.source import RunSource
from screens.trial_screen import TrialScreen
from screens.widgets.action_footer import ActionFooter
from screens.widgets.breadcrumbs import Breadcrumbs
from screens.widgets.discordant_list import DiscordantList
from screens.widgets.line_table import LineTable
from screens.widgets.lines import Line, Lines

AGAIN_SEC = 1.0
"""The numbers are worked out anew at most once in this time."""
LOW = 30


class Head(Lines):
    found: Comparison | None = None
    adjusted: Adjusted | None = None
    text = "working it out …"

    def make(self, width: int) -> list[Line]:
        if self.found is None:
            return [([(f" {self.text}", "deck--dim")], [])]
        return compare_lines.head(self.found, width, self.screen.size.height, self.adjusted)


class Text(Lines):
    found: Comparison | None = None
    context = ""

    def make(self, width: int) -> list[Line]:
        if self.found is None:
            return []
        lines = comparison_lines(self.found, width - 2, context=self.context)
        return [([(f" {line}", "")], []) for line in lines[1:]]


class Arms(Lines):
    left: Pieces | None = None
    right: Pieces | None = None

    def make(self, width: int) -> list[Line]:
        return [([(" ", ""), *(self.left or [])], [*(self.right or []), (" ", "")])]


class CompareScreen(Screen[None]):
    """Without names the first two arms; the first is the baseline, A."""

    CSS_PATH = "compare_screen.tcss"
    PLACE = COMPARE
    HELP = COMPARE_HELP
    BINDINGS: ClassVar[list[BindingType]] = [*COMPARE.bindings()]
    AUTO_FOCUS = "DiscordantList"

    @dataclass
    class Compared(Message):
        found: Comparison | None
        adjusted: Adjusted | None
        problem: str
        key: tuple[str, str, Attempts]

    @dataclass
    class Exported(Message):
        text: str
        failed: bool

    def __init__(self, source: RunSource, arm_a: str | None = None, arm_b: str | None = None) -> None:
        super().__init__()
        self.source = source
        self.arm_a = arm_a
        self.arm_b = arm_b
        self.attempts: Attempts = "all"
        self.found: Comparison | None = None
        self._begun_at = 0.0
        self._due = False
        self._working = False

    def compose(self) -> ComposeResult:
        yield Breadcrumbs("compare")
        yield Arms(id="arms")
        yield Head(id="head")
        with Horizontal(id="lists"):
            yield DiscordantList("A", id="a-only")
            yield DiscordantList("B", id="b-only")
        with VerticalScroll(id="text"):
            yield Text()
        yield ActionFooter(COMPARE)

    def on_mount(self) -> None:
        self.set_class(self.size.height < LOW, "-low")
        self._choose()
        self._show_state()
        self._work()

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self._show_state()
            self._work()

    def on_resize(self) -> None:
        self.set_class(self.size.height < LOW, "-low")
        self.call_after_refresh(self._show_state)

    # --- what the app calls ---

    def run_changed(self, dirty: set[str]) -> None:
        if not self.query(Breadcrumbs):
            return  # not composed yet, or on its way out
        trials = self.source.state.trials
        if "" in dirty or any(trial in trials and trials[trial].done for trial in dirty):
            self._work()
        self._show_state()

    def clock_ticked(self, now: datetime) -> None:
        if self.query(Breadcrumbs):
            self._show_state()

    # --- which arms ---

    @property
    def arms(self) -> list[str]:
        return list(self.source.state.arms)

    def _choose(self) -> None:
        """Arms that aren't there (yet) are chosen when they are."""
        arms = self.arms
        if self.arm_a not in arms:
            self.arm_a = arms[0] if arms else None
        if self.arm_b not in arms or self.arm_b == self.arm_a:
            self.arm_b = next((arm for arm in arms if arm != self.arm_a), None)

    def action_arm(self, step: int) -> None:
        """The other side steps through the arms that are not the baseline."""
        others = [arm for arm in self.arms if arm != self.arm_a]
        if len(others) > 1 and self.arm_b in others:
            self.arm_b = others[(others.index(self.arm_b) + step) % len(others)]
            self._start_anew()

    def action_baseline(self) -> None:
        arms = self.arms
        if len(arms) > 1 and self.arm_a in arms:
            self.arm_a = arms[(arms.index(self.arm_a) + 1) % len(arms)]
            self._choose()
            self._start_anew()

    def action_attempts(self) -> None:
        plan = self.source.state.plan
        if plan is None or plan.attempts < 2:
            self.notify("there is one attempt of each task", markup=False)
            return
        self.attempts = "first" if self.attempts == "all" else "all"
        self._start_anew()

    def _start_anew(self) -> None:
        self.found = None
        self._show_found("")
        self._begun_at = 0.0
        self._work()
        self._show_state()

    # --- working it out, in a thread ---

    @property
    def _key(self) -> tuple[str, str, Attempts]:
        return self.arm_a or "", self.arm_b or "", self.attempts

    def _work(self) -> None:
        self._choose()
        if self.arm_a is None or self.arm_b is None:
            self._show_found("one arm alone has nothing to be compared with" if self.source.caught_up else "")
            return
        wait = AGAIN_SEC - (perf_counter() - self._begun_at)
        if self._working or wait > 0:
            if not self._due:
                self._due = True
                if not self._working:
                    self.set_timer(max(0.01, wait), self._work_late)
            return
        self._begun_at = perf_counter()
        self._working = True
        outcomes = arm_outcomes(self.source.state)
        job = partial(self._compare, outcomes, self._key)
        self.run_worker(job, thread=True, group="compare")

    def _work_late(self) -> None:
        self._due = False
        self._work()

    def _compare(self, outcomes: dict[str, list[TrialOutcome]], key: tuple[str, str, Attempts]) -> None:
        a, b, attempts = key
        found, adjusted, problem = None, None, ""
        try:
            found = compare(outcomes[a], outcomes[b], attempts=attempts, names=(a, b))
            if len(outcomes) > 2:
                adjusted = against_baseline(outcomes, a)[b]
        except ValueError as error:
            problem = clean_line(str(error))
        self.post_message(self.Compared(found, adjusted, problem, key))

    def on_compare_screen_compared(self, event: Compared) -> None:
        self._working = False
        if event.key == self._key:
            self.found = event.found
            self.query_one(Head).adjusted = event.adjusted
            self._show_found(event.problem)
            self._show_state()
        else:
            self._begun_at = 0.0
            self._due = False
            self._work()
            return
        if self._due:
            self._due = False
            self._work()

    # --- showing ---

    @property
    def context(self) -> str:
        plan = self.source.state.plan
        if plan is None:
            return ""
        digest = (plan.card_digest or plan.task_set.digest).removeprefix("sha256:")[:7]
        named = clean_line(" ".join(word for word in (plan.task_set.name, plan.task_set.version[:12]) if word))
        return " · ".join(word for word in (named, f"card {digest}" if digest else "") if word)

    def _show_found(self, problem: str) -> None:
        head = self.query_one(Head)
        head.found = self.found
        head.text = problem or "working it out …"
        head.show()
        text = self.query_one(Text)
        text.found, text.context = self.found, self.context
        text.show()
        for list_id, tasks in (
            ("#a-only", self.found.a_only if self.found else ()),
            ("#b-only", self.found.b_only if self.found else ()),
        ):
            self.query_one(list_id, DiscordantList).set_tasks(tasks)

    def _show_state(self) -> None:
        source = self.source
        state = source.state
        plan = state.plan
        right: Pieces = []
        left_to_go = len(state.trials) - state.done
        if left_to_go and source.caught_up:
            right.append((f"{fmt.count(left_to_go, 'trial')} to go · ", "deck--warn"))
        right += badge(source, source.clock())
        run = clean_line(plan.name) if plan else source.folder.name
        self.query_one(Breadcrumbs).set([run, "compare"] if self.size.width < 100 else ["runs", run, "compare"], right)
        line = self.query_one(Arms)
        line.left, line.right = self._arm_names(), self._what()
        line.show()
        self.query_one(Head).show()
        self.query_one(Text).show()
        footer = self.query_one(ActionFooter)
        footer.hidden = set() if len(self.arms) > 2 else {"arm(1)"}
        if plan is None or plan.attempts < 2:
            footer.hidden |= {"attempts"}
        footer.labels["all_numbers"] = "lists" if self.has_class("-text") else "all numbers"
        footer.show()

    def _arm_names(self) -> Pieces:
        pieces: Pieces = []
        for letter, name in (("A", self.arm_a), ("B", self.arm_b)):
            if name is None:
                continue
            info = self.source.state.arms[name].info
            wide = self.size.width >= 100
            pieces += compare_lines.arm_words(letter, name, info.agent if wide else "", info.model if wide else "")
            pieces.append(("   ", ""))
        if len(self.arms) > 2:
            pieces.append((f"of {len(self.arms)} arms", "deck--dim"))
        return pieces

    def _what(self) -> Pieces:
        if self.found is None:
            return [(self.context, "deck--dim")]
        compared = what_was_compared(self.found)
        text = f"{compared} · {self.context}" if self.size.width >= 100 else compared
        return [(text, "deck--dim")]

    # --- the lists ---

    def action_side(self, step: int) -> None:
        self.query_one("#b-only" if step > 0 else "#a-only", DiscordantList).focus()

    def on_line_table_opened(self, event: LineTable.Opened) -> None:
        self._open(event.key, "a")

    def action_open_side(self, side: str) -> None:
        table = self.focused
        if isinstance(table, DiscordantList) and table.cursor_key is not None:
            self._open(table.cursor_key, side)

    def _open(self, task_name: str, side: str) -> None:
        found = self.found
        task = next((task for task in found.discordant if task.task == task_name), None) if found else None
        if task is None:
            return
        arm, attempt = (self.arm_a, task.attempt_a) if side == "a" else (self.arm_b, task.attempt_b)
        for trial in self.source.state.trials.values():
            if trial.task == task_name and trial.arm == arm and trial.attempt == attempt:
                self.app.push_screen(TrialScreen(self.source, trial.trial))
                return

    def action_all_numbers(self) -> None:
        self.toggle_class("-text")
        if self.has_class("-text"):
            self.query_one("#text").focus()
        else:
            self.query_one("#a-only").focus()
        self.call_after_refresh(self._show_state)

    async def action_step_back(self) -> None:
        if self.has_class("-text"):
            self.action_all_numbers()
        else:
            await self.app.run_action("back")

    # --- export ---

    def action_export(self) -> None:
        if self.found is None:
            self.notify("nothing is worked out yet", markup=False)
            return
        plan = self.source.state.plan
        folder = compare_export.export_folder(self.source.folder, plan.source if plan else "")
        arms = self.arms
        name = "comparison"
        if len(arms) > 2:
            name += "".join(f"-{fmt.arm_letter(arms.index(arm))}" for arm in (self.arm_a, self.arm_b) if arm in arms)
        if folder != self.source.folder:
            name = f"{self.source.folder.name}-{name}"
        self.run_worker(partial(self._export, self.found, folder, name, self.context), thread=True, group="export")

    def _export(self, found: Comparison, folder: Path, name: str, context: str) -> None:
        try:
            paths = compare_export.export(found, folder, name, context)
        except OSError as error:
            self.post_message(self.Exported(f"not written: {error.strerror} ({folder})", failed=True))
        else:
            names = " and ".join(path.name for path in paths)
            self.post_message(self.Exported(f"{names} written to {folder}", failed=False))

    def on_compare_screen_exported(self, event: Exported) -> None:
        self.notify(clean_line(event.text), severity="error" if event.failed else "information", markup=False)
