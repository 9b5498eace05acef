"""A large log: how soon its first page and its end are there, and what searching and filtering it costs beside grep.

The file lies in the page cache for both, and they take turns; what is held against a target is the ratio of the two
in the same run. grep counts lines; a search keeps where they are too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.figures import Check, Result, Say, Series, Unmeasurable, ratio
from screens.log_file import GrowingFile
from screens.log_index import LineIndex
from screens.log_pattern import filter_pattern
from screens.log_search import Search
from screens.log_window import LogWindow

BYTES, QUICK_BYTES = 1 << 30, 1 << 28
TURNS = 3
PAGE_MS = 300.0
LITERAL_RATIO, EXPRESSION_RATIO = 6.0, 6.0
MEMORY_MB = 64.0
LITERAL, EXPRESSION = "zebra", "error|fatal|panic"
_LINES = 4_000
_MEMORY = "import sys; from bench.logs import memory; print(memory(sys.argv[1]))"


def measure_logs(*, quick: bool, say: Say) -> Result:
    if shutil.which("grep") is None:
        raise Unmeasurable("there is no grep to measure against")
    with tempfile.TemporaryDirectory(prefix="trialdeck-bench-") as place:
        log = Path(place) / "agent.log"
        size = write_log(log, QUICK_BYTES if quick else BYTES)
        say(f"logs: {size / 1e6:.0f} MB written")
        first, end = _pages(log)
        pairs: list[tuple[Series, Series]] = []
        for pattern in (LITERAL, EXPRESSION):
            ours, theirs = [], []
            for _ in range(TURNS):
                ours.append(_timed(partial(search, log, pattern)))
                theirs.append(_timed(partial(grep, log, pattern)))
            if search(log, pattern) != grep(log, pattern):
                raise Unmeasurable(f"grep finds another number of lines with {pattern}")
            pairs.append(
                (
                    Series(name=f"search for {pattern}", unit="s", values=tuple(ours)),
                    Series(name=f"grep -ciE {pattern}", unit="s", values=tuple(theirs)),
                )
            )
            say(f"logs: {pattern}: {min(ours):.2f} s, grep {min(theirs):.2f} s")
        grown = float(subprocess.check_output([sys.executable, "-c", _MEMORY, str(log)], text=True))
    ratios = (LITERAL_RATIO, EXPRESSION_RATIO)
    return Result(
        benchmark="logs",
        title=f"a log of {size / 1e6:.0f} MB: opened, its end shown, searched and filtered without minding case",
        checks=(
            Check(name="first page", value=1000 * first, unit="ms", target=PAGE_MS, below=True),
            Check(name="end", value=1000 * end, unit="ms", target=PAGE_MS, below=True),
            *(
                Check(name=f"{ours.name}, of grep's time", value=ratio(ours, theirs), target=target)
                for (ours, theirs), target in zip(pairs, ratios, strict=True)
            ),
            Check(name="memory that index, search and filter add", value=grown, unit="MB", target=MEMORY_MB),
        ),
        series=tuple(series for pair in pairs for series in pair),
        notes=("a filter is a search whose lines are shown: it costs the same",),
    )


def write_log(path: Path, size: int) -> int:
    """Lines of a log of about 90 bytes, with an error in one of four thousand; returns the bytes written."""
    words = ["agent", "wrote", "result", "task", "waited", "for", "another", "step", "handler", "info"]
    lines = []
    for number in range(_LINES):
        level = "ERROR" if number == _LINES // 2 else "INFO"
        text = " ".join(words[(number * 7 + place * 3) % len(words)] for place in range(9))
        lines.append(f"2026-11-30T12:{number // 60 % 60:02}:{number % 60:02}.000Z {level} {text} #{number}\n")
    piece = "".join(lines).encode()
    with path.open("wb") as out:
        for _ in range(max(1, size // len(piece))):
            out.write(piece)
    return path.stat().st_size


def search(log: Path, pattern: str) -> int:
    file = GrowingFile(log)
    file.look()
    found = Search(file, filter_pattern(pattern))
    found.extend()
    file.close()
    return found.count


def grep(log: Path, pattern: str) -> int:
    done = subprocess.run(
        ["grep", "-ciE", "-e", pattern, "--", str(log)],
        capture_output=True,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    return int(done.stdout)


def memory(log: str) -> float:
    """MB by which this process grows, for good, while it counts, searches and filters a log."""
    import psutil

    process = psutil.Process()
    file = GrowingFile(Path(log))
    file.look()
    before = process.memory_info().rss
    index = LineIndex(file)
    kept = [Search(file, filter_pattern(pattern)) for pattern in (EXPRESSION, "!" + EXPRESSION)]
    index.extend()
    for each in kept:
        each.extend()
        each.before(file.size)
    return (process.memory_info().rss - before) / 1e6


def _pages(log: Path) -> tuple[float, float]:
    """Seconds until the first page, and then the end, of a file nobody has looked at are laid out."""
    began = time.perf_counter()
    file = GrowingFile(log)
    file.look()
    window = LogWindow(file, LineIndex(file))
    window.resize(200, 60)
    window.home()
    window.rows()
    first = time.perf_counter()
    window.end()
    window.rows()
    end = time.perf_counter()
    file.close()
    return first - began, end - first


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
