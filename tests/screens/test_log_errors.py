"""What `e` stops at, and what it does not; found by reading only as far as it lies."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screens import log_scan
from screens.log_errors import ERRORS
from screens.log_pattern import Pattern
from screens.log_scan import first_from, last_before
from tests.screens.test_log_lines import InMemory


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-30T12:00:00Z ERROR x",
        "[ERROR] x",
        "Traceback (most recent call last):",
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
        "fatal: not a git repository",
        "panic: runtime error: index out of range",
        "main.c:3:5: error: expected ';'",
        "error: could not compile",
        "error[E0308]: mismatched types",
        "ValueError: no such thing",
        'level=error msg="x"',
        '{"level":"error","msg":"x"}',
        '{"severity": "CRITICAL"}',
        "Segmentation fault (core dumped)",
        "Killed",
        "npm ERR! code 1",
        "bash: foo: command not found",
        "sh: 1: foo: not found",
        "\x1b[31mERROR\x1b[0m coloured",
        "OSError: [Errno 28] No space left on device",
    ],
)
def test_these_lines_are_errors(line: str) -> None:
    assert ERRORS.find_all(line.encode() + b"\n") == [0]


@pytest.mark.parametrize(
    "line",
    [
        "0 errors, 0 warnings",
        "no error",
        "error_count=0",
        "terror",
        "exit status 137",
        "12 passed, 0 failed",
        "",
        "level=info msg=ok",
        "handling ErrorBoundary",
        "killed time",
    ],
)
def test_these_are_none(line: str) -> None:
    assert ERRORS.find_all(line.encode() + b"\n") == []


@given(lines=st.lists(st.text("xy", max_size=12), min_size=1, max_size=40), at=st.integers(0, 39))
@settings(deadline=None)
def test_the_nearest_match_forwards_and_backwards_is_that_of_all(lines: list[str], at: int) -> None:
    data = "\n".join(lines).encode()
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    here = starts[min(at, len(starts) - 1)]
    hits = [start for start, line in zip(starts, lines, strict=True) if "xy" in line]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(log_scan, "_CHUNK", 16)
        file = InMemory(data)
        assert first_from(file, Pattern("xy"), here) == next((hit for hit in hits if hit >= here), None)
        assert last_before(file, Pattern("xy"), here) == next((hit for hit in reversed(hits) if hit < here), None)


def test_a_look_that_is_stopped_ends() -> None:
    file = InMemory(b"x\n" * 1_000_000)
    assert first_from(file, Pattern("y"), 0, lambda: True) is None
    assert last_before(file, Pattern("y"), file.size, lambda: True) is None
