"""What an agent started is dead when `kill_agent` returns, and what ran before it lives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import anyio
import pytest

from engine.environments.docker.environment import DockerEnvironment
from engine.environments.docker.host_view import HostView
from engine.issues import Code
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

MARK = {"TRIALDECK_AGENT": "4711"}
MARK_TEXT = "TRIALDECK_AGENT=4711"

ESCAPES = {
    "background": "{loop} &",
    "nohup": "nohup bash -c '{loop}' &",
    "session": "setsid bash -c '{loop}' &",
    "double fork": "( setsid bash -c '{loop} & ' & )",
    "scrubbed": "env -i setsid bash -c '{loop}' &",
    "scrubbed double fork": "( env -i setsid bash -c '{loop} &' & )",
}


@pytest.fixture(params=["from the host", "from inside"])
def seen_from(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The daemon is local and we're root; or neither, and everything is done by execs."""
    if request.param == "from inside":
        monkeypatch.setattr(HostView, "may_kill", False)
    return str(request.param)


async def alive(environment: DockerEnvironment) -> list[str]:
    """The command lines of all processes but the asking one."""
    script = 'for f in /proc/[0-9]*; do [ $f = /proc/$$ ] || tr "\\0" " " < $f/cmdline 2>/dev/null && echo; done'
    result = await environment.execute(["bash", "-c", script])
    return [line.strip() for line in result.tail.splitlines() if line.strip() and not line.startswith("tr ")]


async def until_alive(environment: DockerEnvironment, met: Callable[[Counter[str]], bool]) -> None:
    """Wait until something is true of the command lines."""
    with anyio.fail_after(60):
        while not met(Counter(await alive(environment))):
            pass


async def test_nothing_of_the_agent_survives(box: DockerEnvironment, seen_from: str) -> None:
    """Every way out that people have met, all at once; none writes another line."""
    await box.execute(["sh", "-c", "rm -rf /w; mkdir -m 777 /w"])
    await box.note_processes()
    before = await alive(box)
    for name, escape in ESCAPES.items():
        loop = f"while :; do echo x >> /w/{name.replace(' ', '-')}; sleep 0.05; done"
        script = f"exec >/dev/null 2>&1; {escape.format(loop=loop)}\nsleep 0.1"
        assert (await box.execute(["bash", "-c", script], env=MARK)).exit_code == 0
    user = await box.execute(
        ["bash", "-c", "(while :; do echo x >> /w/user; sleep 0.05; done) >/dev/null 2>&1 & sleep 0.1"],
        env=MARK,
        user="12345",
    )
    assert user.exit_code == 0
    all_write = f"until [ $(ls /w | wc -l) -gt {len(ESCAPES)} ]; do sleep 0.05; done"
    assert not (await box.execute(["sh", "-c", all_write], timeout_sec=60)).timed_out
    assert len(await alive(box)) >= len(before) + len(ESCAPES) + 1
    assert await box.kill_agent(MARK_TEXT) >= len(ESCAPES) + 1
    sizes = (await box.execute(["sh", "-c", "ls /w; wc -c /w/*"])).tail
    assert all(name.replace(" ", "-") in sizes for name in (*ESCAPES, "user"))
    await anyio.sleep(0.3)
    assert (await box.execute(["sh", "-c", "ls /w; wc -c /w/*"])).tail == sizes
    assert await alive(box) == before
    assert await box.kill_agent(MARK_TEXT) == 0


async def test_a_fork_loop_is_caught(box: DockerEnvironment, seen_from: str) -> None:
    """A process that is another one every few milliseconds, without its mark."""
    await box.note_processes()
    before = await alive(box)
    loop = "exec env -i setsid perl -e 'while (1) { if (fork) { exit } select(undef, undef, undef, 0.001) }'"
    await box.execute(["sh", "-c", f"({loop}) >/dev/null 2>&1 & {loop} >/dev/null 2>&1"], env=MARK)
    assert await box.kill_agent(MARK_TEXT) >= 1
    assert await alive(box) == before


async def test_services_of_the_task_live_on_with_what_they_start_later(rig: Rig, seen_from: str) -> None:
    """A daemon that was there first: its workers are its own, though they came after the agent."""
    compose = """
        services:
          main:
            image: debian:bookworm-slim
            command: [perl, -e, '
              use POSIX;
              if (!fork) { POSIX::setsid();
                while (1) { if (!fork) { POSIX::setsid(); sleep 3 if fork; exec "sleep", "77.7" } sleep 1 } }
              while (1) { sleep 1; if (!fork) { exec "sleep", "88.8" } }']
    """
    async with rig.up(compose=compose) as environment:
        await environment.note_processes()
        noted = Counter(await alive(environment))
        await environment.execute(["sh", "-c", "setsid sleep 99.9 >/dev/null 2>&1 &"], env=MARK)
        await until_alive(environment, lambda now: all(now[one] > noted[one] for one in ("sleep 77.7", "sleep 88.8")))
        assert await environment.kill_agent(MARK_TEXT) == 1
        lines = await alive(environment)
        assert "sleep 99.9" not in lines
        assert "sleep 77.7" in lines
        assert "sleep 88.8" in lines


@pytest.mark.parametrize("init", ["true", "false"])
async def test_a_service_as_first_process_keeps_workers_that_lead_sessions(rig: Rig, init: str) -> None:
    """As PostgreSQL does: each backend calls setsid, and its parent may be PID 1."""
    compose = f"""
        services:
          main:
            image: debian:bookworm-slim
            init: {init}
            command: [perl, -e, 'use POSIX; while (1) {{ if (!fork) {{ POSIX::setsid(); sleep 50; exit }} sleep 1 }}']
    """
    async with rig.up(compose=compose) as environment:
        await environment.note_processes()
        known = len(await alive(environment))
        await environment.execute(["sh", "-c", "(env -i setsid sleep 99.9 &) >/dev/null 2>&1"], env=MARK)
        await until_alive(environment, lambda now: now.total() - now["sleep 99.9"] > known)
        assert await environment.kill_agent(MARK_TEXT) == 1
        lines = await alive(environment)
        assert "sleep 99.9" not in lines
        assert len(lines) > known


async def test_what_died_at_the_timeout_is_counted(box: DockerEnvironment, seen_from: str) -> None:
    await box.note_processes()
    late = await box.execute(["sh", "-c", "setsid sleep 99.9 & sleep 99.9"], env=MARK, timeout_sec=3)
    assert late.timed_out
    assert await box.kill_agent(MARK_TEXT) >= 2
    await box.note_processes()
    assert await box.kill_agent(MARK_TEXT) == 0


async def test_an_agent_without_trace_needs_no_note(box: DockerEnvironment) -> None:
    await box.note_processes()
    assert await box.kill_agent(MARK_TEXT) == 0


async def test_what_cannot_be_ended_takes_main_with_it(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial learns of it as an issue, and nothing of the agent runs on."""
    monkeypatch.setattr("engine.environments.docker.agent_processes.STOP_SEC", 0.3)
    monkeypatch.setattr(HostView, "kill", lambda self, processes: 0)
    async with rig.up() as environment:
        await environment.note_processes()
        await environment.execute(["sh", "-c", "sleep 1000 >/dev/null 2>&1 &"], env=MARK)
        assert await environment.kill_agent(MARK_TEXT) == 0
        assert [issue.service for issue in rig.recorder.issues(Code.AGENT_NOT_STOPPED)] == ["main"]
        assert not (await environment.execute(["true"])).environment_alive
        assert rig.recorder.issues(Code.SERVICE_DIED) == []


async def test_a_dead_main_has_no_agent(rig: Rig) -> None:
    async with rig.up() as environment:
        await environment.note_processes()
        await environment.execute(["sh", "-c", "kill -TERM 1; sleep 5"], timeout_sec=5)
        assert await environment.kill_agent(MARK_TEXT) == 0
