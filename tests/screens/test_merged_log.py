"""Several logs as one by time, against a naive stable sort; and on the screen."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from console.theme import THEMES, shades
from engine.layout import LogFile
from screens.deck_screen import DeckScreen
from screens.log_file import GrowingFile
from screens.merged_log_file import MergedFile
from screens.widgets.log_page import LogPage
from screens.widgets.log_status import LogStatus
from screens.widgets.merged_log import MergedLogView
from tests.screens.test_log_view import settle

DECK = Path(__file__).parents[2] / "screens" / "deck.tcss"


def stamped(second: int | None, text: str) -> str:
    return text if second is None else f"2026-11-30T12:{second // 60:02}:{second % 60:02}Z {text}"


def naive(logs: list[list[tuple[int | None, str]]]) -> list[str]:
    lines: list[tuple[float, int, int, str]] = []
    for number, log in enumerate(logs):
        first = next((second for second, _ in log if second is not None), None)
        if first is None:
            continue
        at: float = first
        for place, (second, text) in enumerate(log):
            at = at if second is None else max(at, second)
            lines.append((at, number, place, stamped(second, text)))
    return [line for _, _, _, line in sorted(lines, key=lambda line: line[0])]


LOGS = st.lists(
    st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 500)), st.text("ab", max_size=6)), max_size=12),
    min_size=1,
    max_size=4,
)


@given(logs=LOGS, ended=st.booleans(), reads=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 100)), max_size=5))
@settings(deadline=None)
def test_lines_of_all_logs_stand_by_time_and_each_log_in_its_own_order(
    logs: list[list[tuple[int | None, str]]], ended: bool, reads: list[tuple[int, int]]
) -> None:
    logs = [[(second, text or "x") for second, text in log] for log in logs]
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.log" for number in range(len(logs))]
        for path, log in zip(paths, logs, strict=True):
            path.write_text("\n".join(stamped(*line) for line in log) + ("\n" if ended and log else ""))
        merged = MergedFile([GrowingFile(path) for path in paths])
        news = merged.gather()
        if news is not None:
            merged.take(news)
        expected = "".join(line + "\n" for line in naive(logs)).encode()
        assert merged.read(0, 1 << 20) == expected and merged.size == len(expected)
        for offset, length in reads:
            assert merged.read(offset, length) == expected[offset : offset + length]
        merged.close()


@given(
    first=st.lists(st.integers(0, 50), min_size=1, max_size=8),
    more=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 80)), max_size=8),
    open_end=st.booleans(),
)
@settings(deadline=None)
def test_what_comes_later_stands_where_a_merge_of_the_whole_would_put_it(
    first: list[int], more: list[tuple[int, int]], open_end: bool
) -> None:
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("a.log", "b.log")]
        for path in paths:
            path.write_text("".join(stamped(second, "x") + "\n" for second in sorted(first)))
        if open_end:
            with paths[0].open("a") as out:
                out.write(stamped(max(first), "half"))
        merged = MergedFile([GrowingFile(path) for path in paths])
        news = merged.gather()
        assert news is not None
        merged.take(news)
        for number, second in more:
            before = merged.read(0, 1 << 20)
            with paths[number].open("a") as out:
                out.write(stamped(second, "more") + "\n")
            news = merged.gather()
            assert news is not None
            merged.take(news)
            assert merged.read(0, news.changed_from) == before[: news.changed_from]
        whole = MergedFile([GrowingFile(path) for path in paths])
        at_once = whole.gather()
        assert at_once is not None
        whole.take(at_once)
        assert sorted(merged.read(0, 1 << 20).splitlines()) == sorted(whole.read(0, 1 << 20).splitlines())
        assert (merged._lines["at"] == whole._lines["at"]).all()
        merged.close()
        whole.close()


def test_of_logs_longer_than_the_cap_the_beginnings_are_left_out_and_said(tmp_path: Path) -> None:
    for name, lines in (("a", 100), ("b", 100), ("c", 10)):
        (tmp_path / name).write_text("".join(stamped(second, name) + "\n" for second in range(100 - lines, 100)))
    merged = MergedFile([GrowingFile(tmp_path / name) for name in "abc"], most_lines=110)
    news = merged.gather()
    assert news is not None
    merged.take(news)
    assert merged.lines == 110 and merged.skipped == {0: 50, 1: 50}
    assert merged.read(0, 22) == stamped(50, "a").encode()


class Several(App[None]):
    CSS_PATH = DECK

    def __init__(self, logs: list[LogFile]) -> None:
        super().__init__()
        self.register_theme(THEMES[0])
        self.theme = THEMES[0].name
        self.view = MergedLogView(logs)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return shades(self.current_theme)

    def get_default_screen(self) -> DeckScreen[None]:
        return DeckScreen()

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.query_one(LogPage).focus()


@pytest.mark.anyio
async def test_each_line_says_whose_it_is_and_keys_work_as_in_one_log(tmp_path: Path) -> None:
    texts = {
        "agent": stamped(1, "start\n") + "  more of it\n" + stamped(30, "end [/red]\n"),
        "db": stamped(2, "ERROR no table\n") + stamped(3, "ok\n"),
        "tests": "no time here\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.log").write_text(text)
    app = Several([LogFile("service", name, tmp_path / f"{name}.log") for name in texts])
    async with app.run_test(size=(120, 20)) as pilot:
        await settle(pilot)
        page = app.view.query_one(LogPage)
        rows = [page.render_line(y).text.rstrip() for y in range(5)]
        assert rows[0].split()[:3] == ["1", "●", "agent"] and rows[0].endswith("start")
        assert rows[1].split()[1:] == ["●", "agent", "more", "of", "it"]
        assert rows[2].split()[1:3] == ["◆", "db"] and rows[4].endswith("end [/red]")
        status = app.view.query_one(LogStatus)
        assert "2 logs by time" in status.render_line(0).text
        assert "without times: tests" in status.render_line(0).text
        app.view.filter_by("ERROR|start")
        await settle(pilot)
        assert [page.render_line(y).text.split()[-1] for y in range(2)] == ["start", "table"]
        assert app.view.stop_search()
        app.view.go_to_time(datetime(2026, 11, 30, 12, 0, 3, tzinfo=UTC))
        await settle(pilot)
        assert app.view.here_number == 4
        app.view.action_first_error()
        await settle(pilot)
        assert app.view.here_number == 3
        with (tmp_path / "db.log").open("a") as out:
            out.write(stamped(10, "late\n"))
        app.view.poll()
        await settle(pilot)
        assert "late" in page.render_line(4).text and "end" in page.render_line(5).text
        assert app.view.path == tmp_path


@pytest.mark.anyio
async def test_logs_of_which_none_tells_the_time_are_said_to_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x\n")
    app = Several([LogFile("agent", "a", tmp_path / "a.log")])
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "no log tells the time" in app.view.query_one(LogPage).render_line(0).text
        app.view.poll()
        assert "no log tells the time" in app.view.query_one(LogPage).empty_text, "also while it is looked at again"
        assert app.view.doing == ""


def test_what_is_left_out_of_a_log_is_said_before_the_logs_that_tell_no_times(tmp_path: Path) -> None:
    view = MergedLogView([LogFile("agent", name, tmp_path / name) for name in ("plain", "long")])
    view._merged.untimed.append(0)
    view._merged.skipped[1] = 1_200
    assert view.left_out == "long: the first 1,200 lines left out; without times: plain"
