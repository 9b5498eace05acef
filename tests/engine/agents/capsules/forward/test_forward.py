"""Both forwarders, run here as they run in `main`: bytes from a port of the loopback to a Unix socket and back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

import engine.agents.capsules

pytestmark = pytest.mark.anyio

SCRIPTS = Path(engine.agents.capsules.__file__).parent / "forward"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(params=["python", "node"])
def program(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "python":
        return [sys.executable, str(SCRIPTS / "forward.py")]
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine: forward.js is not run")
    return [node, str(SCRIPTS / "forward.js")]


@contextlib.asynccontextmanager
async def far_side(folder: Path, serve: Serve) -> AsyncIterator[Path]:
    path = folder / "socket"
    server = await asyncio.start_unix_server(serve, path)
    async with server:
        yield path


@contextlib.asynccontextmanager
async def forwarding(program: list[str], socket: Path) -> AsyncIterator[int]:
    process = await asyncio.create_subprocess_exec(*program, str(socket), stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        told = json.loads(await process.stdout.readline())
        assert told["pid"] == process.pid
        yield told["port"]
    finally:
        process.terminate()
        await process.wait()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.write(b"|end")
    writer.close()


async def test_bytes_pass_both_ways_and_the_end_of_one_side_leaves_the_other_open(
    program: list[str], tmp_path: Path
) -> None:
    sent = os.urandom(3_000_000)
    async with far_side(tmp_path, echo) as socket, forwarding(program, socket) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def send() -> None:
            writer.write(sent)
            await writer.drain()
            writer.write_eof()

        got, _ = await asyncio.gather(reader.read(-1), send())
        writer.close()
    assert got == sent + b"|end"


async def test_forty_connections_at_once_stay_apart(program: list[str], tmp_path: Path) -> None:
    async def one(port: int, number: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{number:05d}".encode())
        first = await reader.readexactly(5)
        gate.release()
        for _ in range(40):  # nobody goes on before everybody is there
            await all_there.wait()
        writer.write_eof()
        rest = await reader.read(-1)
        writer.close()
        return first + rest

    gate, all_there = asyncio.Semaphore(0), asyncio.Event()

    async def open_the_gate() -> None:
        for _ in range(40):
            await gate.acquire()
        all_there.set()

    async with far_side(tmp_path, echo) as socket, forwarding(program, socket) as port:
        *got, _ = await asyncio.gather(*(one(port, number) for number in range(40)), open_the_gate())
    assert got == [f"{number:05d}|end".encode() for number in range(40)]


async def test_small_pieces_pass_at_once(program: list[str], tmp_path: Path) -> None:
    """An event of a stream isn't kept back until more comes."""
    async with far_side(tmp_path, echo) as socket, forwarding(program, socket) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in range(20):
            writer.write(b"%d" % (number % 10))
            assert await reader.readexactly(1) == b"%d" % (number % 10)
        writer.close()


async def test_an_answer_that_breaks_off_breaks_off_for_the_program_too(program: list[str], tmp_path: Path) -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(3)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
        await writer.drain()
        writer.transport.abort()

    async with far_side(tmp_path, cut) as socket, forwarding(program, socket) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"ask")
        got = await reader.read(-1)
        writer.close()
    assert got.endswith(b"half")


async def test_without_a_gateway_the_connection_ends_and_the_next_one_works(program: list[str], tmp_path: Path) -> None:
    socket = tmp_path / "socket"
    async with forwarding(program, socket) as port:
        with contextlib.suppress(ConnectionError):  # it may end while it is being made
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await reader.read(-1) == b""
            writer.close()
        async with far_side(tmp_path, echo):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"here")
            writer.write_eof()
            assert await reader.read(-1) == b"here|end"
            writer.close()


async def test_a_program_that_hangs_up_is_hung_up_on_the_other_side_too(program: list[str], tmp_path: Path) -> None:
    gone = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(b"data: more\n\n" * 1000)
                await writer.drain()
        except ConnectionError:
            gone.set()

    async with far_side(tmp_path, talk) as socket, forwarding(program, socket) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await reader.readexactly(100)
        writer.transport.abort()
        await gone.wait()
    assert gone.is_set()


def test_it_goes_on_behind_and_is_stopped_by_its_number(program: list[str], tmp_path: Path) -> None:
    """The call that starts it ends, with nothing of it left at its pipes; stopping twice is no error."""
    started = subprocess.run([*program, "--detach", str(tmp_path / "socket")], capture_output=True, check=True)
    told = json.loads(started.stdout)
    alive = Path(f"/proc/{told['pid']}/environ")
    try:
        assert alive.exists()
        assert os.getsid(told["pid"]) != os.getsid(0)
    finally:
        for _ in range(2):
            subprocess.run([*program, "--stop", str(told["pid"])], capture_output=True, check=True)
    assert not alive.exists() or Path(f"/proc/{told['pid']}/cmdline").read_bytes() == b""


@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_it_tells_what_needs_no_proxy_where_it_runs(program: list[str], tmp_path: Path, name: str) -> None:
    env = {key: value for key, value in os.environ.items() if key.lower() != "no_proxy"} | {name: "a.example"}
    started = subprocess.run([*program, "--detach", str(tmp_path / "s")], capture_output=True, check=True, env=env)
    told = json.loads(started.stdout)
    subprocess.run([*program, "--stop", str(told["pid"])], check=True)
    assert told["no_proxy"] == "a.example"


def test_it_carries_the_mark_by_which_processes_of_an_agent_are_found(program: list[str], tmp_path: Path) -> None:
    env = {**os.environ, "TRIALDECK_AGENT": "mark-of-a-test"}
    started = subprocess.run([*program, "--detach", str(tmp_path / "s")], capture_output=True, check=True, env=env)
    pid = json.loads(started.stdout)["pid"]
    try:
        assert b"TRIALDECK_AGENT=mark-of-a-test" in Path(f"/proc/{pid}/environ").read_bytes()
    finally:
        subprocess.run([*program, "--stop", str(pid)], check=True)


def test_another_process_with_that_number_is_left_alone(program: list[str]) -> None:
    with subprocess.Popen(["sleep", "600"]) as other:
        try:
            subprocess.run([*program, "--stop", str(other.pid)], check=True)
            assert other.poll() is None
        finally:
            other.kill()


def test_a_port_that_is_taken_is_told_and_ends_it(program: list[str], tmp_path: Path) -> None:
    import socket as sockets

    with sockets.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for more in ([], ["--detach"]):
            ended = subprocess.run([*program, *more, str(tmp_path / "s"), port], capture_output=True, text=True)
            assert ended.returncode == 1
            assert "in use" in ended.stdout + ended.stderr or "EADDRINUSE" in ended.stdout + ended.stderr


@pytest.mark.parametrize("arguments", [[], ["--stop", "x"], ["socket", "x"], ["socket", "1", "2"], ["--what"]])
def test_wrong_arguments_are_answered_with_the_right_ones(program: list[str], arguments: list[str]) -> None:
    ended = subprocess.run([*program, *arguments], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr.startswith("usage: forward.")


def test_the_python_one_keeps_to_what_python_3_7_knows() -> None:
    import ast

    ast.parse((SCRIPTS / "forward.py").read_text(), feature_version=(3, 7))
    assert "import " in (SCRIPTS / "forward.py").read_text()
