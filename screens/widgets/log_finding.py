"""What is looked for in a log: lines that match, only those, a moment, an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from screens.log_errors import ERRORS
from screens.log_filter import FilteredReader
from screens.log_jump import ENDS_BEFORE, NO_TIMES, Looked, Stop, at_place
from screens.log_lines import LineReader
from screens.log_pattern import BadPattern, Matches, Pattern, Within, filter_pattern
from screens.log_places import BadPlace, LineNumber, Moment, Place, Share, parse_place
from screens.log_scan import first_from, last_before
from screens.log_search import Search
from screens.log_times import LogTimes
from screens.widgets.log_asking import FILTER, GO_TO, SEARCH, SearchLine
from screens.widgets.log_searching import LogSearching
from screens.widgets.log_streaming import LogStreaming

if TYPE_CHECKING:
    from screens.widgets.log_moving import Growing

_LOOKING = "looking"


class LogFinding(LogStreaming):
    @dataclass
    class Found(Message):
        """A look through the log has ended; `number` tells the looks apart."""

        number: int
        at: int | None
        words: str

    class Untimed(Message):
        """Somebody asked for a moment, and the lines tell no times."""

    def __init__(self, file: Growing, *, follow: bool = False, id: str | None = None) -> None:
        super().__init__(file, follow=follow, id=id)
        self._searching = LogSearching(self)
        self._filtering = LogSearching(self)
        self._kept_at: int | None = None  # where the view was when the filter began, until somebody moves it
        self._look_number = 0
        self._looks_for = ""
        self._place_text = ""
        self._filter_text = ""

    # --- what others ask ---

    @property
    def search(self) -> Search | None:
        return self._searching.search

    @property
    def searching(self) -> bool:
        return self._searching.running

    @property
    def search_stopped(self) -> bool:
        return self._searching.stopped

    @property
    def filtering(self) -> Search | None:
        """The lines that are shown, where not all are."""
        return self._filtering.search

    @property
    def filter_stopped(self) -> bool:
        return self._filtering.stopped

    @property
    def doing(self) -> str:
        """What is being looked for in the background, in words."""
        return self._looks_for

    # --- searching ---

    def action_search(self) -> None:
        """Asks for a pattern; the last one can be edited."""
        self.query_one(SearchLine).open(SEARCH, self.search.pattern.text if self.search else "")

    def action_hit(self, step: int) -> None:
        """The next hit, or the previous one, round the file's end."""
        if self.search is None:
            self.action_search()
            return
        self.left()
        search, here = self.search, self.here
        if search.complete:
            at = search.next_after(here) if step > 0 else search.last_before(here)
        elif here <= search.searched:  # it is known what stands between
            at = search.at_or_after(here + 1) if step > 0 else search.before(here)
        else:
            at = None
        if at is not None:
            self._let_go()
            self._mark(at)
        elif not search.complete and (line := self._all_lines().line_at(here)) is not None:
            begin = line.after if step > 0 else here
            self._look_for("a match", lambda stop: (search.look_round(begin, step, stop), "not found"))

    def stop_search(self) -> bool:
        """Cancels what runs, or else forgets the hits, or else shows all lines again. False where nothing was on."""
        if self._looks_for:
            self._stop_looking()
        elif self.searching or self._filtering.running:
            self._searching.cancel()
            self._filtering.cancel()
        elif self._page.range is not None:
            self._page.range = None
        elif self.search is not None:
            self._searching.forget()
            self._page.pattern = None
            if self.filtering is None:
                self._page.marked = None
        elif self.filtering is not None:
            self.filter_by("")
        elif self.stream is not None:
            self.show_stream(None)
        else:
            return False
        self._moved()
        return True

    def search_for(self, text: str) -> str:
        """Begins a search; returns what is wrong with the pattern, if anything."""
        try:
            pattern = Pattern(text)
        except BadPattern as error:
            return str(error)
        if pattern.empty:
            self._searching.forget()
            self._page.pattern = None
        else:
            self._begin_search(pattern, jump=True)
        self._moved()
        return ""

    def _begin_search(self, pattern: Matches, *, jump: bool) -> None:
        while isinstance(pattern, Within):
            pattern = pattern.pattern
        self._page.pattern = pattern.in_text if isinstance(pattern, Pattern) else None
        self._searching.begin(self._looked_through, self._passed(pattern), self.here - 1, jump=jump, keeps=self._keeps)
        self._search_more()

    def _passed(self, pattern: Matches) -> Matches:
        return pattern if self.filtering is None else Within(pattern, self.filtering.pattern)

    def _search_more(self) -> None:
        self._searching.go_on(self._looked_through)
        at = self._searching.take_jump()
        if at is not None:
            self._let_go()
            self._mark(at)

    def on_log_searching_searched(self, event: LogSearching.Searched) -> None:
        event.stop()
        if self._filtering.came(event):
            self._filter_more()
            self._moved()
        elif self._searching.came(event):
            self._search_more()
            self._moved()

    def look_further(self) -> None:
        self._filter_more()
        self._search_more()

    def left(self) -> None:
        self._searching.stay()
        self._kept_at = None

    # --- only lines that match ---

    def action_filter(self) -> None:
        """Asks which lines to show; the last filter can be edited."""
        self.query_one(SearchLine).open(FILTER, self._filter_text)

    def filter_by(self, text: str) -> str:
        """Shows only the lines that match, or with `!` in front only the others; all of them for "". The line one is at
        stays, or else the next one that is shown. Returns what is wrong with the pattern, if anything."""
        try:
            pattern = filter_pattern(text)
        except BadPattern as error:
            return str(error)
        if not pattern.empty:
            self._filter_text = text
        self._show_lines(None if pattern.empty else pattern)
        return ""

    def show_other_lines(self) -> None:
        self._show_lines(self.filtering.pattern if self.filtering is not None else None)

    def _show_lines(self, pattern: Matches | None) -> None:
        """Only those that match, of the stream that is shown; all of it where there is no pattern."""
        here, resting = self.here, self._rests_at_end
        self._page.fit_window()
        if pattern is None:
            self._filtering.forget()
            self._window.set_reader(self._all_lines())
            self._kept_at = None
            self._window.go_to(here)
            self._window.scroll(-(self._window.height // 3))
        else:
            self._filter_for(pattern)
            self._kept_at = self._window.reader.file.size if resting else here
            self._filter_more()
        if resting:
            self._to_end()
        if self.search is not None:
            self._begin_search(self.search.pattern, jump=False)
        self._page.empty_text = self.nothing_shown()
        self._moved()

    def _filter_for(self, pattern: Matches) -> None:
        self._filtering.begin(self._looked_through, pattern, -1, jump=False, keeps=self._keeps)
        assert self.filtering is not None
        self._window.set_reader(FilteredReader(self._file, self._index, self.filtering))

    def _filter_more(self) -> None:
        if self.filtering is None:
            return
        self._filtering.go_on(self._looked_through)
        self._window.changed()
        if self.following or self._rests_at_end:
            self._to_end()
        elif self._kept_at is not None:
            self._window.go_to(self._kept_at)
        self._page.empty_text = self.nothing_shown()

    def nothing_shown(self) -> str:
        if self.filtering is None:
            return super().nothing_shown()
        return "no line matches" if self.filtering.complete else "no line matches so far"

    def _start_over(self) -> None:
        super()._start_over()
        filtering, search = self.filtering, self.search
        if filtering is not None:
            self._filter_for(filtering.pattern)
        elif self.stream is not None:
            self._window.set_reader(self._all_lines())
        if search is not None:
            self._begin_search(search.pattern, jump=False)

    # --- errors ---

    def action_error(self, step: int) -> None:
        """To the next line that tells of an error, or the previous one."""
        line = self._window.reader.line_at(self.here)
        if line is None:
            return
        here, after, pattern, keeps = line.start, line.after, self._passed(ERRORS), self._keeps
        if self._page.marked is None or not self._window.sees(self._page.marked):
            after = here  # no line is marked yet: the first one shown may be it

        def look(stop: Stop) -> Looked:
            if step > 0:
                return first_from(self._file, pattern, after, stop, keeps), "no error further down"
            return last_before(self._file, pattern, here, stop, keeps), "no error further up"

        self._look_for("an error", look)

    def action_first_error(self) -> None:
        pattern, keeps = self._passed(ERRORS), self._keeps
        self._look_for(
            "the first error", lambda stop: (first_from(self._file, pattern, 0, stop, keeps), "no error in this log")
        )

    # --- places and times ---

    def action_go_to(self) -> None:
        """Asks for a line, a share of the log, a time, or a distance in time."""
        self.query_one(SearchLine).open(GO_TO, self._place_text)

    def go_to(self, text: str) -> str:
        """Goes where a text says; returns what is wrong with it, if anything."""
        try:
            place = parse_place(text)
        except BadPlace as error:
            return str(error)
        self._place_text = text
        if isinstance(place, LineNumber):
            self.go_to_line(place.number)
        elif isinstance(place, Share):
            self._jumps()
            self.left()
            self._let_go()
            self._rests_at_end = False
            self._page.fit_window()
            self._window.go_to(int(self._file.size * place.percent / 100))
            self._moved()
        else:
            here = self.here
            self._look_for(text, lambda stop: self._at_place(place, here, stop))
        return ""

    def go_to_time(self, at: datetime) -> None:
        """Shows and marks the first line written then or later. A moment without a zone is meant in the log's own."""
        here = self.here
        self._look_for(f"{at:%H:%M:%S}", lambda stop: self._at_place(Moment(at), here, stop))

    def times(self) -> LogTimes:
        """Knows when lines of this log were written. Reads the file: call it in a thread."""
        return LogTimes(datetime.now(UTC))

    def _at_place(self, place: Place, here: int, stop: Stop) -> Looked:
        """In a thread."""
        return at_place(place, LineReader(self._file, self._index), self.times(), here, stop)

    # --- looking in a thread ---

    def _look_for(self, words: str, look: Callable[[Stop], Looked]) -> None:
        self._look_number += 1
        number = self._look_number
        self._looks_for = f"looking for {words}"

        def work() -> None:
            worker = get_current_worker()
            at, said = look(lambda: worker.is_cancelled)
            if not worker.is_cancelled:
                self.post_message(self.Found(number, at, said))

        self.run_worker(work, thread=True, exclusive=True, group=_LOOKING)

    def _stop_looking(self) -> None:
        self._look_number += 1
        self._looks_for = ""
        self.workers.cancel_group(self, _LOOKING)

    def on_log_finding_found(self, event: Found) -> None:
        event.stop()
        if event.number != self._look_number:
            return
        self._looks_for = ""
        if event.at is not None:
            self.left()
            self._let_go()
            self._mark(event.at)
        if event.words and (event.at is None or event.words == ENDS_BEFORE):
            self.notify(event.words, timeout=3, markup=False)
        if event.words == NO_TIMES:
            self.post_message(self.Untimed())
        self._moved()

    # --- what a person typed ---

    def on_search_line_asked(self, event: SearchLine.Asked) -> None:
        event.stop()
        self._page.focus()
        if event.asking is SEARCH:
            self.search_for(event.text)
        elif event.asking is FILTER:
            self.filter_by(event.text)
        elif event.asking is GO_TO and event.text.strip():
            self.go_to(event.text)

    def on_search_line_left(self, event: SearchLine.Left) -> None:
        event.stop()
        self._page.focus()

    def match_in(self, text: str) -> str:
        """What of a line's text the search has found."""
        pattern = self._page.pattern
        found = pattern.search(text) if pattern is not None else None
        return found[0] if found else ""
