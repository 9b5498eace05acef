"""Environments that were left up, asked for where they are listed: somebody may have removed them by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from console.commands.show import show
from engine import events as ev
from engine.layout import EVENTS
from tests.console.run_folders import begun, planned, write
from tests.screens.fake_run import at

RUN, HOST = "2025-11-30__12-00-00__small", "build-box-7"


class Daemon(HTTPServer):
    """An engine that has these containers, each with the run of its label."""

    name = HOST
    containers: dict[str, str]
    asked: list[str]

    def told(self, place: str) -> object:
        self.asked.append(place)
        if place == "/info":
            return {"Name": self.name}
        (label,) = json.loads(parse_qs(urlsplit(place).query)["filters"][0])["label"]
        return [{"Id": one * 6} for one, run in self.containers.items() if label == f"trialdeck.run={run}"]


class Answer(BaseHTTPRequestHandler):
    server: Daemon

    def do_GET(self) -> None:
        body = json.dumps(self.server.told(self.path)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    server = Daemon(("127.0.0.1", 0), Answer)
    server.containers, server.asked = {}, []
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two trials whose environments were left up: of a container `a…` and of one `b…`."""
    told = planned(["x", "y"], ["oracle"])
    for name, container in (("x", "aaaaaaaaaaaa"), ("y", "bbbbbbbbbbbb")):
        trial = f"{name}__oracle__1"
        service = ev.ServiceChanged(at=at(2), trial=trial, service="main", state="running", container=container)
        end = ev.TrialFinished(at=at(5), trial=trial, outcome="scored", reward=0.0, passed=False, kept=True)
        told += [*begun(trial), service, end]
    return write(tmp_path / "run", told)


def shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, bool], list[str]]:
    """What is kept as JSON, by task; the lines of the text about it."""
    before = (folder / EVENTS).read_bytes()
    show(str(folder), as_json=True)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    show(str(folder))
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("kept")]
    assert (folder / EVENTS).read_bytes() == before  # looking writes nothing
    return {trial["task"]: trial["kept"] for trial in found["trials"]}, lines


def test_one_that_was_removed_by_hand_is_told_of_as_gone(
    daemon: Daemon, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.containers = {"aa": RUN, "bb": "another run"}
    assert shown(folder, capsys) == (
        {"x": True, "y": False},
        ["kept     x · oracle · 1: main aaaaaaaaaaaa", "kept     y · oracle · 1: gone, removed by hand"],
    )


@pytest.mark.parametrize("why", ["another engine", "no engine", "no address"])
def test_where_nobody_can_tell_all_stands_as_the_run_said(
    daemon: Daemon, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "another engine":
        daemon.name = "elsewhere"
    else:
        monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1" if why == "no engine" else "garbage")
    assert shown(folder, capsys)[0] == {"x": True, "y": True}


def test_a_run_that_kept_nothing_asks_no_engine(
    daemon: Daemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(write(tmp_path / "run", planned(["x"], ["oracle"])), capsys) == ({"x": False}, [])
    assert daemon.asked == []
