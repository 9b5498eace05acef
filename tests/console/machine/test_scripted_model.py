"""The model server of the demo's third arm."""

from __future__ import annotations

import json
import shutil
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest

from console.machine.scripted_model import SCRIPT, start_scripted_model
from console.machine.trouble import Trouble
from engine.models.scripted.script import Done, Run, read_script

ROOT = Path(__file__).parents[3]


def stop_server_at(address: str) -> None:
    port = int(address.rsplit(":", 1)[1].split("/")[0])
    for process in psutil.Process().children():
        if any(found.laddr.port == port for found in process.net_connections() if found.laddr):
            process.kill()
            process.wait()


def test_the_server_answers_at_the_address_it_gives() -> None:
    address = start_scripted_model(ROOT, Path(sys.executable))
    try:
        asked = {"model": "scripted", "messages": [{"role": "user", "content": "one line, which reads\n\n    Hello"}]}
        request = urllib.request.Request(
            f"{address}/chat/completions", json.dumps(asked).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert json.load(answer)["choices"][0]["message"]["content"]
    finally:
        stop_server_at(address)


def test_a_server_that_cant_start_is_said_with_the_command_that_shows_why(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "engine", tmp_path / "engine")
    with pytest.raises(Trouble, match="did not start"):
        start_scripted_model(tmp_path, Path(sys.executable))


def test_every_task_of_the_demo_has_a_script_of_its_own() -> None:
    scripts = read_script(ROOT / SCRIPT).scripts
    instructions = {path: path.read_text() for path in (ROOT / "sample_runs/tasks").rglob("instruction.md")}
    served = {
        name: [path for path, text in instructions.items() if script.marker in text] for name, script in scripts.items()
    }
    assert all(len(paths) == 1 for paths in served.values())
    without = set(instructions) - {path for paths in served.values() for path in paths}
    in_steps = {path for path in without if (path.parent / "steps").is_dir()}
    assert {path.parent.name for path in without - in_steps} == {"config-repair"}, "refused for its MCP server"
    for script in scripts.values():
        assert isinstance(script.turns[-1], Done) and any(isinstance(turn, Run) for turn in script.turns)
