"""The console in a browser: what a tab runs, who may talk to it, and the first bytes of a page and of its console."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path

import psutil
import pytest
from anyio import to_thread

pytest.importorskip("textual_serve")
pytest.importorskip("aiohttp")

from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError
from aiohttp.test_utils import TestServer

from console.browser_server import BrowserServer, address, is_local
from console.commands.serve import console_command
from tests.screens import fake_run

pytestmark = pytest.mark.anyio
MOST_SEC = 60.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_a_tab_looks_only_unless_actions_are_allowed() -> None:
    words = shlex.split(console_command(["--odd", "a b"], Path("/runs"), False))
    assert words[1:] == ["-m", "console", "watch", "--runs-dir", "/runs", "--read-only", "--", "--odd", "a b"]
    assert words[0] == sys.executable
    assert "--read-only" not in console_command([], Path("/runs"), True)


@pytest.mark.parametrize(
    ("host", "local"),
    [("localhost", True), ("127.0.0.1", True), ("::1", True), ("127.8.8.8", True), ("0.0.0.0", False)],
)
def test_what_only_this_machine_reaches_is_known(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_an_address_is_one_that_a_browser_takes() -> None:
    assert address("::1", 80) == "http://[::1]:80" and address("localhost", 8000) == "http://localhost:8000"


async def test_the_page_comes_and_its_console_paints_the_run(tmp_path: Path) -> None:
    folder = fake_run.write(tmp_path / "run", fake_run.finish(fake_run.story()), alive=False)
    command = console_command([str(folder)], tmp_path, False)
    server = TestServer(await BrowserServer(command, "127.0.0.1", 0, "trialdeck", "http://127.0.0.1")._make_app())
    await server.start_server()
    seen = b""
    try:
        async with ClientSession() as client:
            async with client.get(server.make_url("/")) as page:
                assert page.status == 200 and "trialdeck" in await page.text()
            async with (
                client.ws_connect(server.make_url("/ws?width=120&height=40")) as socket,
                asyncio.timeout(MOST_SEC),
            ):
                await socket.send_str(json.dumps(["resize", {"width": 120, "height": 40}]))
                while b"read-only" not in seen or b"ctr-optimization" not in seen:
                    message = await socket.receive()
                    assert message.type in (WSMsgType.BINARY, WSMsgType.TEXT), seen[-2000:]
                    if message.type is WSMsgType.BINARY:
                        seen += message.data
            _, alive = await to_thread.run_sync(psutil.wait_procs, psutil.Process().children(), MOST_SEC)
            assert not alive, "a tab that is closed ends its console"
            await asyncio.sleep(0)
    finally:
        await server.close()


async def test_another_sites_page_and_another_name_are_refused(tmp_path: Path) -> None:
    server = TestServer(await BrowserServer("true", "127.0.0.1", 0, "trialdeck", "http://127.0.0.1")._make_app())
    await server.start_server()
    try:
        async with ClientSession() as client:
            with pytest.raises(WSServerHandshakeError) as refused:
                await client.ws_connect(server.make_url("/ws"), headers={"Origin": "https://evil.example"})
            assert refused.value.status == 403
            async with client.get(server.make_url("/"), headers={"Host": "evil.example"}) as page:
                assert page.status == 403
    finally:
        await server.close()
