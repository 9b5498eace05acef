"""Which stream the lines of a log came on: marked beside their numbers, and one stream shown alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from engine.log_streams import Stream
from screens.log_index import Bytes
from screens.log_lines import LineReader
from screens.log_streams import Keeps, LogStreams, OneStream, StreamReader
from screens.widgets.log_moving import LogMoving

if TYPE_CHECKING:
    from screens.widgets.log_moving import Growing

STREAM_MARKS = {Stream.STDERR: "▎", Stream.UNKNOWN: "?"}
"""Before a line's text; stdout has none."""
_READING = "streams"


class LogStreaming(LogMoving):
    """What a log's streams are is read in a thread that ends in a message; the log does not wait for it."""

    @dataclass
    class StreamsRead(Message):
        """`before`: how much of the log was known about; `changed`: from where on something is another than it was."""

        streams: LogStreams
        before: int
        changed: int | None

    def __init__(self, file: Growing, *, follow: bool = False, id: str | None = None) -> None:
        super().__init__(file, follow=follow, id=id)
        self._streams: LogStreams | None = None
        self._streams_read = False  # at least once
        self._reading_streams = False
        self._one: OneStream | None = None

    # --- what others ask ---

    @property
    def stream(self) -> Stream | None:
        """The one that is shown alone; None where both are."""
        return self._one.stream if self._one is not None else None

    @property
    def streams(self) -> LogStreams | None:
        """What is known of them; None where nothing is."""
        return self._streams if self._streams is not None and self._streams.told else None

    def find_streams(self) -> LogStreams | None:
        """Where it may stand which stream a line came on; None where nobody can know."""
        return None

    # --- choosing ---

    def action_streams(self) -> None:
        """Both, then only what came on stderr, then only what came on stdout."""
        if self.streams is None:
            self.notify(self._why_unknown(), timeout=4, markup=False)
            return
        following: dict[Stream | None, Stream | None] = {None: Stream.STDERR, Stream.STDERR: Stream.STDOUT}
        self.show_stream(following.get(self.stream))

    def show_stream(self, stream: Stream | None) -> None:
        """Shows the lines of this stream, or all of them. The line one is at stays, or else the next that is shown."""
        streams = self.streams
        self._one = streams.only(stream) if streams is not None and stream is not None else None
        self.show_other_lines()

    def show_other_lines(self) -> None:
        """Which lines are shown has changed: they are laid out anew, and looked through again."""
        raise NotImplementedError

    def _why_unknown(self) -> str:
        """Short enough for one line of a notice on a narrow screen."""
        if self._reading_streams and not self._streams_read:
            return "the streams are still being read"
        if self._streams is None and self._file.size:
            return "merged logs don't tell streams apart"
        return "no stderr, or it wasn't kept apart"

    # --- what looks through the log ---

    @property
    def _looked_through(self) -> Bytes:
        """As much of the file as can be looked through for lines that are shown."""
        return self._file if self._one is None else self._one.seen_of(self._file)

    @property
    def _keeps(self) -> Keeps | None:
        return None if self._one is None else self._one.kept

    def _all_lines(self) -> LineReader:
        """Those of the stream, where only one is shown."""
        if self._one is None:
            return LineReader(self._file, self._index)
        return StreamReader(self._file, self._index, self._one)

    def nothing_shown(self) -> str:
        if self._one is not None and self._file.size:
            return f"no line came on {self._one.stream}"
        return super().nothing_shown()

    # --- reading what is known ---

    def grew(self) -> None:
        super().grew()
        self._read_streams()

    def _start_over(self) -> None:
        stream = self.stream
        self._streams, self._one = self.find_streams(), None
        self._page.streams = None
        if self._streams is not None and stream is not None:
            self._one = self._streams.only(stream)
        super()._start_over()

    def _read_streams(self) -> None:
        if self._streams is None:
            self._streams = self.find_streams()
        streams, size = self._streams, self._file.size
        if streams is None or self._reading_streams or streams.seen >= size:
            return
        self._reading_streams = True

        def work() -> None:
            before = streams.seen
            changed = streams.read_on(size)
            self.post_message(self.StreamsRead(streams, before, changed))

        self.run_worker(work, thread=True, group=_READING)

    def on_log_streaming_streams_read(self, event: StreamsRead) -> None:
        event.stop()
        self._reading_streams = False
        self._streams_read = True
        if event.streams is self._streams:
            self._take_streams(event.before, event.changed)
        self._read_streams()

    def _take_streams(self, before: int, changed: int | None) -> None:
        known = self.streams
        if known is None:
            if self._one is not None:  # the log was written anew, and nothing is known of this one
                self.show_stream(None)
            return
        if self._one is not None and changed is not None and changed < before:
            self.show_other_lines()  # something that had been said is not so any more
        elif self._one is not None:
            self._window.changed()
            if self.following or self._rests_at_end:
                self._to_end()
            self.look_further()
        first, self._page.streams = self._page.streams is None, self._mark_of
        if first or changed is not None or self._one is not None or self._window.bottom > before:
            if self._rests_at_end:
                self._to_end()  # the marks may leave less room for the text
            self._page.repaint()
        self.show_state()

    def _mark_of(self, start: int) -> str:
        stream = self._streams.at(start) if self._streams is not None else None
        return STREAM_MARKS.get(stream, "") if stream is not None else ""
