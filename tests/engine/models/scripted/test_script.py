"""Scripts as files."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession

from engine.models.scripted.script import Done, Fail, Run, Script, ScriptInvalid, Scripts, decode_script, read_script

TOML = """
[[turns]]
do = "fail"
status = 429
times = 2

[[turns]]
do = "run"
command = "ls"

[[turns]]
do = "done"
"""


def test_one_script_and_several_are_read_from_toml_and_json(tmp_path: Path) -> None:
    file = tmp_path / "script.toml"
    file.write_text(TOML)
    one = read_script(file)
    assert one == Scripts(
        scripts={"default": Script(turns=(Fail(status=429, times=2), Run(command="ls"), Done()))}, default="default"
    )
    several = {"scripts": {"a": {"marker": "x", "turns": [{"do": "done"}]}}, "default": "a"}
    assert decode_script(json.dumps(several).encode(), "b", toml=False).scripts["a"].turns == (Done(),)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{", "truncated"),
        (b'{"turns": [{"do": "sing"}]}', r"'sing'.*turns\[0\]"),
        (b'{"turns": [{"do": "run"}]}', r"command.*turns\[0\]"),
        (b'{"turns": [{"do": "run", "command": "ls", "cmd": "ls"}]}', "cmd"),
        (b'{"scripts": {}, "default": "a"}', 'default is "a"'),
        (b" " * 1_000_001, "more than 1000000 bytes"),
        (json.dumps({"turns": [{"do": "done"}] * 1001}).encode(), "1001 turns"),
    ],
)
def test_a_script_that_cannot_be_read_names_the_place(data: bytes, words: str) -> None:
    with pytest.raises(ScriptInvalid, match=f"(?s)^the script: .*{words}"):
        decode_script(data, "the script", toml=False)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptInvalid, match=r"none\.toml: No such file"):
        read_script(tmp_path / "none.toml")


@pytest.mark.anyio
async def test_the_program_says_where_it_serves_and_ends_when_told(tmp_path: Path) -> None:
    file = tmp_path / "script.toml"
    file.write_text(TOML)
    command = (sys.executable, "-m", "engine.models.scripted", "--script", str(file))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        told = json.loads(await process.stdout.readline())
        async with ClientSession() as client, client.get(told["openai-chat"] + "/models") as answer:
            assert answer.status == 200
    finally:
        process.send_signal(signal.SIGTERM)
        code = await process.wait()
    assert code == 0


@pytest.mark.anyio
async def test_the_program_says_why_it_cannot_start(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "engine.models.scripted", "--script", str(tmp_path / "none.json"))
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, told = await process.communicate()
    assert process.returncode == 1
    assert told.decode().startswith("the scripted model server can't start: ")
    assert "Traceback" not in told.decode()
