"""Commands for other programs, whatever the file is called; and the terminal that has none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from textual.app import App

from screens.outside import editor_command, pager_command, run_outside, shell_command

HOSTILE = Path("/run/-x\n$(touch y)'\"; +q.log")


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        ("nano", ["nano", "-v", "+7", str(HOSTILE)]),
        ("emacs -nw", ["emacs", "-nw", "+7", str(HOSTILE)]),
        ("hx", ["hx", f"{HOSTILE}:7"]),
        ("code -n", ["code", "-n", "--wait", "--goto", f"{HOSTILE}:7"]),
        ("ed", ["ed", str(HOSTILE)]),
    ],
)
def test_an_editor_opens_at_the_line(editor: str, expected: list[str]) -> None:
    assert editor_command(HOSTILE, 7, {"EDITOR": editor}) == expected


def test_vi_reads_only_and_leaves_no_swap_file_beside_the_log() -> None:
    command = editor_command(HOSTILE, 7, {"EDITOR": "emacs", "VISUAL": "vim"})
    assert command[:2] == ["vim", "-R"] and command[-3:] == ["+7", "--", str(HOSTILE)]
    assert editor_command(HOSTILE, 7, {})[0] == "vi"
    assert editor_command(HOSTILE, 7, {"EDITOR": "'unbalanced"})[0] == "vi"


def test_a_pager_opens_at_the_line() -> None:
    assert pager_command(HOSTILE, 7, {"PAGER": "less -S"}) == ["less", "-S", "+7g", "--", str(HOSTILE)]
    assert pager_command(HOSTILE, 7, {"PAGER": "cat"}) == ["cat", str(HOSTILE)]


def test_less_goes_to_a_byte_of_a_large_file_and_counts_no_lines() -> None:
    assert pager_command(HOSTILE, 7, {"PAGER": "less -S"}, byte=99) == ["less", "-S", "-n", "+99P", "--", str(HOSTILE)]
    assert pager_command(HOSTILE, 7, {"PAGER": "more"}, byte=99) == ["more", "+7", str(HOSTILE)]


def test_a_path_is_absolute_so_that_it_is_no_option() -> None:
    assert Path(pager_command(Path("-R"), 1, {"PAGER": "cat"})[-1]).is_absolute()


@pytest.mark.parametrize("name", ["", "-it", "a b", "a;b", "$(x)", "x" * 200, "a\nb"])
def test_no_shell_in_what_is_no_container(name: str) -> None:
    with pytest.raises(ValueError, match="no container"):
        shell_command(name)


def test_a_shell_in_a_container() -> None:
    assert shell_command("3f2a91c0b7aa")[:4] == ["docker", "exec", "-it", "3f2a91c0b7aa"]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_where_there_is_no_terminal_to_give_away_it_says_so(anyio_backend: str) -> None:
    app: App[object] = App()
    async with app.run_test():
        assert "does not run in a terminal of its own" in run_outside(app, [sys.executable, "-c", ""])
        assert "not installed" in run_outside(app, ["no-such-program-here"])
