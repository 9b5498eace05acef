"""The console in a real terminal, with real keys, on a recorded run: no Docker needed."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.terminal import Terminal, terminal

RECORDED = Path(__file__).parents[2] / "sample_runs" / "recorded" / "demo"

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with the recorded run in its `runs`."""
    shutil.copytree(RECORDED, tmp_path / "runs" / "demo")
    return tmp_path


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
def test_down_into_a_trial_and_back_at_every_size(here: Path, columns: int, rows: int) -> None:
    with terminal("watch", "demo", cwd=here, columns=columns, rows=rows) as seen:
        seen.sees("finished", "oracle", "replay", "60 of 60   sort")
        seen.type("/")
        seen.type("tight-memory arm:b")
        seen.press("Enter")
        seen.sees("2 of 60")
        seen.press("Enter")
        seen.sees("tight-memory B", "prepare", "verify")
        seen.back("2 of 60")
        seen.press("c")
        seen.sees("McNemar")
        seen.back("2 of 60")
        seen.press("q")
        seen.ends_with(0)


def test_the_list_of_runs_opens_a_run_and_escape_comes_back(here: Path) -> None:
    with terminal(cwd=here) as seen:
        seen.sees("1 run in runs", "60/60")
        seen.press("Enter")
        seen.sees("60 of 60   sort")
        seen.back("1 run in runs")
        seen.press("q")
        seen.ends_with(0)


def test_resizing_from_wide_to_narrow_and_back_loses_nothing(here: Path) -> None:
    with terminal("watch", "demo", cwd=here, columns=200, rows=60) as seen:
        seen.sees("finished")
        seen.resize(80, 24)
        seen.sees("finished", "60")
        seen.resize(200, 60)
        seen.sees("finished", "reward")
        seen.press("q")
        seen.ends_with(0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_gives_the_terminal_back(here: Path, number: signal.Signals) -> None:
    with terminal("watch", "demo", cwd=here) as seen:
        seen.sees("finished")
        assert seen.alternate()
        _kill_inside(seen, number)
        seen.ends_with(128 + number)


def test_stopped_from_outside_and_gone_on_each_key_arrives_and_leaving_leaves(here: Path) -> None:
    with terminal("watch", "demo", cwd=here) as seen:
        seen.sees("finished")
        for _ in range(4):
            _kill_inside(seen, signal.SIGSTOP)
            _kill_inside(seen, signal.SIGCONT)
            seen.type("?")
            seen.sees("Filter the trials")
            seen.back("finished", gone="Filter the trials")
        seen.press("q")
        seen.ends_with(0)


def test_without_colour_no_colour_is_written(here: Path) -> None:
    with terminal("watch", "demo", cwd=here, env=["NO_COLOR=1"]) as seen:
        seen.sees("finished")
        assert "\x1b[38;" not in seen.escapes() and "\x1b[48;" not in seen.escapes()
        seen.press("q")
        seen.ends_with(0)


def test_a_dumb_terminal_gets_plain_lines(here: Path) -> None:
    with terminal("watch", "demo", cwd=here, env=["TERM=dumb"], columns=120, rows=200) as seen:
        seen.ends_with(3)
        assert "McNemar" in seen.screen()


def test_help_lists_the_keys_of_where_one_is(here: Path) -> None:
    with terminal("watch", "demo", cwd=here) as seen:
        seen.sees("finished")
        seen.type("?")
        seen.sees("Filter the trials", "Sort by the next column")
        seen.back("finished", gone="esc closes")
        seen.press("q")
        seen.ends_with(0)


def _kill_inside(seen: Terminal, number: signal.Signals) -> None:
    """Send a signal to the program in the pane, not to the pane's shell."""
    shell = seen.tmux("display-message", "-p", "-t", "deck", "#{pane_pid}").strip()
    subprocess.run(["pkill", f"-{number.value}", "-P", shell], check=True)
