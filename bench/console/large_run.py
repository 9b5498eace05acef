"""One list of 100,000 trials on a real pseudo-terminal: how long a key takes while some of them run, and what filter
and sort answer when nothing else happens."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from bench.console.measure import (
    Keys,
    milliseconds,
    p99,
    press_keys,
    settle,
    start_writer,
    stop,
    tell,
    text_of,
    wait_until,
)
from bench.console.terminal import SIZE, CursorRow, Terminal
from bench.figures import Check, Result, Say, Series, Unmeasurable

TRIALS = 100_000
FINISHED = 99_000
RATE = 1_000
LOAD_SEC, QUICK_LOAD_SEC = 40.0, 15.0
OPEN_SEC = 180.0
QUIET_SEC = 2.0
MOST_QUIET_SEC = 5.0
ROUNDS, QUICK_ROUNDS = 8, 3
ASKED = (b"S", b"r", b"!", b"!", b"s", b"/", b"0", b"7", b"\x15", b"a", b"\r", b"\x15", b"g", b"g", b"g", b"g")
"""Sorting, turning, problems only, a filter typed and changed, groups."""


def measure_large_run(*, quick: bool, say: Say) -> Result:
    load_sec, rounds = (QUICK_LOAD_SEC, QUICK_ROUNDS) if quick else (LOAD_SEC, ROUNDS)
    with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as place:
        run, notes = Path(place) / "large", Path(place) / "notes"
        writer = start_writer(run, load_sec, trials=TRIALS, rate=RATE, finished=FINISHED)
        began = time.perf_counter()
        terminal = Terminal(
            [sys.executable, "-m", "bench.console.measured_app", str(run), str(notes)], dict(os.environ)
        )
        try:
            cursor = CursorRow()
            wait_until(terminal, cursor, lambda: b"to go" in terminal.last, OPEN_SEC, "the console read no run")
            opened = time.perf_counter() - began
            say(f"large: {TRIALS} trials open after {opened:.1f} s")
            _quiet(terminal)
            tell(writer)
            until = time.perf_counter() + load_sec - 1
            moved = press_keys(terminal, cursor, lambda _: writer.poll() is None and time.perf_counter() < until)
            say(f"large: {len(moved.seconds)} keys while trials run")
            tell(writer)
            settle(terminal)
            _quiet(terminal)
            asked = Keys()
            arranged: list[float] = []
            for _ in range(rounds):
                for key in ASKED:
                    first, last = _ask(terminal, key)
                    if first is not None:
                        asked.seconds.append(first)
                        arranged.append(last)
                terminal.press(b"\x1b")
                _quiet(terminal)
        finally:
            terminal.close()
            stop(writer)
    if not moved.seconds or not asked.seconds:
        raise Unmeasurable(f"the console answered no key; the last it wrote:\n{text_of(terminal.last[-2000:])}")
    columns, rows = SIZE
    moves = Series(name="key to painted bytes, trials running", unit="ms", values=milliseconds(moved.seconds))
    asks = Series(name="sort, filter, group: key to its first bytes", unit="ms", values=milliseconds(asked.seconds))
    whole = Series(name="sort, filter, group: key to the new list", unit="ms", values=milliseconds(arranged))
    return Result(
        benchmark="large",
        title=f"one list of {TRIALS} trials in a console of {columns}×{rows}, {RATE} events a second; then none",
        checks=(
            p99("key to painted bytes", moves, 33),
            p99("sort, filter, group: key to its first bytes", asks, 33),
            Check(name="sort, filter, group: the new list, median", value=whole.median, unit="ms", aim=1000),
            Check(name="open to read whole", value=opened, unit="s", aim=30),
        ),
        series=(moves, asks, whole),
        notes=(f"{FINISHED} of the trials are over from the start",),
    )


def _ask(terminal: Terminal, key: bytes) -> tuple[float | None, float]:
    """Seconds to the first bytes that a key brings, and to the last ones before it is quiet."""
    began = time.perf_counter()
    terminal.press(key)
    first: float | None = None
    last = 0.0
    while time.perf_counter() - began < min(MOST_QUIET_SEC, QUIET_SEC if first is None else last + QUIET_SEC):
        if terminal.read(0.05):
            last = time.perf_counter() - began
            first = last if first is None else first
    return first, last


def _quiet(terminal: Terminal) -> None:
    """Until nothing has been written for a while; a run that lives writes its clock."""
    until = time.perf_counter() + QUIET_SEC
    limit = time.perf_counter() + MOST_QUIET_SEC
    while time.perf_counter() < min(until, limit):
        if terminal.read(0.1):
            until = time.perf_counter() + QUIET_SEC
