"""A real run in Harbor's viewer: listed, its trials opened, through its HTTP API."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.harbor_venv import harbor_view
from tests.end_to_end.deck import only_run, trialdeck
from tests.end_to_end.small_tasks import small_task
from tests.harbor import Viewer, require_harbor

pytestmark = pytest.mark.docker


def test_harbor_view_lists_our_run_and_opens_its_trials(tmp_path: Path) -> None:
    harbor = require_harbor()
    small_task(
        tmp_path / "tasks" / "good", solve="echo solved it\n", test="echo checked\necho 1 > /logs/verifier/reward.txt\n"
    )
    small_task(tmp_path / "tasks" / "late", toml="[agent]\ntimeout_sec = 1\n", solve="sleep 60\n")
    small_task(tmp_path / "tasks" / "broken", environment__Dockerfile="FROM debian:bookworm-slim\nRUN exit 9\n")
    answer = trialdeck("run", "tasks", "--agent", "oracle", "--plain", "--name", "shown", cwd=tmp_path)
    assert answer.returncode == 3, answer.stdout
    run = only_run(tmp_path).name
    with harbor_view(harbor, tmp_path / "runs") as address:
        viewer = Viewer(address)
        (listed,) = viewer.get("jobs")["items"]
        trials = {item["task_name"]: item for item in viewer.get("jobs", run, "trials")["items"]}
        good = trials["good"]["name"]
        opened = viewer.get("jobs", run, "trials", good)
        said = viewer.get("jobs", run, "trials", good, "agent-logs")["oracle"]
        checked = viewer.get("jobs", run, "trials", good, "verifier-output")["stdout"]
        files = {item["path"] for item in viewer.get("jobs", run, "trials", good, "files")}
    assert (listed["name"], listed["n_total_trials"], listed["n_completed_trials"]) == (run, 3, 3)
    assert listed["finished_at"] is not None
    assert {task: (item["reward"], item["error_type"]) for task, item in trials.items()} == {
        "good": (1.0, None),
        "late": (1.0, "AgentTimeoutError"),
        "broken": (None, "SandboxBuildFailedError"),
    }
    assert opened["verifier_result"]["rewards"] == {"reward": 1.0}
    assert all(opened[span]["finished_at"] for span in ("environment_setup", "agent_execution", "verifier"))
    assert said == "solved it\n"
    assert checked == "checked\n"
    assert {"trial.log", "config.json", "result.json", "lock.json", "agent/oracle.txt"} <= files
