"""Numbers that no one can mean, in sessions that agents wrote: each is unknown, and the session opens all the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.trajectories.follow import TrajectoryFollower
from engine.trajectories.untyped import number, whole

LARGE = 10**400
USAGE = {"input_tokens": LARGE, "output_tokens": LARGE}
CLAUDE = [
    {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": []},
    {
        "type": "assistant",
        "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "hi"}], "usage": USAGE},
    },
    {"type": "result", "subtype": "success", "total_cost_usd": LARGE, "num_turns": LARGE, "duration_ms": LARGE},
]
CODEX = [
    {"type": "thread.started", "thread_id": "x"},
    {"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "ls", "exit_code": LARGE}},
    {"type": "turn.completed", "usage": USAGE},
]
ATIF = {
    "schema_version": "ATIF-v1.4",
    "agent": {"name": "a", "version": "1"},
    "steps": [
        {
            "step_id": LARGE,
            "source": "agent",
            "message": "hi",
            "timestamp": LARGE,
            "metrics": {"prompt_tokens": LARGE, "cost_usd": LARGE},
        }
    ],
    "final_metrics": {"total_prompt_tokens": LARGE, "total_cost_usd": LARGE},
}
MINI = {
    "trajectory_format": "mini-swe-agent-1.1",
    "info": {"model_stats": {"instance_cost": LARGE, "api_calls": LARGE}, "exit_status": "Submitted"},
    "messages": [{"role": "assistant", "content": "hi", "extra": {"timestamp": LARGE, "cost": LARGE}}],
}


@pytest.mark.parametrize(
    ("name", "lines"),
    [("claude.txt", CLAUDE), ("codex.jsonl", CODEX), ("trajectory.json", [ATIF]), ("mini.traj.json", [MINI])],
    ids=["claude", "codex", "atif", "mini"],
)
def test_a_session_with_numbers_of_400_digits_opens_without_them(
    tmp_path: Path, name: str, lines: list[dict[str, object]]
) -> None:
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    follower = TrajectoryFollower(path)
    found = follower.poll() or follower.finish()
    assert found is not None and found.steps
    assert all(step.tokens_in is None and step.cost_usd is None for step in found.steps)
    assert found.tokens_in is None and found.cost_usd is None


@pytest.mark.parametrize("value", [LARGE, -LARGE, 10**30, 1e300, float("inf"), float("nan"), True, "7"])
def test_what_can_be_no_count_is_none(value: object) -> None:
    assert whole(value) is None


def test_counts_and_amounts_that_can_be_true_are_taken() -> None:
    assert [whole(value) for value in (0, 7, 7.9, 10**15)] == [0, 7, 7, 10**15]
    assert [number(value) for value in (0, 7, 7.5, LARGE, -1)] == [0, 7, 7.5, None, None]
