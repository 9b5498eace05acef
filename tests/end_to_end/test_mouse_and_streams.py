"""The mouse as a terminal sends it, and a log's streams, in a real terminal on a recorded run: no Docker needed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.trial.log_file import LogFile
from tests.end_to_end.terminal import CTRL, DRAG, SHIFT, Terminal, terminal

RECORDED = Path(__file__).parents[2] / "sample_runs" / "recorded" / "demo"

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    shutil.copytree(RECORDED, tmp_path / "runs" / "demo")
    return tmp_path


def own(here: Path) -> list[str]:
    """What another run of the console remembers of this run is none of ours."""
    return [f"XDG_CONFIG_HOME={here / 'config'}", f"XDG_STATE_HOME={here / 'state'}"]


def first_row(seen: Terminal) -> int:
    """Counted from 1, as terminals do."""
    lines = seen.screen().splitlines()
    return next(number for number, line in enumerate(lines, 1) if "task  " in line and "arm" in line) + 1


def test_rows_are_marked_with_ctrl_with_shift_and_by_dragging_and_a_double_click_opens(here: Path) -> None:
    with terminal("watch", "demo", cwd=here, env=own(here)) as seen:
        # in their order, with all that is known
        seen.sees("60 of 60   sort", "✗ unscored   0:00:00", "grader?", "infra?")
        top = first_row(seen)
        seen.click(10, top + 1, CTRL)
        seen.sees("1 marked   60 of 60")
        seen.click(10, top + 3, SHIFT)
        seen.sees("3 marked   60 of 60")
        seen.mouse(10, top + 5)
        seen.mouse(12, top + 6, DRAG)
        seen.mouse(12, top + 7, DRAG)
        seen.mouse(12, top + 7, up=True)
        screen = seen.sees("6 marked   60 of 60")
        marked = [number for number, line in enumerate(screen.splitlines(), 1) if line[:2] in ("* ", "›*")]
        assert marked == [top + 1, top + 2, top + 3, top + 5, top + 6, top + 7]
        seen.click(10, top + 2, CTRL)
        seen.sees("5 marked   60 of 60")
        seen.back("60 of 60   sort: state ↑", gone="marked")
        seen.click(10, top, times=2)
        seen.sees("prepare", "verify", "facts")


def test_one_stream_of_a_log_is_shown_alone_and_its_lines_are_marked_by_mouse(here: Path) -> None:
    trial = here / "runs" / "demo" / "tight-memory__oracle__1"
    (trial / "agent" / "oracle.txt").unlink()
    with LogFile(trial / "agent" / "oracle.txt", trial) as log:
        for number in range(1, 41):
            log.write("stderr" if number % 4 == 0 else "stdout", b"line %d\n" % number)
    with terminal("watch", "demo", cwd=here, env=own(here)) as seen:
        seen.sees("60 of 60   sort")
        seen.type("/")
        seen.type("tight-memory arm:a attempt:1")
        seen.press("Enter")
        seen.sees("/ tight-memory arm:a attempt:1   ", "1 of 60   sort")
        seen.press("Enter")
        seen.sees("facts", "oracle")
        seen.press("1")
        seen.sees("40▎ line 40", "39  line 39", "▎stderr")
        seen.press("|")
        screen = seen.sees("stderr only", " 4▎ line 4")
        assert "line 39" not in screen
        rows = {line.strip(): number for number, line in enumerate(screen.splitlines(), 1)}
        seen.click(12, rows["8▎ line 8"])
        seen.click(12, rows["16▎ line 16"], CTRL)
        seen.press("y")
        seen.was_shown("3 lines from line")
        seen.press("|")
        seen.sees("stdout only", "39  line 39")
        seen.press("|")
        seen.sees("follow off · no wrap", "40▎ line 40")
