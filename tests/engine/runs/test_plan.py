"""The plan: order, names, and what is refused by name before anything is started."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.events import ArmInfo, HostInfo
from engine.issues import Code, Severity
from engine.runs.plan import Plan, PlannedTask, interleaved, make_plan, trial_name
from engine.tasks.folder import read_task
from engine.tasks.task_set import TaskSet, find_tasks
from tests.engine.tasks.task_folders import UNTIMED, make_task
from tests.shared_data import shared_data

ARMS = (ArmInfo(name="a", agent="oracle"), ArmInfo(name="b", agent="nop"))
HOST = HostInfo(name="h", cpus=4, memory_mb=8000)


def plan_of(task_set: TaskSet, **more: Any) -> Plan:
    given: dict[str, Any] = {"attempts": 1, "seed": 1, "host": HOST, "allowed_host_env": {}, **more}
    return make_plan(task_set, given.pop("arms", ARMS), **given)


def one(folder: Path, toml: str = "", files: dict[str, str | bytes | None] | None = None, **more: Any) -> PlannedTask:
    """The planned form of a single task."""
    task = read_task(make_task(folder / "t", toml, files))
    (planned,) = plan_of(TaskSet(name="s", version="", digest="", tasks=(task,)), **more).tasks
    return planned


def refusal(planned: PlannedTask) -> str:
    (issue,) = planned.refused
    assert issue.severity is Severity.FATAL
    return issue.message


TASKS = ["t1", "t2", "t3", "t4", "t5"]


@UNTIMED
@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 6), st.integers(1, 3))
def test_arms_of_one_task_stand_together_and_nothing_is_left_out(
    seed: int, attempts: int, tasks: int, arms: int
) -> None:
    names, sides = TASKS[:tasks], ["a", "b", "c"][:arms]
    order = interleaved(names, sides, attempts, seed)
    assert Counter(order) == Counter((task, arm, n + 1) for task in names for arm in sides for n in range(attempts))
    for start in range(0, len(order), arms):
        block = order[start : start + arms]
        assert len({(task, attempt) for task, _, attempt in block}) == 1
    assert [attempt for _, _, attempt in order] == sorted(attempt for _, _, attempt in order)


def test_the_order_is_the_seeds_and_random() -> None:
    assert interleaved(TASKS, ["a", "b"], 2, 7) == interleaved(TASKS, ["a", "b"], 2, 7)
    orders = {tuple(interleaved(TASKS, ["a", "b"], 1, seed)) for seed in range(20)}
    assert len(orders) > 15
    firsts = Counter(interleaved(TASKS, ["a", "b"], 1, seed)[0][1] for seed in range(200))
    assert min(firsts.values()) > 60  # neither arm always goes first


def test_the_same_arguments_give_the_same_plan(tmp_path: Path) -> None:
    for name in TASKS:
        make_task(tmp_path / name)
    found = find_tasks([tmp_path])
    first, again = plan_of(found, attempts=3, seed=5), plan_of(find_tasks([tmp_path]), attempts=3, seed=5)
    assert first == again
    assert [trial.position for trial in first.trials] == list(range(1, 31))


ODD_NAMES = ["org/Fix_Build", "org-fix_build", "ORG.fix-build", "-Größe-42", "日本語/タスク", "..", "a" * 300, "-", " "]


def test_every_name_makes_a_folder_of_its_own_case_1() -> None:
    taken: set[str] = set()
    names = [trial_name(task, "a", 1, taken) for task in ODD_NAMES]
    assert len({name.lower() for name in names}) == len(names)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9._-]+", name) and not name.startswith(("-", "."))
        assert len(name) < 200


def test_names_that_clean_to_one_name_do_not_meet_case_1() -> None:
    taken: set[str] = set()
    names = [trial_name(task, arm, 1, taken) for task, arm in (("a b", "x"), ("a-b", "x"), ("a/b", "x"), ("a?b", "x"))]
    assert len(set(names)) == 4
    assert trial_name("a__x", "y", 1, taken) != trial_name("a", "x__y", 1, taken)


@UNTIMED
@given(st.lists(st.tuples(st.text(min_size=1), st.sampled_from(["a", "b+1", "ü"]), st.integers(1, 3)), unique=True))
def test_no_two_trials_ever_share_a_name_case_1(trials: list[tuple[str, str, int]]) -> None:
    taken: set[str] = set()
    names = [trial_name(*trial, taken) for trial in trials]
    assert len(set(names)) == len(trials)


def test_a_plain_name_stays_readable() -> None:
    assert trial_name("fix-build", "oracle", 2, set()) == "fix-build__oracle__2"


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["p.example.org"]\n', "allowlist (p.example.org)"),
        ('[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.org"]\n', "agent.network_mode is allowlist"),
        ('[agent]\nnetwork_mode = "no-network"\n', "changes between phases"),
        ('[environment]\nnetwork_mode = "no-network"\n[verifier]\nnetwork_mode = "public"\n', "verifier.network_mode"),
        ("[environment]\ngpus = 1\ngpu_types = ['H100']\n", "1 GPU (H100)"),
        ('[environment]\nos = "windows"\n', "only linux"),
        ("[environment]\nmemory_mb = 16000\n", "memory_mb is 16000, the host has 8000"),
        ("[environment]\ncpus = 8\n", "cpus is 8, the host has 4"),
        ('[environment]\nenv = {A = "${TOKEN}"}\n', "not allowed or not set: TOKEN"),
    ],
)
def test_what_cant_be_run_is_refused_by_name(tmp_path: Path, toml: str, words: str) -> None:
    assert words in refusal(one(tmp_path, toml))


@pytest.mark.parametrize(
    "toml",
    [
        '[environment]\nnetwork_mode = "no-network"\n',
        '[environment]\nnetwork_mode = "no-network"\n[agent]\nnetwork_mode = "no-network"\n',
        '[verifier]\nenvironment_mode = "separate"\nnetwork_mode = "no-network"\n',
        '[environment]\nenv = {A = "${TOKEN:-none}"}\n',
        "[environment]\ncpus = 4\nmemory_mb = 8000\n",
    ],
)
def test_what_can_be_run_is_not_refused(tmp_path: Path, toml: str) -> None:
    assert one(tmp_path, toml).refused == ()


def test_an_allowed_variable_opens_the_way(tmp_path: Path) -> None:
    toml = '[environment]\nenv = {A = "${TOKEN}"}\n'
    assert one(tmp_path, toml, allowed_host_env={"TOKEN": "x"}).refused == ()


def test_a_steps_own_verifier_is_looked_at_too(tmp_path: Path) -> None:
    toml = '[[steps]]\nname = "one"\n[steps.verifier]\nenvironment = {gpus = 2}\n'
    planned = one(tmp_path, toml, {"steps/one/instruction.md": "1"})
    assert "steps.one.verifier.environment needs 2 GPU" in refusal(planned)


def test_a_smaller_host_is_allowed_capped_and_recorded(tmp_path: Path) -> None:
    planned = one(tmp_path, "[environment]\ncpus = 16\nmemory_mb = 99000\n", allow_smaller_host=True)
    assert planned.refused == ()
    assert (planned.cpus, planned.memory_mb) == (4, 8000)
    told = [issue for issue in planned.warnings if issue.code is Code.HOST_TOO_SMALL]
    assert len(told) == 2 and all("capped" in issue.message for issue in told)


COMPOSE = "services:\n  main: {}\n  db: {image: x, mem_limit: 7g, cpus: 3}\n"


def test_all_services_together_count_against_the_host(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {"environment/docker-compose.yaml": COMPOSE}
    toml = "[environment]\ncpus = 2\nmemory_mb = 2000\n"
    planned = one(tmp_path, toml, files)
    assert (planned.cpus, planned.memory_mb) == (4, 8000)  # for admission: never more than there is
    messages = [issue.message for issue in planned.refused]
    assert any("all services together declare cpus 5, the host has 4" in message for message in messages)
    assert one(tmp_path, toml, files, allow_smaller_host=True).refused == ()


def test_the_largest_environment_counts_for_admission(tmp_path: Path) -> None:
    toml = "[environment]\nmemory_mb = 100\n[verifier.environment]\nmemory_mb = 3000\n"
    assert one(tmp_path, toml).memory_mb == 3000


def test_between_steps_the_agents_environment_and_a_verifier_are_up_together(tmp_path: Path) -> None:
    toml = "[environment]\nmemory_mb = 3000\n[verifier.environment]\nmemory_mb = 2000\n"
    toml += '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
    files: dict[str, str | bytes | None] = {"steps/one/instruction.md": "1", "steps/two/instruction.md": "2"}
    planned = one(tmp_path, toml, files)
    assert planned.memory_mb == 5000
    small = HostInfo(name="h", cpus=4, memory_mb=4000)
    assert one(tmp_path, toml, files, host=small).refused == ()  # each of them fits
    assert one(tmp_path, toml, files, host=small).memory_mb == 4000


def test_an_unknown_host_refuses_nothing_for_its_size(tmp_path: Path) -> None:
    assert one(tmp_path, "[environment]\ncpus = 512\n", host=HostInfo()).refused == ()


def test_a_broken_task_is_a_refused_trial_and_the_others_run(tmp_path: Path) -> None:
    make_task(tmp_path / "good")
    make_task(tmp_path / "bad", "[[[")
    plan = plan_of(find_tasks([tmp_path]), attempts=2)
    assert Counter((trial.task.id, trial.runnable) for trial in plan.trials) == {("bad", False): 4, ("good", True): 4}
    (bad,) = [task for task in plan.tasks if task.id == "bad"]
    assert bad.refused[0].code is Code.TASK_INVALID


def test_what_a_command_line_agent_is_not_given_is_a_warning(tmp_path: Path) -> None:
    toml = '[[environment.mcp_servers]]\nname = "m"\ntransport = "sse"\nurl = "http://m"\n'
    arms = (ArmInfo(name="c", agent="command", parameters={"run": "x"}),)
    planned = one(tmp_path, toml, arms=arms)
    assert any("MCP servers" in issue.message for issue in planned.warnings)


@pytest.mark.parametrize("allow_smaller_host", [False, True])
def test_the_113_real_tasks_are_planned_each_with_its_words(allow_smaller_host: bool) -> None:
    found = find_tasks([shared_data("deep-swe")])
    assert len(found.tasks) == 113 and found.broken == ()
    plan = plan_of(found, allow_smaller_host=allow_smaller_host, host=HostInfo(name="h", cpus=1, memory_mb=1000))
    assert len(plan.trials) == 226
    assert len({trial.trial for trial in plan.trials}) == 226
    for task in plan.tasks:
        for issue in (*task.refused, *task.warnings):
            assert issue.message
        assert task.cpus <= 1 and task.memory_mb <= 1000
        assert not allow_smaller_host or not any(issue.code is Code.HOST_TOO_SMALL for issue in task.refused)
    if not allow_smaller_host:
        assert any(issue.code is Code.HOST_TOO_SMALL for task in plan.tasks for issue in task.refused)
