"""Commands to a running engine, over a Unix socket that is named in the run folder.

One JSON object a line there, one back: `{"command": "cancel", "trial": "", "force": false}`, `pause`, `continue`,
`{"command": "concurrency", "value": 4}`, `{"command": "rerun", "trials": {"<trial>": "<cause>"}, "by": "<who>"}`,
`{"command": "gone", "trial": "", "container": "", "reason": ""}` (what was kept up of it went), `ping`. An answer has
`ok` and, where it is false, `error`.
"""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import SocketListener, SocketStream

from engine.owner import owner_alive, read_owner

MAX_LINE = 65536
ANSWER_SEC = 10.0
AGAIN_SEC = 1.0
LOOK_SEC = 5.0
_MAX_SOCKET_PATH = 107

Handle = Callable[[dict[str, Any]], dict[str, Any]]


class NotReachable(Exception):
    """No engine answers for this run; the message says why and what can be done."""


def socket_path(run_folder: Path) -> Path:
    """A short path of this run's own, in a folder that only this user can enter. Raises OSError."""
    name = hashlib.sha256(str(run_folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16] + ".sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    places = [Path(runtime) / "trialdeck"] if runtime and Path(runtime).is_dir() else []
    places.append(Path(tempfile.gettempdir()) / f"trialdeck-{os.getuid()}")
    places.append(Path("/tmp") / f"trialdeck-{os.getuid()}")
    for place in places:
        if len(os.fsencode(place / name)) > _MAX_SOCKET_PATH:
            continue
        try:
            place.mkdir(mode=0o700, exist_ok=True)
            if place.lstat().st_uid == os.getuid() and not place.is_symlink():
                place.chmod(0o700)
                return place / name
        except OSError:
            continue
    raise OSError(f"no folder for the control socket: {', '.join(map(str, places))} cannot be used")


async def serve(
    path: Path, handle: Handle, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Answer commands until cancelled; the socket is gone afterwards. Raises OSError where it can't be made at first.

    Nothing that a client does ends it, nor does a lack of descriptors: then nobody is answered for a while. A runtime
    folder goes with its user's last session: once it is there again, so is the socket.
    """
    listener = await _listen(path)
    task_status.started()
    try:
        while True:
            async with listener:
                await _answer_while_there(listener, path, handle)
            while True:
                try:
                    listener = await _listen(path)
                    break
                except OSError:
                    await anyio.sleep(LOOK_SEC)
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


async def _listen(path: Path) -> SocketListener:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.unlink(missing_ok=True)
    return await anyio.create_unix_listener(path, mode=0o600)


async def _answer_while_there(listener: SocketListener, path: Path, handle: Handle) -> None:
    """Returns when the socket is no longer at its place."""

    async def answer() -> None:
        while True:
            try:
                await listener.serve(lambda stream: _answer(stream, handle))
            except* OSError:
                await anyio.sleep(AGAIN_SEC)

    async with anyio.create_task_group() as group:
        group.start_soon(answer)
        while True:
            await anyio.sleep(LOOK_SEC)
            if not path.exists():
                group.cancel_scope.cancel()


async def _answer(stream: SocketStream, handle: Handle) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError), anyio.move_on_after(ANSWER_SEC):
        async with stream:
            data = b""
            while b"\n" not in data and len(data) < MAX_LINE:
                try:
                    data += await stream.receive()
                except anyio.EndOfStream:
                    break
            await stream.send(_answer_to(data.split(b"\n", 1)[0], handle) + b"\n")


def _answer_to(line: bytes, handle: Handle) -> bytes:
    try:
        return msgspec.json.encode(handle(msgspec.json.decode(line, type=dict[str, Any])))
    except (msgspec.DecodeError, TypeError, ValueError, KeyError) as error:
        return msgspec.json.encode({"ok": False, "error": f"not a command: {error}"})
    except Exception as error:  # a fault of ours in one command must not end the run
        return msgspec.json.encode({"ok": False, "error": f"{type(error).__name__}: {error}"})


def send_command(run_folder: Path, command: dict[str, Any]) -> dict[str, Any]:
    """Send one command and wait for its answer. Raises NotReachable."""
    owner = read_owner(run_folder)
    if owner is None or not owner.socket:
        raise NotReachable(f"{run_folder}: no engine has run here yet")
    alive = owner_alive(owner)
    if alive is False:
        raise NotReachable(
            f"{run_folder}: its engine (process {owner.pid}) is gone; `trialdeck resume` goes on with the run"
        )
    if alive is None:
        raise NotReachable(f"{run_folder}: its engine runs on host {owner.host}; give the command there")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(ANSWER_SEC)
        try:
            connection.connect(owner.socket)
            connection.sendall(msgspec.json.encode(command) + b"\n")
            data = b""
            while b"\n" not in data:
                received = connection.recv(MAX_LINE)
                if not received:
                    break
                data += received
            return msgspec.json.decode(data, type=dict[str, Any])
        except (OSError, msgspec.DecodeError) as error:
            raise NotReachable(f"{run_folder}: its engine (process {owner.pid}) does not answer: {error}") from None
