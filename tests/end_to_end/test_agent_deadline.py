"""Real containers: what an agent started, its deadline, its logs while it runs, what it changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.end_to_end.deck import (
    BOUND_SEC,
    codes,
    interrupt,
    labelled,
    only_run,
    started,
    state_of,
    trial_of,
    trialdeck,
    until,
)
from tests.end_to_end.small_tasks import DOCKERFILE, small_task

pytestmark = pytest.mark.docker

TICKS = "setsid bash -c 'while :; do echo x >> /app/ticks; sleep 0.2; done' >/dev/null 2>&1 &\n"
STILL = """
before=$(wc -l < /app/ticks); sleep 2; after=$(wc -l < /app/ticks)
echo "$before $after"
reward=0; [ "$before" -gt 0 ] && [ "$before" = "$after" ] && reward=1
echo $reward > /logs/verifier/reward.txt
"""
MOVES = """
before=$(wc -l < /app/ticks); after=$before
for i in $(seq 300); do [ "$after" -gt "$before" ] && break; sleep 0.1; after=$(wc -l < /app/ticks); done
echo "$before $after"
[ "$after" -gt "$before" ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt
"""
TICKING = TICKS + "until [ -s /app/ticks ]; do sleep 0.1; done\n"
"""Goes on once there is a tick."""


def test_a_timed_out_agent_writes_no_line_after_its_deadline(tmp_path: Path) -> None:
    """A background process group in a session of its own; case 53: the verdict still comes and counts."""
    small_task(tmp_path / "late", toml="[agent]\ntimeout_sec = 8\n", solve=TICKS + "sleep 600\n", test=STILL)
    answer = trialdeck("run", "late", "--agent", "oracle", "--plain", cwd=tmp_path)
    trial = trial_of(state_of(only_run(tmp_path)), "late")
    assert answer.returncode == 0, answer.stdout
    assert trial.timed_out and "harness_timeout" in codes(trial)
    assert trial.state == "passed", answer.stdout


def test_a_server_that_an_agent_leaves_running_lives_on_after_a_normal_end(tmp_path: Path) -> None:
    small_task(tmp_path / "server", solve=TICKING, test=MOVES)
    answer = trialdeck("run", "server", "--agent", "oracle", "--plain", cwd=tmp_path)
    assert answer.returncode == 0
    assert trial_of(state_of(only_run(tmp_path)), "server").state == "passed", answer.stdout


def test_output_reaches_the_log_while_the_command_runs(tmp_path: Path) -> None:
    small_task(tmp_path / "slow", solve="echo first words\nsleep 600\n")
    process = started("run", "slow", "--agent", "oracle", "--plain", cwd=tmp_path)
    log = tmp_path / "runs"

    def written() -> bool:
        return any("first words" in path.read_text() for path in log.glob("*/slow__oracle__1/agent/oracle.txt"))

    until(written, "the agent's first words in its log")
    assert trial_of(state_of(only_run(tmp_path)), "slow").state == "running"
    interrupt(process)
    process.communicate(timeout=BOUND_SEC)
    assert process.returncode == 130


def test_what_the_agent_changed_is_kept_beside_the_verdict(tmp_path: Path) -> None:
    small_task(
        tmp_path / "editor",
        solve="echo b > /app/kept; echo new > /app/added; rm /app/old\n",
        environment__Dockerfile=DOCKERFILE + "RUN echo a > kept; echo a > old\n",
    )
    trialdeck("run", "editor", "--agent", "oracle", "--plain", cwd=tmp_path)
    changes = json.loads((only_run(tmp_path) / "editor__oracle__1" / "changes.json").read_text())
    assert changes == {"added": ["/app/added"], "changed": ["/app/kept"], "deleted": ["/app/old"]}


def test_samples_come_while_it_runs_and_peaks_stay(tmp_path: Path) -> None:
    small_task(tmp_path / "busy", solve="until [ -e /tmp/enough ]; do :; done\n")
    process = started("run", "busy", "--agent", "oracle", "--plain", cwd=tmp_path)

    def sampled() -> bool:
        files = list((tmp_path / "runs").glob("*/busy__oracle__1/samples.jsonl"))
        lines = [json.loads(line) for file in files for line in file.read_bytes().split(b"\n")[:-1]]
        return len(lines) >= 2 and any(line["cpu_percent"] > 10 for line in lines)

    until(sampled, "two samples, one of them of work")
    (container,) = labelled("container", only_run(tmp_path))
    subprocess.run(["docker", "exec", container, "touch", "/tmp/enough"], check=True)
    output, _ = process.communicate(timeout=BOUND_SEC)
    assert process.returncode == 0, output
    trial = trial_of(state_of(only_run(tmp_path)), "busy")
    samples = (only_run(tmp_path) / trial.trial / "samples.jsonl").read_text().splitlines()
    assert all({"cpu_percent", "memory_bytes", "pids"} <= set(json.loads(line)) for line in samples)
    assert trial.services["main"].peak_memory_bytes > 0 and trial.services["main"].peak_cpu_percent > 10


def test_case_10_every_phase_has_a_clock_of_its_own(tmp_path: Path) -> None:
    small_task(
        tmp_path / "slow-start",
        toml='[agent]\ntimeout_sec = 8\n[verifier]\ntimeout_sec = 8\nenvironment_mode = "separate"\n',
        environment__Dockerfile=DOCKERFILE + "RUN sleep 9\n",
        tests__Dockerfile="FROM debian:bookworm-slim\nRUN sleep 9\nCOPY test.sh /tests/test.sh\n",
        test="sleep 1\necho 1 > /logs/verifier/reward.txt\n",
        **{
            "environment__docker-compose_dot_yaml": (
                "services:\n  main:\n    command: [sh, -c, 'sleep 9; touch /ready; sleep 600']\n"
                "    healthcheck: {test: [CMD, test, -f, /ready], interval: 500ms, retries: 200}\n"
            )
        },
    )
    answer = trialdeck("run", "slow-start", "--agent", "oracle", "--plain", cwd=tmp_path)
    trial = trial_of(state_of(only_run(tmp_path)), "slow-start")
    assert trial.state == "passed", answer.stdout
    assert not codes(trial) & {"harness_timeout", "verifier_timeout", "image_build_timeout", "start_timeout"}
