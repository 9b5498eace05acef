"""A results folder of AgentCompass in small, written in the format of its version 1.0.1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.readers.agentcompass_plan import task_folder

BEGAN = 1_795_994_934.0
"""2026-11-29 23:28:54 UTC."""
KEY = "sk-ant-api03-never-to-be-seen"


class Sample:
    """Writes as AgentCompass does; `line` appends to `progress.jsonl`."""

    def __init__(self, folder: Path, tasks: tuple[str, ...] = ("hello",), attempts: int = 1, **info: Any) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.attempts = attempts
        request = {
            "benchmark": {"id": "terminal_bench_2_1", "params": {"sample_ids": list(tasks)}},
            "harness": {"id": "claude_code", "params": {"effort": "high", "auth_token": KEY, "note": f"use {KEY}"}},
            "model": {"id": "sonnet", "api_key": KEY, "base_url": f"http://u:{KEY}@h/", "api_protocol": "anthropic"},
            "environment": {"id": "docker"},
            "execution": {"attempts": {"k": attempts, "strategy": "avg"}, "task_concurrency": 4},
        }
        self.info: dict[str, Any] = {
            "schema_version": "agentcompass.run_info.v3",
            "run_id": "r1",
            "started_at": "2026-11-30T00:28:54+01:00",
            "request": request,
        } | info
        self.write_info()

    def write_info(self, **more: Any) -> None:
        self.info |= more
        (self.folder / "run_info.json").write_text(json.dumps(self.info, indent=2, sort_keys=True))

    def line(self, event: str, after: float, **fields: Any) -> None:
        told = {"run_id": "r1", "event": event, "timestamp": BEGAN + after, "task_id": None, "category": None}
        told |= {"attempt": None, "phase": None, "status": None, "payload": {}} | fields
        with (self.folder / "progress.jsonl").open("a") as file:
            file.write(json.dumps(told) + "\n")

    def begin(self, tasks: int = 1) -> None:
        self.line("run_started", 0)
        self.line("tasks_loaded", 0, payload={"total_tasks": tasks})

    def attempt(self, task: str, number: int = 1, after: float = 1.0, until: str = "evaluate") -> float:
        """An attempt up to a phase; returns the moment that the phase ends at."""
        common = {"task_id": task, "category": "cat1", "attempt": number}
        self.line("task_started", after, task_id=task, category="cat1")
        self.line("attempt_started", after, **common)
        plan = {
            "environment": {"resources": {"cpu": 2, "memory_mb": 512}, "setup": {"build_timeout_seconds": 600.0}},
            "run_timeout_seconds": 120.0,
            "evaluation_timeout_seconds": 20.0,
        }
        self.line("execution_plan_resolved", after, **common, payload=plan)
        phases = ("open_environment", "prepare_task", "start_harness", "run_harness", "collect_harness_result")
        for phase in (*phases, "download_artifacts", "evaluate_environment", "evaluate"):
            self.line("phase_changed", after, **common, phase=phase)
            after += 1
            if phase == until:
                break
        return after

    def finish(self, task: str, number: int, after: float, status: str = "completed") -> None:
        self.line("attempt_finished", after, task_id=task, category="cat1", attempt=number, status=status)

    def attempt_folder(self, task: str, number: int = 1, state: str = "normal") -> Path:
        folder = self.folder / "details" / state / task_folder(task) / f"attempt-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        numbers = {str(n): f"attempt-{n}" for n in range(1, self.attempts + 1)}
        index = {"schema_version": "agentcompass.task.v3", "task_id": task, "category": "cat1", "attempts": numbers}
        (folder.parent / "task.json").write_text(json.dumps(index))
        return folder

    def result(self, task: str, number: int = 1, state: str = "normal", **more: Any) -> Path:
        path = self.attempt_folder(task, number, state) / "result.json"
        path.write_text(json.dumps(result(**more), indent=2))
        return path

    def log(self, *lines: str) -> None:
        with (self.folder / "run.log").open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def end(self, after: float, status: str = "completed", error: str = "") -> None:
        self.line("run_finished", after, status=status, payload={"error": error} if error else {})
        self.write_info(status=status, finished_at="2026-11-30T00:30:00+01:00")


def result(
    reward: float | None = 1.0,
    *,
    status: str = "completed",
    issues: tuple[dict[str, str], ...] = (),
    exit_code: int | None = 0,
    cost: float | None = None,
    output: str = "1 passed\n",
) -> dict[str, Any]:
    verified = {"verify_result": {"rewards": {"reward": reward}}} if reward is not None else {}
    ends = {"type": "result", "subtype": "success"} | ({} if cost is None else {"total_cost_usd": cost})
    step = {"step_id": 1, "metric": {"prompt_tokens_len": 10, "completion_tokens_len": 5}}
    return {
        "status": status,
        "metrics": {"correct": reward == 1.0},
        "trajectory": {
            "steps": [step, {**step, "step_id": 2}],
            "started_at": "2026-11-29 23:28:59.841281+00:00",
            "finished_at": "2026-11-29 23:29:02.841281+00:00",
        },
        "issues": list(issues),
        "artifacts": {
            "raw_claude_events": [{"type": "system"}, ends],
            "declared_artifacts": {"entries": [{"source": "/logs/artifacts", "service": None, "status": "missing"}]},
        },
        "meta": {
            "benchmark": {
                "status": "completed" if reward is not None else "error",
                "eval_raw_data": {
                    "verifier": {
                        "started_at": "2026-11-29 23:29:05+00:00",
                        "finished_at": "2026-11-29T23:29:08+00:00",
                    },
                    "testcase_output": output,
                    **verified,
                },
            },
            "harness": {"telemetry": {"exit_code": exit_code, "stdout": ""}},
        },
        "retry_count": 0,
    }
