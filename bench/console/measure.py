"""The console under load, on a real pseudo-terminal: 20,000 events a second into a run of 1,000 trials.

Three processes, as in life: one writes events, the console follows them, and this one is the terminal and the
person: it presses keys and reads what is painted.
"""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil

from bench.console.terminal import SIZE, CursorRow, Terminal
from bench.console.writer import Written
from bench.figures import Check, Result, Say, Series, Unmeasurable, percentile
from bench.with_parent import end_with_parent

TRIALS = 1000
RATE = 20_000
LOAD_SEC, QUICK_LOAD_SEC = 40.0, 20.0
IDLE_SEC, QUICK_IDLE_SEC = 20.0, 20.0
START_SEC = 30.0
SETTLE_SEC = 12.0
"""The notice that a run has ended stays for ten seconds, and goes by itself."""
KEYS = (b"j", b"k", b"\x1b[B", b"\x1b[A")
KEY_PAUSE_SEC = (0.05, 0.15)
EDGE_SEC = 2.0
"""A key that moved nothing within this was pressed at an end of the table."""
IDLE_KEYS = 40
LEAST_RATE = 0.97
"""Of the wanted rate, below which the writer itself was held up and the figures mean nothing."""


class Keys(msgspec.Struct):
    """Seconds from a key to the bytes that show the cursor on another trial."""

    seconds: list[float] = []
    at_an_end: int = 0


def measure_console(*, quick: bool, say: Say) -> Result:
    load_sec, idle_sec = (QUICK_LOAD_SEC, QUICK_IDLE_SEC) if quick else (LOAD_SEC, IDLE_SEC)
    with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as place:
        run, notes = Path(place) / "busy", Path(place) / "notes"
        writer = start_writer(run, load_sec)
        terminal = Terminal(
            [sys.executable, "-m", "bench.console.measured_app", str(run), str(notes)], dict(os.environ)
        )
        try:
            console = psutil.Process(terminal.process.pid)
            cursor = CursorRow()
            wait_until(terminal, cursor, lambda: bool(cursor.row), START_SEC, "the console painted no trial")
            before = _cpu(console)
            tell(writer)
            loaded = press_keys(terminal, cursor, lambda _: writer.poll() is None and not _said(writer))
            busy_cpu = _cpu(console) - before
            written = msgspec.json.decode(line_of(writer), type=Written)
            say(f"events: {written.events / written.seconds:.0f} a second, {len(loaded.seconds)} keys")
            tell(writer)
            writer.wait(START_SEC)
            settle(terminal)
            idle_bytes, idle_cpu = _idle(terminal, console, idle_sec)
            say(f"events: idle for {idle_sec:.0f} s: {idle_bytes} bytes, {100 * idle_cpu:.2f} % of a core")
            calm = press_keys(terminal, cursor, lambda pressed: pressed < IDLE_KEYS)
        finally:
            terminal.close()
            stop(writer)
        lags = _lags(notes, written, terminal)
    return _result(written, lags, loaded, calm, busy_cpu / written.seconds, idle_bytes, idle_cpu)


def _result(
    written: Written, lags: list[float], loaded: Keys, calm: Keys, busy_cpu: float, idle_bytes: int, idle_cpu: float
) -> Result:
    if written.events < LEAST_RATE * RATE * written.seconds:
        raise Unmeasurable(f"only {written.events / written.seconds:.0f} events a second could be written")
    if not lags or not loaded.seconds:
        raise Unmeasurable("the console folded no event or answered no key")
    fold = Series(name="append to RunState", unit="ms", values=tuple(1000 * lag for lag in lags))
    keys = Series(name="key to painted bytes, under load", unit="ms", values=milliseconds(loaded.seconds))
    columns, rows = SIZE
    return Result(
        benchmark="events",
        title=f"{RATE} events a second into a console of {columns}×{rows} with {TRIALS} trials; then nothing at all",
        checks=(
            p99("append to RunState", fold, 80),
            p99("key to painted bytes", keys, 33),
            Check(name="written to the terminal, idle", value=idle_bytes, unit="B", target=0),
            Check(name="CPU of a core, idle", value=100 * idle_cpu, unit="%", target=1, below=True),
        ),
        # Tens of thousands of lags would drown the file: every percentile says as much.
        series=(
            msgspec.structs.replace(fold, values=tuple(percentile(fold.values, p) for p in range(1, 101))),
            keys,
            Series(name="key to painted bytes, idle", unit="ms", values=milliseconds(calm.seconds)),
        ),
        notes=(
            f"{written.events / written.seconds:.0f} events a second for {written.seconds:.0f} s and "
            f"{written.samples} resource samples; {len(lags)} lags, given as percentiles 1 to 100",
            f"the console used {100 * busy_cpu:.0f} % of a core meanwhile",
            f"{loaded.at_an_end} of {len(loaded.seconds) + loaded.at_an_end} keys moved nothing and are left out: "
            "the cursor was at an end of the table",
        ),
    )


def p99(name: str, series: Series, target_ms: float) -> Check:
    return Check(name=f"{name}, p99", value=percentile(series.values, 99), unit="ms", target=target_ms, below=True)


def milliseconds(seconds: list[float]) -> tuple[float, ...]:
    return tuple(1000 * value for value in seconds)


# --- the writer's process ---


def start_writer(
    run: Path, seconds: float, *, trials: int = TRIALS, rate: int = RATE, finished: int = 0
) -> subprocess.Popen[bytes]:
    """`finished` of the trials are over before it is ready."""
    options = ["--trials", str(trials), "--rate", str(rate), "--seconds", str(seconds), "--finished", str(finished)]
    argv = [sys.executable, "-m", "bench.console.writer", str(run), *options]
    writer = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=end_with_parent)
    if line_of(writer).strip() != b"ready":
        stop(writer)
        raise Unmeasurable("the process that writes the events did not start")
    return writer


def line_of(writer: subprocess.Popen[bytes]) -> bytes:
    assert writer.stdout is not None
    return writer.stdout.readline()


def tell(writer: subprocess.Popen[bytes]) -> None:
    assert writer.stdin is not None
    writer.stdin.write(b"\n")
    writer.stdin.flush()


def _said(writer: subprocess.Popen[bytes]) -> bool:
    assert writer.stdout is not None
    return bool(select.select([writer.stdout], [], [], 0)[0])


def stop(writer: subprocess.Popen[bytes]) -> None:
    writer.kill()
    writer.wait()
    for pipe in (writer.stdin, writer.stdout):
        if pipe is not None:
            pipe.close()


# --- the person at the terminal ---


def wait_until(
    terminal: Terminal, cursor: CursorRow, reached: Callable[[], bool], limit_sec: float, failure: str
) -> None:
    until = time.perf_counter() + limit_sec
    while not reached():
        cursor.feed(terminal.read(0.1).decode(errors="replace"))
        if time.perf_counter() > until or terminal.process.poll() is not None:
            raise Unmeasurable(f"{failure}; the last it wrote:\n{terminal.last[-2000:].decode(errors='replace')}")


def press_keys(terminal: Terminal, cursor: CursorRow, more: Callable[[int], bool]) -> Keys:
    """At irregular times, so that no timer of the console is always hit at the same moment of its period."""
    chance = random.Random(11)
    found = Keys()
    pressed = 0
    while more(pressed):
        pause = time.perf_counter() + chance.uniform(*KEY_PAUSE_SEC)
        while (left := pause - time.perf_counter()) > 0:
            cursor.feed(text_of(terminal.read(left)))
        began = time.perf_counter()
        terminal.press(chance.choice(KEYS))
        pressed += 1
        while (left := began + EDGE_SEC - time.perf_counter()) > 0:
            if cursor.feed(text_of(terminal.read(left))):
                found.seconds.append(time.perf_counter() - began)
                break
        else:
            found.at_an_end += 1
    return found


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def settle(terminal: Terminal) -> None:
    until = time.perf_counter() + SETTLE_SEC
    while (left := until - time.perf_counter()) > 0:
        terminal.read(left)


def _idle(terminal: Terminal, console: psutil.Process, seconds: float) -> tuple[int, float]:
    """Bytes written and the share of a core used, in a time in which nothing happens."""
    bytes_before, cpu_before, began = terminal.bytes_read, _cpu(console), time.perf_counter()
    while (left := began + seconds - time.perf_counter()) > 0:
        terminal.read(left)
    return terminal.bytes_read - bytes_before, (_cpu(console) - cpu_before) / (time.perf_counter() - began)


def _cpu(console: psutil.Process) -> float:
    times = console.cpu_times()
    return float(times.user + times.system)


def _lags(notes: Path, written: Written, terminal: Terminal) -> list[float]:
    """Of the events written under load; those of the plan were there before the console."""
    if not notes.is_file():
        raise Unmeasurable(f"the console left no figures; the last it wrote:\n{text_of(terminal.last[-2000:])}")
    pairs = array("d", notes.read_bytes())
    until = written.began + written.seconds
    return [lag for at, lag in zip(pairs[::2], pairs[1::2], strict=True) if written.began <= at <= until]
