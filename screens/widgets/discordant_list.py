"""The tasks that one arm resolved and the other didn't."""

from __future__ import annotations

from collections.abc import Sequence

from engine.analysis import wording as say
from engine.analysis.compare import DiscordantTask
from engine.text import clean_line
from screens.columns import Column
from screens.pieces import Pieces
from screens.widgets.line_table import LineTable


class DiscordantList(LineTable):
    """Keys are task names."""

    def __init__(self, letter: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.letter = letter
        self.tasks: dict[str, DiscordantTask] = {}
        self._order: dict[str, int] = {}
        self._title()

    def set_tasks(self, tasks: Sequence[DiscordantTask]) -> None:
        self.tasks = {task.task: task for task in tasks}
        self._order = {task: row for row, task in enumerate(self.tasks)}
        self._title()
        self.rows_changed()

    def _title(self) -> None:
        title = f"{self.letter} only  {len(self.tasks)}"
        self.COLUMNS = (
            Column("task", title, 14, keep=100, widest=60),
            Column("a", "A", 5, keep=50, right=True),
            Column("b", "B", 5, keep=50, right=True),
            Column("rest", "", 1, keep=10),
        )

    @property
    def keys(self) -> Sequence[str]:
        return list(self._order)

    def find(self, key: str) -> int | None:
        return self._order.get(key)

    def wanted_widths(self) -> dict[str, int]:
        return {"task": max((len(task) for task in self.tasks), default=0)}

    def cell(self, key: str, column: str) -> Pieces:
        task = self.tasks[key]
        if column == "rest":
            return []
        if column == "task":
            return [(clean_line(task.task), "")]
        reward, passed = (task.reward_a, task.passed_a) if column == "a" else (task.reward_b, task.passed_b)
        return [(say.reward(reward), "deck--good" if passed else "deck--dim")]

    def empty_text(self) -> str:
        return "none"
