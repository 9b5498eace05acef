"""Which processes an agent started: the rules, on lists of processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from engine.environments.docker import exec as exec_module
from engine.environments.docker.engine_api import Engine, EngineCallFailed
from engine.environments.docker.exec import read_listing
from engine.environments.docker.processes import (
    NOTHING_KNOWN,
    Process,
    environ_of,
    has_mark,
    know,
    read_process,
    started_by_agent,
    tree_of,
)
from tests.engine.environments.test_readiness import container

INIT = 1


def process(
    pid: int, parent: int = INIT, session: int = 0, *, start: int = 100, stack: int = 0, state: str = "S"
) -> Process:
    return Process(pid=pid, parent=parent, session=session or pid, start=start, stack=stack or pid * 16, state=state)


def agents(before: list[Process], now: list[Process], marked: set[int] | None = None) -> set[int]:
    found = started_by_agent(now, know(before), INIT, (marked or set()).__contains__)
    return {one.pid for one in found}


BEFORE = [process(INIT, 0), process(10), process(11, 10, 10)]


def test_what_was_there_stays_and_what_is_new_is_the_agents() -> None:
    assert agents(BEFORE, [*BEFORE, process(50, 0), process(51, 50, 50)]) == {50, 51}


def test_descendants_of_what_was_there_stay_whatever_session_they_lead() -> None:
    assert agents(BEFORE, [*BEFORE, process(20, 10), process(21, 20)]) == set()


def test_orphans_are_the_agents_though_the_first_process_took_them() -> None:
    assert agents(BEFORE, [*BEFORE, process(60, INIT)]) == {60}


def test_the_session_shows_a_child_whose_parent_is_gone() -> None:
    """Nobody can join a session from outside."""
    assert agents(BEFORE, [*BEFORE, process(70, INIT, 10)]) == set()


def test_a_plain_fork_of_a_known_program_is_its_own() -> None:
    """A worker of PID 1 that leads a session: same image, same stack."""
    assert agents(BEFORE, [*BEFORE, process(80, INIT, 80, stack=INIT * 16)]) == set()


def test_the_mark_overrules_all() -> None:
    """A service that the agent started again from the shell of a known one."""
    assert agents(BEFORE, [*BEFORE, process(90, 10, 10), process(91, 90, 10)], {90, 91}) == {90, 91}


def test_children_of_the_agents_are_the_agents() -> None:
    assert agents(BEFORE, [*BEFORE, process(50, 0), process(51, 50, 51), process(52, 51, 52)]) == {50, 51, 52}


def test_a_number_taken_over_by_a_new_process_is_not_the_old_one() -> None:
    assert agents(BEFORE, [BEFORE[0], process(10, 0, 10, start=200, stack=7), process(12, 10, 12)]) == {10, 12}


def test_the_dead_count_for_nothing() -> None:
    assert agents(BEFORE, [*BEFORE, process(50, 0, state="Z")]) == set()


def test_the_first_process_is_never_the_agents() -> None:
    found = started_by_agent([process(INIT, 0), process(5)], NOTHING_KNOWN, INIT, lambda pid: True)
    assert [one.pid for one in found] == [5]


def test_a_tree_is_its_descendants_and_its_session() -> None:
    listed = [process(1, 0), process(5, 1), process(6, 5, 5), process(7, 1, 5), process(8, 6, 8), process(9, 1, 9)]
    assert {one.pid for one in tree_of(listed, 5)} == {5, 6, 7, 8}


def test_marks_are_whole() -> None:
    environ = b"A=1\0TRIALDECK_AGENT=ab\0B=2\0"
    assert has_mark(environ, "TRIALDECK_AGENT=ab")
    assert not has_mark(environ, "TRIALDECK_AGENT=a")
    assert not has_mark(b"", "TRIALDECK_AGENT=a")


def test_a_listing_from_inside_is_read_whatever_else_is_said() -> None:
    listed = read_listing(b"1 S 0 1 5 99 0\nsh: cat: broken\n42 R 1 42 77 12 1\n7 S x y z\n")
    assert [(one.pid, one.parent, one.session, one.start, one.stack, mark) for one, mark in listed] == [
        (1, 0, 1, 5, 99, False),
        (42, 1, 42, 77, 12, True),
    ]


def test_this_process_is_read_from_proc() -> None:
    import os

    me = read_process(os.getpid())
    assert me is not None
    assert me.parent == os.getppid()
    assert me.stack > 0
    assert environ_of(me.pid)
    assert read_process(2**22 + 1) is None


def test_a_chain_of_parents_longer_than_python_can_follow() -> None:
    chain = [process(100 + number, 99 + number) for number in range(1, 3000)]
    assert agents(BEFORE, [*BEFORE, *reversed(chain)]) == {one.pid for one in chain}
    of_before = [process(100 + number, 99 + number if number else 10) for number in range(3000)]
    assert agents(BEFORE, [*BEFORE, *reversed(of_before)]) == set()


@pytest.mark.anyio
async def test_a_list_without_an_end_is_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    async def endless(*_: Any, sink: Callable[[str, bytes], None], **__: Any) -> exec_module.ExecEnd:
        for _number in range(20):
            sink("stderr", b"12 1 S 1 1 1 0\n")
            sink("stdout", b"12 1 S 1 1 1 0\n" * 100_000)
        return exec_module.ExecEnd(exit_code=0, seconds=0.0)

    monkeypatch.setattr(exec_module, "run_exec", endless)
    with pytest.raises(EngineCallFailed, match="can't be listed"):
        await exec_module.list_inside(cast("Engine", None), container(), "MARK=x")
