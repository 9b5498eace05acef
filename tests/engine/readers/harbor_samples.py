"""Harbor job folders that tests make, as Harbor 0.26 writes them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine.readers.harbor_reader import HarborReader
from engine.readers.owner_process import Pulse
from engine.state import RunState

OLD = 1_700_000_000
"""A date of files that nothing believes."""


def moment(second: int) -> str:
    return f"2026-01-01T00:{second // 60:02}:{second % 60:02}.000000Z"


def span(start: int, end: int | None) -> dict[str, str | None]:
    return {"started_at": moment(start), "finished_at": None if end is None else moment(end)}


def agent(name: str = "oracle", **more: Any) -> dict[str, Any]:
    return {"name": name, "import_path": None, "model_name": None, "kwargs": {}, "mcp_servers": [], **more}


class Job:
    """`tasks` and `agents` are planned `attempts` times each."""

    def __init__(
        self,
        folder: Path,
        tasks: tuple[str, ...] = ("one",),
        attempts: int = 1,
        agents: tuple[dict[str, Any], ...] = (),
        *,
        hours: int = 0,
    ) -> None:
        self.folder = folder
        self.id = "11111111-2222-4333-8444-555555555555"
        self.hours = hours
        self.agents = agents or (agent(),)
        folder.mkdir(parents=True)
        self.total = len(tasks) * len(self.agents) * attempts
        trials = [
            {"task": self._task(task), "agent": {key: value for key, value in one.items() if value is not None}}
            for task in tasks
            for one in self.agents
            for _ in range(attempts)
        ]
        config = {
            "job_name": folder.name,
            "n_attempts": attempts,
            "n_concurrent_trials": 2,
            "timeout_multiplier": 1.0,
            "agents": list(self.agents),
            "tasks": [self._task(task) for task in tasks],
            "datasets": [],
        }
        lock = {"created_at": moment(0), "harbor": {"version": "0.26.0"}, "n_concurrent_trials": 2, "trials": trials}
        self.write("config.json", config)
        self.write("lock.json", lock)
        (folder / "job.log").write_text("Agent 'oracle' does not declare an options_model\n")
        self.says()

    def _task(self, task: str) -> dict[str, Any]:
        return {"path": f"/tasks/{task}", "name": task, "digest": f"sha256:{task}"}

    def write(self, name: str, value: object) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=4))
        return path

    def says(
        self, at: int = 1, *, finished: bool = False, running: int = 0, cancelled: int = 0, retries: int = 0
    ) -> None:
        """The job's own times are local to a host `hours` east of UTC, and name no zone."""

        def naive(second: int) -> str:
            return moment(second).removesuffix("Z").replace("T00:", f"T{self.hours:02}:")

        stats = {"n_running_trials": running, "n_cancelled_trials": cancelled, "n_retries": retries}
        self.write(
            "result.json",
            {
                "id": self.id,
                "started_at": naive(0),
                "updated_at": naive(at) if finished else moment(at),
                "finished_at": naive(at) if finished else None,
                "n_total_trials": self.total,
                "stats": stats,
            },
        )

    def start(self, name: str, task: str = "one", one: dict[str, Any] | None = None, log: str = "") -> Path:
        config = {
            "task": {"path": f"/tasks/{task}", "name": None},
            "trial_name": name,
            "agent": one or self.agents[0],
            "job_id": self.id,
        }
        path = self.write(f"{name}/config.json", config)
        os.utime(path, (OLD, OLD))
        (self.folder / name / "trial.log").write_text(log)
        return self.folder / name

    def end(
        self,
        name: str,
        task: str = "one",
        start: int = 2,
        reward: object = 1.0,
        one: dict[str, Any] | None = None,
        log: str = "",
        **more: Any,
    ) -> Path:
        """Twenty seconds: 4 to prepare, 6 for the agent, 2 to collect, 5 to verify, the rest to clean up."""
        folder = self.start(name, task, one, log)
        result = {
            "id": f"id of {name} at {start}",
            "task_name": f"org/{task}",
            "trial_name": name,
            "config": json.loads((folder / "config.json").read_text()),
            "agent_info": {"name": "oracle", "version": "1.2.3"},
            "agent_result": {"n_input_tokens": 100, "n_cache_tokens": 40, "n_output_tokens": 7, "cost_usd": 0.25},
            "verifier_result": None
            if reward is None
            else {"rewards": reward if isinstance(reward, dict) else {"reward": reward}},
            "exception_info": None,
            "environment_setup": span(start, start + 3),
            "agent_setup": span(start + 3, start + 4),
            "agent_execution": span(start + 4, start + 10),
            "verifier": span(start + 12, start + 17),
            "step_results": None,
            **span(start, start + 20),
            **more,
        }
        self.write(f"{name}/result.json", result)
        return folder


def exception(kind: str, message: str = "", at: int = 8, traceback: str = "") -> dict[str, str]:
    return {
        "exception_type": kind,
        "exception_message": message,
        "exception_traceback": traceback,
        "occurred_at": moment(at),
    }


class Watching:
    """A reader that looks at once whenever it is asked, and what its events add up to. Nobody's process is looked for
    unless `owner` says there is one."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.owner = False
        for name in ("LOOK_SEC", "OVER_SEC", "OWNER_SEC", "GONE_SEC"):
            monkeypatch.setattr(f"engine.readers.harbor_reader.{name}", 0.0)
        monkeypatch.setattr("engine.readers.owner_process.worked_on_here", lambda *_: self.owner)
        self.reader = HarborReader(folder, Pulse(silent_sec=1e9))
        self.state = RunState()

    def look(self) -> RunState:
        while events := self.reader.poll():
            self.state.apply_all(events)
        return self.state
