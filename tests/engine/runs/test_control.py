"""The control socket: commands, and what clients can't do to a run."""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
import pytest

from engine.layout import ENGINE
from engine.owner import this_process
from engine.runs import control
from engine.runs.control import NotReachable, send_command, serve, socket_path


def owned(folder: Path, **changes: object) -> None:
    owner = msgspec.structs.replace(this_process(), **changes)
    (folder / ENGINE).write_bytes(msgspec.json.encode(owner))


@asynccontextmanager
async def served(folder: Path, handle: Callable[[dict[str, Any]], dict[str, Any]]) -> AsyncIterator[Path]:
    path = socket_path(folder)
    owned(folder, socket=str(path))
    async with anyio.create_task_group() as group:
        await group.start(serve, path, handle)
        yield path
        group.cancel_scope.cancel()


async def send(folder: Path, command: dict[str, Any]) -> dict[str, Any]:
    return await anyio.to_thread.run_sync(send_command, folder, command)


async def say(path: Path, data: bytes) -> bytes:
    """What is answered to these bytes."""

    def talk() -> bytes:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect(str(path))
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: client.recv(1000), b""))

    return await anyio.to_thread.run_sync(talk)


@pytest.fixture(autouse=True)
def own_runtime_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("x")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def test_a_path_is_the_runs_own_and_the_same_again(tmp_path: Path, own_runtime_folder: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    assert socket_path(one) == socket_path(one) != socket_path(other)
    assert socket_path(one).parent == own_runtime_folder / "trialdeck"
    assert stat.S_IMODE(socket_path(one).parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("length", [1, 60, 80, 100, 200])
def test_a_path_is_never_longer_than_a_socket_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    import tempfile

    long = tmp_path / ("ü" * (length // 2) + "x")
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    monkeypatch.setenv("TMPDIR", str(long))
    monkeypatch.setattr(tempfile, "tempdir", None)
    path = socket_path(tmp_path / ("deep/" * 60) / "run")
    assert len(os.fsencode(path)) <= 107
    with socket.socket(socket.AF_UNIX) as taken:
        path.unlink(missing_ok=True)
        taken.bind(str(path))
    path.unlink()


def test_a_runtime_folder_that_is_somebody_elses_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_runtime_folder: Path
) -> None:
    (own_runtime_folder / "trialdeck").write_text("in the way")
    path = socket_path(tmp_path)
    assert own_runtime_folder not in path.parents
    (own_runtime_folder / "trialdeck").unlink()
    (own_runtime_folder / "trialdeck").symlink_to(tmp_path)
    assert own_runtime_folder not in socket_path(tmp_path).parents


@pytest.mark.anyio
async def test_a_command_is_answered(tmp_path: Path) -> None:
    got: list[dict[str, Any]] = []

    def handle(command: dict[str, Any]) -> dict[str, Any]:
        got.append(command)
        return {"ok": True, "running": 3}

    async with served(tmp_path, handle) as path:
        assert await send(tmp_path, {"command": "cancel", "trial": "t1"}) == {"ok": True, "running": 3}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert got == [{"command": "cancel", "trial": "t1"}]
    assert not path.exists()


@pytest.mark.anyio
@pytest.mark.parametrize("data", [b"", b"\n", b"{", b"[]\n", b'"x"\n', b"\xff\xfe\n", b"x" * 200_000, b'{"command": 1'])
async def test_what_is_no_command_gets_an_answer_and_nothing_else(tmp_path: Path, data: bytes) -> None:
    async with served(tmp_path, lambda command: {"ok": True}) as path:
        try:
            answer = await say(path, data)
        except (BrokenPipeError, ConnectionResetError):  # it had heard enough
            answer = b'{"ok": false, "error": "not a command"}'
        assert json.loads(answer)["ok"] is False
        assert (await send(tmp_path, {"command": "ping"}))["ok"]


@pytest.mark.anyio
@pytest.mark.parametrize("error", [KeyError("value"), ValueError("x"), RuntimeError("a bug of ours"), OSError("disk")])
async def test_a_command_that_fails_is_answered_and_the_next_is_heard(tmp_path: Path, error: Exception) -> None:
    def handle(command: dict[str, Any]) -> dict[str, Any]:
        if command["command"] == "bad":
            raise error
        return {"ok": True}

    async with served(tmp_path, handle):
        answer = await send(tmp_path, {"command": "bad"})
        assert answer["ok"] is False and answer["error"]
        assert (await send(tmp_path, {"command": "ping"}))["ok"]


@pytest.mark.anyio
async def test_a_client_that_hangs_up_hurts_nobody(tmp_path: Path) -> None:
    async with served(tmp_path, lambda command: {"ok": True, "long": "x" * 2_000_000}) as path:
        for data in (b"", b'{"command": "ping"}\n'):
            with socket.socket(socket.AF_UNIX) as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                client.connect(str(path))
                client.sendall(data)
            await anyio.sleep(0.02)
        assert (await send(tmp_path, {"command": "ping"}))["ok"]


@pytest.mark.anyio
async def test_a_client_that_says_nothing_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "ANSWER_SEC", 0.05)
    async with served(tmp_path, lambda command: {"ok": True}) as path:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(60)
            client.connect(str(path))
            assert await anyio.to_thread.run_sync(client.recv, 10) == b""


@pytest.mark.anyio
async def test_a_lack_of_descriptors_ends_no_run_case_73(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "AGAIN_SEC", 0.01)
    listener_type = type(await anyio.create_unix_listener(tmp_path / "probe"))
    real = listener_type.accept
    failures = [OSError(errno.EMFILE, "Too many open files")] * 2

    async def accept(self: Any) -> Any:
        if failures:
            raise failures.pop()
        return await real(self)

    monkeypatch.setattr(listener_type, "accept", accept)
    async with served(tmp_path, lambda command: {"ok": True}):
        assert (await send(tmp_path, {"command": "ping"}))["ok"]
    assert failures == []


@pytest.mark.anyio
async def test_a_runtime_folder_that_goes_with_the_last_session_comes_back_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_runtime_folder: Path
) -> None:
    monkeypatch.setattr(control, "LOOK_SEC", 0.01)
    async with served(tmp_path, lambda command: {"ok": True}) as path:
        path.unlink()
        path.parent.rmdir()
        own_runtime_folder.rmdir()
        await anyio.sleep(0.05)
        own_runtime_folder.mkdir(mode=0o700)
        with anyio.fail_after(30):
            while True:
                await anyio.sleep(0.01)
                if path.exists():
                    break
        assert (await send(tmp_path, {"command": "ping"}))["ok"]
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not path.exists()


def test_a_dead_engine_is_named_with_the_way_on_case_76(tmp_path: Path) -> None:
    owned(tmp_path, started=1.0, socket="/tmp/x.sock")
    with pytest.raises(NotReachable, match=r"is gone.*trialdeck resume"):
        send_command(tmp_path, {"command": "ping"})


def test_an_engine_elsewhere_or_that_never_was_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotReachable, match="no engine has run here yet"):
        send_command(tmp_path, {"command": "ping"})
    owned(tmp_path, host="elsewhere.invalid", socket="/tmp/x.sock")
    with pytest.raises(NotReachable, match=r"on host elsewhere\.invalid"):
        send_command(tmp_path, {"command": "ping"})


def test_an_engine_that_lives_and_does_not_answer_is_said(tmp_path: Path) -> None:
    owned(tmp_path, socket=str(tmp_path / "nobody.sock"))
    with pytest.raises(NotReachable, match="does not answer"):
        send_command(tmp_path, {"command": "ping"})
