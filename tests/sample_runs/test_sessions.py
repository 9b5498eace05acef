"""The recorded sessions are trajectories that can be replayed, and say themselves that they were authored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.agents.recording import read_recording
from tests.sample_runs.places import SESSIONS, TASK_IDS, task

PATHS = sorted(SESSIONS.glob("*.json"))

each_session = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def names_of(task_id: str, attempt: str = "") -> list[str]:
    """The files that an attempt needs: one, or one for each step."""
    steps = [f".{step.name}" for step in task(task_id).steps] or [""]
    return [f"{task_id}{attempt}{step}.json" for step in steps]


@pytest.mark.parametrize("task_id", TASK_IDS)
def test_every_task_has_a_session(task_id: str) -> None:
    assert all((SESSIONS / name).is_file() for name in names_of(task_id))


def test_every_session_is_of_a_task() -> None:
    known = {name for task_id in TASK_IDS for attempt in ("", ".2") for name in names_of(task_id, attempt)}
    assert {path.name for path in PATHS} <= known


def test_one_task_has_the_same_session_for_every_attempt() -> None:
    alone = [
        task_id for task_id in TASK_IDS if not any((SESSIONS / name).is_file() for name in names_of(task_id, ".2"))
    ]
    assert alone == ["hello"]


@each_session
def test_a_session_can_be_replayed(path: Path) -> None:
    recording = read_recording(path)
    assert [command for step in recording.steps for command in step.commands]
    assert all(step.message for step in recording.steps)
    assert all(step.tokens_in and step.tokens_out and step.cost_usd for step in recording.steps)


@each_session
def test_a_session_is_a_valid_trajectory(path: Path) -> None:
    found = document(path)
    assert found["schema_version"] == "ATIF-v1.6"
    assert set(found) == {"schema_version", "session_id", "agent", "steps", "notes", "final_metrics", "extra"}
    assert [step["step_id"] for step in found["steps"]] == list(range(1, len(found["steps"]) + 1))
    times = [step["timestamp"] for step in found["steps"]]
    assert times == sorted(times)
    for step in found["steps"]:
        assert step["source"] in ("user", "agent")
        if step["source"] == "user":
            assert not {"tool_calls", "metrics", "observation", "model_name"} & set(step)
        calls = [call["tool_call_id"] for call in step.get("tool_calls", [])]
        assert all(call["function_name"] == "bash" for call in step.get("tool_calls", []))
        assert {result["source_call_id"] for result in step.get("observation", {}).get("results", [])} <= set(calls)


@each_session
def test_the_totals_are_the_sums(path: Path) -> None:
    found = document(path)
    total = found["final_metrics"]
    metrics = [step["metrics"] for step in found["steps"] if "metrics" in step]
    for key in ("prompt_tokens", "completion_tokens", "cached_tokens"):
        assert total[f"total_{key}"] == sum(row[key] for row in metrics)
    assert total["total_cost_usd"] == pytest.approx(sum(row["cost_usd"] for row in metrics), abs=1e-6)
    assert total["total_steps"] == len(found["steps"])
    assert all(row["cached_tokens"] <= row["prompt_tokens"] for row in metrics)


@each_session
def test_a_session_says_that_its_figures_are_illustrative(path: Path) -> None:
    found = document(path)
    assert "Authored by hand" in found["notes"] and "illustrative" in found["notes"]
    assert found["extra"]["authored"] is True
    assert found["extra"]["expected"]["because"]


def expected(attempt: str) -> list[float | None]:
    """The reward that each task's session is made for: that of its last step, of the first step that falls short."""
    found: list[float | None] = []
    for task_id in TASK_IDS:
        names = names_of(task_id, attempt)
        paths = [SESSIONS / name for name in names if (SESSIONS / name).is_file()] or [
            SESSIONS / name for name in names_of(task_id)
        ]
        rewards: list[float | None] = [document(path)["extra"]["expected"]["reward"] for path in paths]
        found.append(next((reward for reward in rewards if reward != 1), 1))
    return found


@pytest.mark.parametrize("attempt", ["", ".2"])
def test_about_half_of_the_sessions_solve_their_task(attempt: str) -> None:
    share = expected(attempt).count(1) / len(TASK_IDS)
    assert 0.3 <= share <= 0.7


def test_some_sessions_earn_a_fraction_and_one_leaves_no_reward() -> None:
    rewards = expected("") + expected(".2")
    assert [reward for reward in rewards if reward is not None and 0 < reward < 1]
    assert None in rewards
