"""Processes of a container, and which of them an agent started.

The rules work on a list of processes, wherever it was read: from the host's /proc, or inside the container.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """One line of /proc/PID/stat. `start` (ticks since boot) tells a process from a later one with its number;
    `stack` is where its image's stack begins: equal in parent and child until one of them starts another program."""

    pid: int
    parent: int
    session: int
    start: int
    stack: int
    state: str

    @property
    def key(self) -> tuple[int, int]:
        return self.pid, self.start


def read_process(pid: int) -> Process | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return Process(
        pid=pid,
        state=fields[0].decode(),
        parent=int(fields[1]),
        session=int(fields[3]),
        start=int(fields[19]),
        stack=int(fields[25]),
    )


def environ_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


class KnownProcesses(msgspec.Struct, frozen=True):
    """What ran before the agent. `sessions` and `stacks` recognise what these fork later on."""

    keys: frozenset[tuple[int, int]]
    sessions: frozenset[int]
    stacks: frozenset[int]


NOTHING_KNOWN = KnownProcesses(frozenset(), frozenset(), frozenset())


def know(processes: Iterable[Process]) -> KnownProcesses:
    listed = [process for process in processes if process.state not in "ZX"]
    return KnownProcesses(
        keys=frozenset(process.key for process in listed),
        sessions=frozenset(process.session for process in listed if process.session > 0),
        stacks=frozenset(process.stack for process in listed if process.stack > 0),
    )


def started_by_agent(
    processes: Iterable[Process], known: KnownProcesses, init: int, marked: Callable[[int], bool]
) -> list[Process]:
    """Everything that neither was known nor descends from what was.

    A descendant shows itself by its parents, by its session (which nobody can join from outside), or by being a plain
    fork of a known program. Orphans end up at `init`, so having that one for a parent proves nothing. The mark
    overrules all: a service that the agent started again is the agent's.
    """
    alive = {process.pid: process for process in processes if process.state not in "ZX"}
    # A session's number stays taken while it has members; led by a newcomer, it is another session of that number.
    sessions = {one for one in known.sessions if one not in alive or alive[one].key in known.keys}
    verdicts: dict[int, bool] = {}

    def by_itself(process: Process) -> bool | None:
        if process.pid == init or process.key in known.keys:
            return False
        if marked(process.pid):
            return True
        return False if process.session in sessions or process.stack in known.stacks else None

    def is_agents(process: Process) -> bool:
        asked: dict[int, None] = {}  # up its parents, to the first that is decided
        while (verdict := verdicts.get(process.pid)) is None:
            asked[process.pid] = None
            if (verdict := by_itself(process)) is not None:
                break
            parent = alive.get(process.parent)
            if parent is None or parent.pid == init or parent.pid in asked:
                verdict = True
                break
            process = parent
        verdicts.update(dict.fromkeys(asked, verdict))
        return verdict

    return [process for process in alive.values() if is_agents(process)]


def tree_of(processes: Iterable[Process], root: int) -> list[Process]:
    """`root`, its descendants, and the members of the session that it leads."""
    alive = [process for process in processes if process.state not in "ZX"]
    members = {root}
    grew = True
    while grew:
        grew = False
        for process in alive:
            if process.pid not in members and (process.parent in members or process.session == root):
                members.add(process.pid)
                grew = True
    return [process for process in alive if process.pid in members]


def has_mark(environ: bytes, mark: str) -> bool:
    """`mark` is NAME=value, whole."""
    return mark.encode("utf-8", "surrogateescape") in environ.split(b"\0")
