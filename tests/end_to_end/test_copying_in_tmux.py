"""What is copied arrives in tmux as it comes, whose default is to take no clipboard sequence from a program."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.end_to_end.deck import until
from tests.end_to_end.terminal import terminal

RECORDED = Path(__file__).parents[2] / "sample_runs" / "recorded" / "demo"

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")


def test_what_is_copied_is_in_tmux_s_buffer(tmp_path: Path) -> None:
    shutil.copytree(RECORDED, tmp_path / "runs" / "demo")
    own = [f"XDG_CONFIG_HOME={tmp_path / 'config'}", f"XDG_STATE_HOME={tmp_path / 'state'}"]
    with terminal("watch", "demo", cwd=tmp_path, env=own) as seen:
        seen.tmux("set-option", "-s", "set-clipboard", "external")
        seen.sees("60 of 60   sort")
        seen.press("Enter")
        seen.sees("prepare", "facts", "reward")  # whichever trial stands first by now
        seen.press("Y")
        seen.was_shown("path copied")
        until(lambda: "runs/demo/" in seen.tmux("show-buffer"), "the path is in tmux's buffer")
