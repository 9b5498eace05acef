"""Recordings of terminals, small and made up, in each version of the format."""

from __future__ import annotations

import json
from pathlib import Path

EVENTS = [
    (0.5, "o", "$ make\r\n"),
    (1.0, "o", "\x1b[31mred\x1b[0m and plain\r\n"),
    (1.0, "m", "tests begin"),
    (20.0, "o", "\x1b[2J\x1b[Hcleared\r\n"),
    (21.0, "r", "40x10"),
    (22.0, "o", "small now"),
    (22.0, "m", "the end"),
    (23.0, "o", "\r\nbye"),
]


def version_1(path: Path) -> Path:
    last, frames = 0.0, []
    for at, kind, text in EVENTS:
        if kind == "o":
            frames.append([at - last, text])
            last = at
    header = {"version": 1, "width": 60, "height": 12, "duration": 23.0, "title": "one", "stdout": frames}
    path.write_text(json.dumps(header, indent=2))
    return path


def version_2(path: Path, events: list[tuple[float, str, str]] = EVENTS, columns: int = 60, rows: int = 12) -> Path:
    header = {"version": 2, "width": columns, "height": rows, "timestamp": 1_700_000_000, "title": "two"}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in [header, *map(list, events)]))
    return path


def version_3(path: Path) -> Path:
    header = {"version": 3, "term": {"cols": 60, "rows": 12}, "title": "three", "idle_time_limit": 1.5}
    last, lines = 0.0, [json.dumps(header), "# a comment"]
    for at, kind, text in EVENTS:
        lines.append(json.dumps([round(at - last, 6), kind, text]))
        last = at
    lines.append(json.dumps([0.0, "x", "0"]))
    path.write_text("\n".join(lines) + "\n")
    return path
