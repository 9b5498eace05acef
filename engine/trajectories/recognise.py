"""Which format a file is of, by its content: a name says nothing."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from engine.trajectories.claude_code import ClaudeCodeFold, is_claude_code
from engine.trajectories.codex_events import CodexEventsFold, is_codex_event
from engine.trajectories.codex_rollout import CodexRolloutFold, is_codex_rollout
from engine.trajectories.episodes import episode_folders
from engine.trajectories.line_fold import LineFold
from engine.trajectories.untyped import Record, decoded

HEAD = 256 << 10
"""Bytes at the beginning of a file that are looked at; as many at its end where the beginning says nothing."""
_ATIF = re.compile(rb'"schema_version"\s*:\s*"ATIF|"steps"\s*:\s*\[\s*\{\s*"step_id"')
_MINI = re.compile(rb'"trajectory_format"\s*:\s*"mini-swe-agent|"mini_version"|"exit_status"|"model_stats"')


class Kind(StrEnum):
    """In the order of how much they tell, the most first."""

    ATIF = "atif"
    MINI = "mini-swe-agent"
    CODEX_ROLLOUT = "codex session"
    CLAUDE = "claude-code"
    CODEX_EVENTS = "codex events"
    EPISODES = "terminus episodes"


WHOLE = frozenset({Kind.ATIF, Kind.MINI})
"""One JSON object a file; the others grow by lines or folders."""

_LINES: list[tuple[Kind, Callable[[Record], bool], Callable[[], LineFold]]] = [
    (Kind.CODEX_ROLLOUT, is_codex_rollout, CodexRolloutFold),
    (Kind.CODEX_EVENTS, is_codex_event, CodexEventsFold),
    (Kind.CLAUDE, is_claude_code, ClaudeCodeFold),
]


def kind_of_record(found: Record) -> Kind | None:
    return next((kind for kind, test, _ in _LINES if test(found)), None)


def fold_for(kind: Kind) -> LineFold:
    return next(fold for known, _, fold in _LINES if known is kind)()


def recognise(path: Path) -> Kind | None:
    """None: no trajectory, or none yet. Raises nothing; a link is looked at as what it points to."""
    try:
        if path.is_dir():
            return Kind.EPISODES if episode_folders(path) else None
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return None
        head = os.pread(descriptor, HEAD, 0)
        tail = os.pread(descriptor, HEAD, found.st_size - HEAD) if found.st_size > 2 * HEAD else b""
        if len(head) < found.st_size <= 2 * HEAD:
            tail = os.pread(descriptor, HEAD, len(head))
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return _kind(head, tail)


def _kind(head: bytes, tail: bytes) -> Kind | None:
    lines = head.split(b"\n")
    for line in lines[:200]:
        record = decoded(line)
        if record is not None and (kind := kind_of_record(record)) is not None:
            return kind
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return None
    if _ATIF.search(head):
        return Kind.ATIF
    if _MINI.search(head) or _MINI.search(tail):
        return Kind.MINI
    return Kind.ATIF if _ATIF.search(tail) else None
