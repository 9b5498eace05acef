from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from console.commands.cancel import cancel
from console.errors import Unusable
from engine import events as ev
from engine.layout import ENGINE
from engine.owner import this_process
from engine.runs.atomic_file import write_json
from engine.runs.control import NotReachable, serve, socket_path
from tests.console.run_folders import planned, started, write


class Engine:
    """Answers on a run's control socket, and remembers what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.commands: list[dict[str, Any]] = []
        self.answer: dict[str, Any] = {"ok": True, "running": 2}
        self._path = socket_path(folder)
        self._ready, self._done = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=anyio.run, args=(self._serve,))
        write_json(folder / ENGINE, this_process(str(self._path)))

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(10)

    def stop(self) -> None:
        self._done.set()
        self._thread.join(10)

    def _handle(self, command: dict[str, Any]) -> dict[str, Any]:
        self.commands.append(command)
        return self.answer

    async def _serve(self) -> None:
        async with anyio.create_task_group() as group:
            await group.start(serve, self._path, self._handle)
            self._ready.set()
            await anyio.to_thread.run_sync(self._done.wait)
            group.cancel_scope.cancel()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    folder = write(tmp_path / "run", [*planned(["hello", "hello-again", "redis"]), started()])
    found = Engine(folder)
    found.start()
    yield found
    found.stop()


def test_a_run_is_cancelled_through_its_engine(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    cancel(str(engine.folder))
    assert engine.commands == [{"command": "cancel", "trial": "", "force": False}]
    assert "cancelling run: 2 running, cleaned up" in capsys.readouterr().out


def test_force_is_passed_on(engine: Engine) -> None:
    cancel(str(engine.folder), force=True)
    assert engine.commands == [{"command": "cancel", "trial": "", "force": True}]


def test_a_trial_is_found_by_the_beginning_of_its_name(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    cancel(str(engine.folder), trial="redis__o")
    assert engine.commands == [{"command": "cancel", "trial": "redis__oracle__1", "force": False}]
    assert capsys.readouterr().out == "cancelled redis__oracle__1\n"


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        ("hello__", "could be hello__oracle__1, hello__replay__1; type more"),
        ("redis_oracle_1", "there is none of that name; did you mean redis__oracle__1"),
    ],
)
def test_an_unclear_trial_cancels_nothing(engine: Engine, trial: str, said: str) -> None:
    with pytest.raises(Unusable, match=said):
        cancel(str(engine.folder), trial=trial)
    assert engine.commands == []


def test_what_the_engine_refuses_is_passed_on(engine: Engine) -> None:
    engine.answer = {"ok": False, "error": "trial redis__oracle__1 neither runs nor waits"}
    with pytest.raises(Unusable, match="not cancelled: trial redis__oracle__1 neither runs nor waits"):
        cancel(str(engine.folder), trial="redis__oracle__1")


def test_a_run_without_an_engine_says_what_can_be_done(tmp_path: Path) -> None:
    with pytest.raises(NotReachable, match="no engine has run here yet"):
        cancel(str(write(tmp_path / "run", planned(["hello"]))))


def test_a_run_that_is_over_is_not_cancelled_and_not_called_abandoned(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [*planned(["hello"]), started(), ev.RunFinished(exit_code=0, seconds=1.0)])
    with pytest.raises(Unusable, match="the run is over"):
        cancel(str(folder))


def test_one_trial_is_not_forced(engine: Engine) -> None:
    with pytest.raises(Unusable, match="--force is for a whole run"):
        cancel(str(engine.folder), trial="redis__o", force=True)
