"""A run screen as it was the last time, and kept for the next."""

from __future__ import annotations

from screens.run_memory import Remembers, give_back, of_rows
from screens.source import RunSource
from screens.trial_filter import FilterError, parse
from screens.trial_rows import TrialRows
from screens.widgets.filter_bar import FilterBar
from screens.widgets.trials_table import TrialsTable
from screens.widgets.warnings_feed import WarningsFeed


class RunRecall:
    """Of the parts of one screen. `app` may be one that remembers nothing."""

    def __init__(
        self, app: object, source: RunSource, rows: TrialRows, table: TrialsTable, bar: FilterBar, feed: WarningsFeed
    ) -> None:
        self._app = app
        self._source = source
        self._rows = rows
        self._table = table
        self._bar = bar
        self._feed = feed
        self.found = False
        """Whether there is a row that the cursor goes back to."""
        self._cursor = ""
        self._settled = False

    def recall(self) -> None:
        """Before the rows are arranged for the first time."""
        memory = self._app.recall_run(self._source) if isinstance(self._app, Remembers) else None
        if memory is None:
            return
        self.found = bool(memory.cursor)
        self._cursor = memory.cursor
        give_back(memory, self._rows)
        self._table.cursor = memory.cursor or None
        self._bar.history[:] = memory.recalled
        self._bar.text = memory.filter
        self._feed.seen(memory.seen_warnings)
        try:
            wanted = parse(memory.filter)
        except FilterError as error:
            self._bar.error = str(error)
        else:
            self._rows.filter = wanted if wanted.test else None

    def settle(self) -> None:
        """Once, when the run is read and its rows are there. A run that goes on is looked at from its top, where what
        runs stands: the row that one was at may be far below by now. A run that is over opens where it was left."""
        if self._settled or not self._source.caught_up or self._rows.behind:
            return
        self._settled = True
        if self.found and self._source.live and self._table.cursor == self._cursor:
            self._table.to_first_page()

    def remember(self) -> None:
        if isinstance(self._app, Remembers):
            cursor = self._table.cursor_key or ""
            cursor = "" if cursor in self._rows.groups else cursor
            memory = of_rows(self._rows, self._bar.text, self._bar.history, cursor, self._feed.read)
            self._app.remember_run(self._source, memory)
