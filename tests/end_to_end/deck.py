"""The installed command as a user runs it, and what a run folder says afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.readers.run_folder import RunFolderReader
from engine.runs.card import read_card
from engine.state import RunState
from engine.trial_state import TrialState

TRIALDECK = str(Path(sys.executable).with_name("trialdeck"))
BOUND_SEC = 240.0


def trialdeck(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TRIALDECK, *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BOUND_SEC,
        check=False,
    )


def started(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """The same, left running; its output goes to a pipe."""
    return subprocess.Popen(
        [TRIALDECK, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def only_run(cwd: Path) -> Path:
    (folder,) = (cwd / "runs").iterdir()
    return folder


def state_of(folder: Path) -> RunState:
    reader, state = RunFolderReader(folder), RunState()
    while events := reader.poll():
        state.apply_all(events)
    reader.close()
    return state


def trial_of(state: RunState, task: str, arm: str | None = None) -> TrialState:
    (found,) = (trial for trial in state.trials.values() if trial.task == task and arm in (None, trial.arm))
    return found


def codes(trial: TrialState) -> set[str]:
    return {str(issue.code) for issue in trial.issues}


def until(happened: Callable[[], object], what: str, seconds: float = BOUND_SEC) -> None:
    """Wait for something with a bound that names it."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"never happened within {seconds:.0f} s: {what}"
        time.sleep(0.05)


def interrupt(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)


def labelled(kind: str, folder: Path) -> list[str]:
    """Docker objects with this run's label: container, network, volume or image."""
    command = ["docker", kind, "ls", "-q", "--filter", f"label=trialdeck.run={read_card(folder).run}"]
    if kind == "container":
        command.insert(3, "-a")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def everything_labelled(folder: Path) -> dict[str, list[str]]:
    return {kind: found for kind in ("container", "network", "volume", "image") if (found := labelled(kind, folder))}


def shown(run: Path, cwd: Path) -> dict[str, Any]:
    answer = trialdeck("show", str(run), "--json", cwd=cwd)
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert isinstance(found, dict)
    return found
