"""The table of a dry run: what each task takes, as it holds."""

from __future__ import annotations

from pathlib import Path

from console.plan_text import plan_lines
from engine.events import ArmInfo, HostInfo
from engine.runs.plan import make_plan
from engine.tasks.folder import read_task
from engine.tasks.task_set import TaskSet
from screens.pieces import cells
from tests.engine.tasks.task_folders import make_task

HOST = HostInfo(name="h", cpus=4, memory_mb=8000)
LIMITS = "[agent]\ntimeout_sec = 60.0\n[verifier]\ntimeout_sec = 90.0\n"
STEPS = '[[steps]]\nname = "one"\n[steps.agent]\ntimeout_sec = 30.0\n[[steps]]\nname = "two"\n'
STEP_FILES: dict[str, str | bytes | None] = {
    f"steps/{name}/{file}": text
    for name in ("one", "two")
    for file, text in (("instruction.md", "Go on.\n"), ("tests/test.sh", "echo 1 > /logs/verifier/reward.txt\n"))
}


def table(tmp_path: Path, factor: float, **tomls: str) -> list[str]:
    tasks = tuple(
        read_task(make_task(tmp_path / name, toml, STEP_FILES if "steps" in toml else {}))
        for name, toml in tomls.items()
    )
    task_set = TaskSet(name="s", version="", digest="d", tasks=tasks)
    arm = ArmInfo(name="oracle", agent="oracle")
    plan = make_plan(task_set, (arm,), attempts=1, seed=1, host=HOST, allowed_host_env={})
    lines = list(plan_lines(plan, task_set, HOST, [arm], seed=1, concurrency=1, timeout_factor=factor))
    head = next(number for number, line in enumerate(lines) if line.startswith("task  "))
    return lines[head : head + 1 + len(tasks)]


def test_limits_are_those_that_hold(tmp_path: Path) -> None:
    (_, line) = table(tmp_path, 2.0, plain=LIMITS)
    assert line.split()[3:5] == ["120", "180"]


def test_limits_of_steps_are_summed_and_one_without_leaves_no_sum(tmp_path: Path) -> None:
    limit = "[steps.agent]\ntimeout_sec = 12.5\n[steps.verifier]\ntimeout_sec = 100.0\n"
    _, both, one = table(tmp_path, 1.0, one=STEPS, both=STEPS + limit)
    assert one.split()[3:5] == ["—", "1200"]
    assert both.split()[3:5] == ["42.5", "700"]


def test_a_long_name_or_a_wide_one_moves_no_column(tmp_path: Path) -> None:
    lines = table(tmp_path, 1.0, **{"x" * 60: LIMITS, "長い名前": LIMITS, "short": LIMITS})
    columns = {cells(line[: line.index("built")]) for line in lines[1:]}
    assert columns == {cells(lines[0][: lines[0].index("images")])}
