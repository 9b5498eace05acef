"""SDKs are loaded only where a model is called, say nothing of what they send, and trust no one without a reason."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web

from engine.issues import Code
from engine.models.connect import connect
from engine.models.model_call import ModelCallFailed
from engine.models.retries import Pacing
from engine.models.settings import ModelInvalid, ModelSettings, Secret, Wire
from tests.engine.models.asked import HELLO, KEY

ROOT = Path(__file__).parents[3]
KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")

SAYS = """
import asyncio, logging
from engine.models.connect import connect
from engine.models.conversation import Turn
from engine.models.scripted.script import Fail, Say, Script
from engine.models.scripted.server import ScriptedServer
from engine.models.settings import ModelSettings, Secret, Wire
logging.basicConfig(level=logging.DEBUG)
async def main():
    for wire in Wire:
        async with ScriptedServer(Script(turns=(Fail(status=401, times=1), Say(text="ok")))) as server:
            settings = ModelSettings(name="m", wire=wire, base_url=server.base_url(wire), key=Secret("{key}"),
                                     headers={{"X-Other": Secret("{key}-too")}})
            client = connect(settings, on_call=print, activity=print)
            for _ in range(2):
                try:
                    print(await client.ask([Turn(role="user", text="the task itself")]))
                except Exception as error:
                    print(repr(error))
            print(vars(client))
            await client.close()
asyncio.run(main())
"""


def python(code: str, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT)} | {name: os.environ[name] for name in KEPT if name in os.environ} | environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_nothing_that_an_sdk_logs_or_prints_holds_a_key_or_the_task() -> None:
    told = python(SAYS.format(key=KEY), OPENAI_LOG="debug", ANTHROPIC_LOG="debug")
    assert told.count("Reply(") == 3 and told.count("ModelCallFailed(") == 3
    assert KEY not in told and "the task itself" not in told


def test_the_command_line_loads_no_providers_sdk() -> None:
    code = (
        "import sys, console.main, engine.models.connect, engine.models.resolve\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('openai', 'anthropic')])"
    )
    assert python(code).strip() == "[]"


@pytest.mark.parametrize(
    ("wire", "package"),
    [(Wire.OPENAI_CHAT, "openai"), (Wire.OPENAI_RESPONSES, "openai"), (Wire.ANTHROPIC, "anthropic")],
)
def test_an_sdk_that_is_missing_is_said_with_the_way_out(
    wire: Wire, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for module in ("openai_speaking", "anthropic_speaking"):
        monkeypatch.delitem(sys.modules, f"engine.models.{module}", raising=False)
    settings = ModelSettings(name="m", wire=wire, base_url="http://h", key=Secret(KEY))
    with pytest.raises(ModelInvalid) as raised:
        connect(settings, on_call=lambda _: None, activity=lambda _: None)
    assert f"needs the package {package}" in str(raised.value)
    assert "pip install 'trialdeck[models]'" in str(raised.value)


@pytest.fixture(scope="module")
def own_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate for localhost that nobody signed but itself, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl, to make a certificate")
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.mark.anyio
@pytest.mark.parametrize("wire", Wire)
async def test_a_server_whose_certificate_nobody_vouches_for_is_not_told_the_key(
    wire: Wire, own_certificate: Path
) -> None:
    """Case 65."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own_certificate / "cert.pem", own_certificate / "key.pem")
    heard: list[str] = []

    async def hear(request: web.Request) -> web.Response:
        heard.append(request.path)
        return web.json_response({})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", hear)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    settings = ModelSettings(
        name="m", wire=wire, base_url=f"https://localhost:{runner.addresses[0][1]}", key=Secret(KEY)
    )
    client = connect(
        settings,
        on_call=lambda _: None,
        activity=lambda _: None,
        pacing=Pacing(clock=lambda: 0.0, chance=lambda: 0.0),
    )
    try:
        with pytest.raises(ModelCallFailed) as raised:
            await client.ask(HELLO)
    finally:
        await client.close()
        await runner.cleanup()
    assert raised.value.failure.code == Code.MODEL_UNTRUSTED
    assert raised.value.tries == 1 and heard == []
