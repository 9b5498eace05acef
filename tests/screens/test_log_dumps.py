"""A log as plain text at three sizes, against files that a person has looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.trial.log_file import LogFile
from tests.screens.looks import SIZES, looks_as_kept, size_name
from tests.screens.test_log_view import OneLog, settle

pytestmark = pytest.mark.anyio


def story() -> bytes:
    lines = [
        b"\x1b[2J\x1b[H$ make test",
        b"collected 7 items \x1b[32mok\x1b[0m",
        b" 10%\r 50%\r100% done",
        "wide 日本語, combining e\u0301, [/red] [bold]no markup[/bold]".encode(),
        b"\x1b]52;c;AAAA\x07nul \x00 and \xff\xfe that are no text",
        b"x" * 500,
    ]
    for number in range(1, 400):
        level = b"ERROR" if number % 50 == 0 else b"INFO"
        lines.append(b"2026-11-30T12:%02d:%02dZ %s step %d" % (number // 60, number % 60, level, number))
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("keys", ["top", "raw-wrap", "filter", "streams", "stderr"])
async def test_a_log_looks_as_it_was_looked_at(tmp_path: Path, size: tuple[int, int], keys: str) -> None:
    path = tmp_path / "agent.txt"
    with LogFile(path, tmp_path) as log:
        for line in story().splitlines(keepends=True):
            on_stderr = keys.startswith("st") and (b"ERROR" in line or b"step 39" in line)
            log.write("stderr" if on_stderr else "stdout", line)
    app = OneLog(path)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("g")
        if keys == "raw-wrap":
            await pilot.press("r", "r")
            app.view.action_wrap()
        elif keys == "streams":
            await pilot.press("G")
        elif keys == "stderr":
            await pilot.press("|")
        elif keys == "filter":
            app.view.filter_by("step .*0$")
            app.view.search_for("ERROR")
        await settle(pilot)
        await looks_as_kept(pilot, f"log-{keys}-{size_name(size)}")
