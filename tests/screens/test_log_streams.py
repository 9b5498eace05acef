"""Lines of one stream alone: against what a slow and simple reader says, and on the screen."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from textual.app import App

from engine import log_streams
from engine.layout import LogFile as ListedLog
from engine.log_streams import Stream, streams_path
from engine.trial.log_file import LogFile
from screens.files_tree import read_tree
from screens.log_file import GrowingFile
from screens.log_filter import FilteredReader
from screens.log_index import LineIndex
from screens.log_lines import LineReader
from screens.log_pattern import Pattern, filter_pattern
from screens.log_scan import first_from, last_before
from screens.log_search import Search
from screens.log_streams import LogStreams, StreamReader
from screens.widgets.log_page import LogPage
from screens.widgets.log_view import LogView
from tests.screens.test_log_view import OneLog, numbers, page_text, settle, status_text
from tests.screens.test_merged_log import Several

pytestmark = pytest.mark.anyio

OUT, ERR = Stream.STDOUT, Stream.STDERR
Written = tuple[str, bytes]


def written(path: Path, *pieces: Written) -> Path:
    with LogFile(path, path.parent) as log:
        for stream, data in pieces:
            log.write(stream, data)
    return path


def said(app: App[None]) -> list[str]:
    return [note.message for note in app._notifications]


def ranges_of(path: Path) -> tuple[GrowingFile, LogStreams]:
    file, streams = GrowingFile(path), LogStreams(path)
    file.look()
    streams.read_on(file.size)
    return file, streams


def starts_of(reader: LineReader) -> list[int]:
    """By going down from the beginning."""
    found, at = [], 0
    while (line := reader.line_at(at)) is not None:
        found.append(line.start)
        at = line.after
    return found


def starts_upwards(reader: LineReader) -> list[int]:
    found, at = [], reader.file.size
    while (line := reader.line_before(at)) is not None:
        found.append(line.start)
        at = line.start
    return found[::-1]


def pieces_by_chance(chance: random.Random) -> list[Written]:
    letters = [b"a", b"bb", b"\n", b"\n", b"x" * 5000, b"c\nd"]
    return [
        (chance.choice(["stdout", "stderr"]), b"".join(chance.choices(letters, k=chance.randint(1, 4))))
        for _ in range(chance.randint(1, 25))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_up_and_down_it_finds_the_lines_that_the_stream_began(tmp_path: Path, seed: int) -> None:
    pieces = pieces_by_chance(random.Random(seed))
    path = written(tmp_path / "agent.txt", *pieces)
    whose = [stream for stream, data in pieces for _ in data]
    data = path.read_bytes()
    begins = [0, *(at + 1 for at in range(len(data) - 1) if data[at : at + 1] == b"\n")]
    file, streams = ranges_of(path)
    for stream in (OUT, ERR):
        wanted = [at for at in begins if whose[at] == stream]
        if not streams.told:
            continue
        reader = StreamReader(file, LineIndex(file), streams.only(stream))
        assert starts_of(reader) == wanted
        assert starts_upwards(reader) == wanted
        for offset in {*begins, *(at + 1 for at in begins)}:
            line = reader.line_of(offset)
            own = max(at for at in begins if at <= offset)
            expected = next((at for at in wanted if at >= own), wanted[-1] if wanted else None)
            assert (line.start if line is not None else None) == expected
        found = Search(file, filter_pattern("!x"), streams.only(stream).kept)
        found.extend()
        passing = [at for at in wanted if b"x" not in data[at:].partition(b"\n")[0]]
        assert found.count == len(passing)
        assert starts_of(FilteredReader(file, LineIndex(file), found)) == passing


def test_errors_are_looked_for_in_one_stream_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", ("stdout", b"bad 1\n"), ("stderr", b"bad 2\n"), ("stdout", b"bad 3\n"))
    file, streams = ranges_of(path)
    keeps = streams.only(ERR).kept
    assert first_from(file, Pattern("bad"), 0, keeps=keeps) == 6
    assert last_before(file, Pattern("bad"), file.size, keeps=keeps) == 6
    assert first_from(file, Pattern("bad"), 12, keeps=keeps) is None


def test_notes_that_go_on_are_read_from_where_one_was_and_others_from_their_beginning(tmp_path: Path) -> None:
    log = tmp_path / "agent.txt"
    streams = LogStreams(log)
    assert streams.read_on(5) is None and not streams.told and streams.seen == 5
    streams_path(log).write_bytes(b"10 stderr\n")
    assert streams.read_on(20) == 10 and streams.at(10) is ERR and streams.at(20) is None
    with streams_path(log).open("ab") as file:
        file.write(b"30 stdout\n")
    assert streams.read_on(40) == 30 and streams.at(30) is OUT
    streams_path(log).unlink()
    assert streams.read_on(50) is None and streams.at(10) is ERR, "what was known stays"
    streams_path(log).write_bytes(b"15 stderr\n")
    assert streams.read_on(50) == 0 and streams.at(10) is OUT and streams.at(15) is ERR


def story(path: Path) -> Path:
    """Of every five lines the fifth came on stderr."""
    pieces: list[Written] = []
    for number in range(1, 101):
        pieces.append(("stderr", b"warn %d\n" % number) if number % 5 == 0 else ("stdout", b"step %d\n" % number))
    return written(path, *pieces)


async def test_lines_of_stderr_bear_a_mark_that_needs_no_colour(tmp_path: Path) -> None:
    app = OneLog(story(tmp_path / "agent.txt"))
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        assert page_text(app)[-6:-4] == ["  95▎ warn 95", "  96  step 96"]
        assert "▎stderr" in status_text(app) and "only" not in status_text(app)
        app.view.action_numbers()
        await pilot.pause()
        assert page_text(app)[-6:-4] == ["▎ warn 95", "  step 96"]


async def test_a_key_goes_through_stderr_stdout_and_both_with_a_word_for_each(tmp_path: Path) -> None:
    app = OneLog(story(tmp_path / "agent.txt"))
    async with app.run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        await pilot.press("g", "|")
        assert page_text(app)[:2] == ["   5▎ warn 5", "  10▎ warn 10"]
        assert "stderr only" in status_text(app)
        await pilot.press("|")
        assert page_text(app)[2:4] == ["   4  step 4", "   6  step 6"]
        assert "stdout only" in status_text(app)
        await pilot.press("|")
        assert page_text(app)[3:5] == ["   4  step 4", "   5▎ warn 5"]
        await pilot.press("|")
        assert app.view.stop_search() and app.view.stream is None, "esc shows both again"
        assert "only" not in status_text(app)


async def test_a_stream_composes_with_filter_search_places_copies_and_saving(tmp_path: Path) -> None:
    app = OneLog(story(tmp_path / "agent.txt"))
    async with app.run_test(size=(120, 24), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("g", "|")
        app.view.search_for("0")
        await settle(pilot)
        assert app.view.search is not None and app.view.search.count == 10
        app.view.filter_by("5$")
        await settle(pilot)
        assert page_text(app)[:2] == ["   5▎ warn 5", "  15▎ warn 15"]
        assert "&5$ 10 lines" in status_text(app)
        assert app.view.search.count == 0, "none of what is shown"
        await pilot.press("|")
        assert "no line matches" in page_text(app)[0], "no line of stdout ends so"
        app.view.filter_by("!7")
        assert page_text(app)[5:7] == ["   8  step 8", "   9  step 9"]
        assert app.view.filtering is not None and app.view.filtering.count == 80 - 17
        app.view.filter_by("")
        await pilot.press("|", "|")
        app.view.go_to_line(51)
        await settle(pilot)
        assert app.view.here_number == 55, "the next line that is shown"
        await pilot.press("v", "J", "y")
        assert app.clipboard == "warn 55\nwarn 60"
        app.view.save(tmp_path / "range.txt")
        await settle(pilot)
        assert (tmp_path / "range.txt").read_text() == "warn 55\nwarn 60\n"
        app.view.stop_search()
        app.view.save(tmp_path / "all.txt")
        await settle(pilot)
        assert (tmp_path / "all.txt").read_text() == "".join(f"warn {number}\n" for number in range(5, 101, 5))
        app.view._chosen("command")
        await pilot.pause()
        assert "command copied; a shell shows both streams" in said(app)


async def test_a_followed_log_shows_what_comes_on_the_stream_and_no_other_line(tmp_path: Path) -> None:
    path = story(tmp_path / "agent.txt")
    app = OneLog(path, follow=True)
    async with app.run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        await pilot.press("|")
        assert page_text(app)[-1] == " 100▎ warn 100"
        written(path, ("stdout", b"step 101\n"), ("stderr", b"warn 102\nwarn 103\n"), ("stdout", b"step 104\n"))
        app.view.poll()
        assert not any("step" in line for line in page_text(app)), "before it is known whose it is"
        await settle(pilot)
        assert page_text(app)[-2:] == [" 102▎ warn 102", " 103▎ warn 103"]
        app.view.filter_by("3$")
        written(path, ("stderr", b"warn 105 3\n"), ("stdout", b"step 106 3\n"))
        app.view.poll()
        await settle(pilot)
        assert page_text(app)[:3] == [" 103▎ warn 103", " 105▎ warn 105 3", ""]
        assert app.view.filtering is not None and app.view.filtering.count == 2


async def test_a_log_without_notes_says_so_in_one_line_and_looks_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "agent.txt"
    path.write_text(numbers(to=50))
    app = OneLog(path)
    async with app.run_test(size=(100, 12), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("|")
        assert said(app) == ["no stderr, or it wasn't kept apart"]
        assert app.view.stream is None and page_text(app)[-1] == "  50  50"
        assert "stderr" not in status_text(app)


async def test_what_is_past_the_bound_is_in_both_with_a_mark_and_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_streams, "MOST_BYTES", 200)
    app = OneLog(story(tmp_path / "agent.txt"))
    async with app.run_test(size=(120, 12)) as pilot:
        await settle(pilot)
        assert page_text(app)[-1] == " 100? warn 100"
        assert "? streams not kept beyond 2" in status_text(app)
        await pilot.press("|", "g")
        assert page_text(app)[0] == "   5▎ warn 5"
        await pilot.press("G")
        assert page_text(app)[-2:] == ["  99? step 99", " 100? warn 100"]
        await pilot.press("|", "G")
        assert page_text(app)[-2:] == ["  99? step 99", " 100? warn 100"]


async def test_a_log_that_is_written_anew_is_told_apart_anew(tmp_path: Path) -> None:
    path = story(tmp_path / "agent.txt")
    app = OneLog(path)
    async with app.run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        await pilot.press("|")
        path.unlink()
        streams_path(path).unlink()
        written(path, ("stdout", b"new 1\nnew 2\n"), ("stderr", b"new 3\n"))
        app.view.poll()
        await settle(pilot)
        assert page_text(app)[:2] == ["   3▎ new 3", ""]
        path.unlink()
        streams_path(path).unlink()
        path.write_text("plain\n")
        app.view.poll()
        await settle(pilot)
        assert page_text(app)[:2] == ["   1  plain", ""] and app.view.stream is None
        assert "stderr" not in status_text(app)


async def test_notes_that_take_back_what_they_said_are_believed(tmp_path: Path) -> None:
    path = story(tmp_path / "agent.txt")
    app = OneLog(path)
    async with app.run_test(size=(100, 12)) as pilot:
        await settle(pilot)
        await pilot.press("|", "g")
        app.view.filter_by("9")
        assert app.view.filtering is not None and app.view.filtering.count == 2
        with streams_path(path).open("ab") as file:
            file.write(b"0 stderr\n")
        with path.open("ab") as file:
            file.write(b"end 9\n")
        app.view.poll()
        await settle(pilot)
        assert app.view.filtering.count == 20 and app.view.here_number == 90
        await pilot.press("g")
        assert page_text(app)[:2] == ["   9▎ step 9", "  19▎ step 19"]


async def test_a_folder_in_the_place_of_notes_and_notes_that_are_none_change_nothing(tmp_path: Path) -> None:
    for name, make in (("a.txt", Path.mkdir), ("b.txt", lambda path: path.write_bytes(b"\x1b]52;c;A\x07\n" * 9))):
        path = tmp_path / name
        path.write_text("one\n")
        make(streams_path(path))
        app = OneLog(path)
        async with app.run_test(size=(100, 12)) as pilot:
            await settle(pilot)
            assert page_text(app)[0] == "   1  one" and "stderr" not in status_text(app)


async def test_rare_lines_of_a_long_log_are_there_at_once(tmp_path: Path) -> None:
    """What lies between them is not read."""
    path = tmp_path / "agent.txt"
    plain = b"an ordinary line of some length\n" * 32_768
    written(
        path, *(("stdout", plain) for _ in range(30)), ("stderr", b"once\n"), *(("stdout", plain) for _ in range(30))
    )
    file, streams = ranges_of(path)
    read: list[int] = []

    class Counted:
        size = file.size

        def read(self, offset: int, length: int) -> bytes:
            read.append(length)
            return file.read(offset, length)

    counted = Counted()
    reader = StreamReader(counted, LineIndex(counted), streams.only(ERR))
    assert starts_of(reader) == starts_upwards(reader) == [30 * len(plain)]
    assert sum(read) < 100_000


def test_among_the_files_it_is_said_what_stands_beside_a_log(tmp_path: Path) -> None:
    written(tmp_path / "agent.txt", ("stderr", b"two\n"))
    (tmp_path / "alone.streams").write_text("of something else\n")
    told = {entry.name: entry.detail for entry in read_tree(tmp_path)}
    assert told["agent.txt.streams"] == "which bytes of the log came on stderr"
    assert told["agent.txt"] == told["alone.streams"] == ""


def test_lines_that_stdout_begins_and_stderr_ends_are_walked_over_once(tmp_path: Path) -> None:
    half: list[Written] = [("stdout", b"building "), ("stderr", b"done\n")] * 300
    path = written(tmp_path / "agent.txt", *half, ("stderr", b"one\n"), *half, ("stdout", b"open "), ("stderr", b"end"))
    file, streams = ranges_of(path)
    read: list[int] = []

    class Counted:
        size = file.size

        def read(self, offset: int, length: int) -> bytes:
            read.append(length)
            return file.read(offset, length)

    counted = Counted()
    reader = StreamReader(counted, LineIndex(counted), streams.only(ERR))
    one = len(b"building done\n") * 300
    for _ in range(3):
        read.clear()
        assert starts_of(reader) == starts_upwards(reader) == [one]
    assert len(read) < 30
    written(path, ("stderr", b"ed\ntwo\n"))
    file.look()
    streams.read_on(file.size)
    counted.size = file.size
    two = file.size - len(b"two\n")
    assert starts_of(reader) == starts_upwards(reader) == [one, two]


async def test_one_stream_of_a_log_wraps_scrolls_and_is_paged(tmp_path: Path) -> None:
    long = b"w" * 150
    path = written(
        tmp_path / "agent.txt",
        *(("stderr" if n % 3 == 0 else "stdout", b"%d %s\n" % (n, long)) for n in range(200)),
    )
    app = OneLog(path)
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        app.view.action_wrap()
        await pilot.press("|", "g")
        assert [line[:8] for line in page_text(app)[:6]] == [
            "   1▎ 0 ", "    ▎ ww", "    ▎ ww", "   4▎ 3 ", "    ▎ ww", "    ▎ ww",
        ]  # fmt: skip
        await pilot.press("pagedown", "down")
        assert page_text(app)[0].startswith("    ▎ w")
        await pilot.press("G")
        assert page_text(app)[-1].startswith("    ▎ ww") and page_text(app)[-3].startswith(" 199▎ 198 ")


@pytest.fixture
def view(tmp_path: Path) -> LogView:
    return LogView(tmp_path / "agent.txt", "agent")


def test_a_log_that_is_not_there_yet_knows_no_streams(view: LogView) -> None:
    assert view.streams is None and view.stream is None


async def test_the_text_is_narrower_by_the_marks_where_there_are_no_numbers(tmp_path: Path) -> None:
    path = written(tmp_path / "agent.txt", ("stdout", b"x" * 200 + b"\n"), ("stderr", b"y\n"))
    app = OneLog(path)
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        app.view.action_numbers()
        app.view.action_wrap()
        await pilot.pause()
        page = app.view.query_one(LogPage)
        assert page.numbers_width == 2
        assert page_text(app)[0] == "  " + "x" * (page.size.width - 2)


async def test_logs_merged_by_time_show_every_line_and_say_that_they_tell_no_streams_apart(tmp_path: Path) -> None:
    for name in ("agent", "db"):
        written(tmp_path / f"{name}.log", ("stderr", b"2026-11-30T12:00:00Z of " + name.encode() + b"\n"))
    app = Several([ListedLog("service", name, tmp_path / f"{name}.log") for name in ("agent", "db")])
    async with app.run_test(size=(100, 12), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("|")
        assert said(app) == ["merged logs don't tell streams apart"]
        page = app.view.query_one(LogPage)
        assert [page.render_line(y).text.split()[-1] for y in range(2)] == ["agent", "db"]
