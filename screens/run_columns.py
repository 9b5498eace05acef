"""Which columns of the trials a person wants to see; what they choose is kept in the settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol, runtime_checkable

from screens.trial_columns import COLUMNS
from screens.widgets.trials_table import TrialsTable

ALWAYS = "task"
"""The column that can't go: a row without it names nothing."""


@runtime_checkable
class KeepsColumns(Protocol):
    """The app, where it knows its person's settings."""

    @property
    def hidden_columns(self) -> tuple[str, ...]: ...

    def keep_setting(self, name: str, value: object) -> None: ...


class RunColumns:
    """Of one table."""

    def __init__(self, app: object, table: TrialsTable) -> None:
        self._app = app
        self._table = table
        if isinstance(app, KeepsColumns):
            table.hidden_columns = {name for name in app.hidden_columns if name != ALWAYS}

    def commands(self, sort_by: Callable[[str], None]) -> list[tuple[str, Callable[[], None]]]:
        """For the palette."""
        found: list[tuple[str, Callable[[], None]]] = [
            (f"Sort by {column.help or column.title}", partial(sort_by, column.name)) for column in COLUMNS
        ]
        for column in COLUMNS:
            if column.name != ALWAYS:
                verb = "Show" if column.name in self._table.hidden_columns else "Hide"
                found.append((f"{verb} the column {column.help or column.title}", partial(self.turn, column.name)))
        return found

    def turn(self, name: str) -> None:
        """Hide it, or show it again."""
        self._table.hidden_columns ^= {name}
        self._table.rows_changed()
        self._table.refresh()
        if isinstance(self._app, KeepsColumns):
            self._app.keep_setting("run.hidden_columns", tuple(sorted(self._table.hidden_columns)))
