"""What a task needs and an arm's agent can't give is refused in the plan, naming both."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from console.begin_run import refusal_lines
from console.plan_text import plan_lines
from engine.agents.agent import AgentTraits
from engine.events import ArmInfo, Endpoint, HostInfo
from engine.issues import Code, Severity
from engine.models.settings import Wire
from engine.runs.agent_refusals import cannot_take, fit_of
from engine.runs.plan import Plan, make_plan
from engine.tasks.folder import read_task
from engine.tasks.task import Task
from engine.tasks.task_set import TaskSet
from engine.trial_state import PASSED, REFUSED
from tests.engine.agents.model_agent import NAME, register
from tests.engine.runs.runs import RunRig
from tests.engine.tasks.task_folders import make_task

HOST = HostInfo(name="h", cpus=4, memory_mb=8000)
SSE = '[[environment.mcp_servers]]\nname = "db"\ntransport = "sse"\nurl = "http://db:1/sse"\n'
STDIO = '[[environment.mcp_servers]]\nname = "files"\ntransport = "stdio"\ncommand = "mcp"\n'
SKILLS = '[environment]\nskills_dir = "/skills"\n'
CUT_OFF = '[environment]\nnetwork_mode = "no-network"\n'
ARM = ArmInfo(name=NAME, agent=NAME, model="m", endpoint=Endpoint(base_url="http://127.0.0.1:1/v1"))


def task(folder: Path, toml: str, name: str = "t") -> Task:
    return read_task(make_task(folder / name, toml))


def traits(**more: object) -> AgentTraits:
    return AgentTraits(name=NAME, version="1", summary="", wires=(Wire.ANTHROPIC,), **more)  # type: ignore[arg-type]


def words(folder: Path, toml: str, **more: object) -> list[str]:
    found = cannot_take(task(folder, toml), ARM, traits(**more))
    assert all((one.severity, one.code) == (Severity.FATAL, Code.AGENT_INCOMPATIBLE) for one in found)
    return [one.message for one in found]


def test_each_transport_that_an_agent_lacks_is_named_with_its_servers(tmp_path: Path) -> None:
    both = frozenset({"stdio", "streamable-http"})
    assert words(tmp_path / "a", SSE, mcp=both) == [
        "task t needs an SSE MCP server (db); agent tester takes stdio, streamable-http"
    ]
    assert words(tmp_path / "b", SSE + STDIO) == [
        "task t needs an SSE MCP server (db); agent tester takes no MCP server",
        "task t needs a stdio MCP server (files); agent tester takes no MCP server",
    ]
    assert words(tmp_path / "c", STDIO, mcp=both) == []


def test_headers_for_a_server_need_an_agent_that_passes_them_on(tmp_path: Path) -> None:
    toml = SSE + 'headers = { X-Team = "a" }\n'
    sse = frozenset({"sse"})
    assert words(tmp_path / "a", toml, mcp=sse, mcp_headers=False) == [
        "task t has headers for an MCP server (db); agent tester passes none on"
    ]
    assert words(tmp_path / "b", toml, mcp=sse) == []
    assert words(tmp_path / "c", SSE, mcp=sse, mcp_headers=False) == []


def test_a_folder_of_skills_needs_an_agent_that_takes_it(tmp_path: Path) -> None:
    assert words(tmp_path / "a", SKILLS) == ["task t offers a folder of skills (/skills); agent tester takes none"]
    assert words(tmp_path / "b", SKILLS, takes_skills=True) == []


def test_what_is_installed_over_the_network_needs_one_or_a_capsule(tmp_path: Path) -> None:
    assert words(tmp_path / "a", CUT_OFF, installs_over_network=True) == [
        "task t has no network; agent tester is installed over it"
    ]
    assert words(tmp_path / "b", CUT_OFF) == []
    for_agents_alone = '[agent]\nnetwork_mode = "no-network"\n'
    assert len(words(tmp_path / "c", for_agents_alone, installs_over_network=True)) == 1
    assert words(tmp_path / "d", "", installs_over_network=True) == []


def test_an_arm_with_a_name_of_its_own_is_named_beside_its_agent(tmp_path: Path) -> None:
    (issue,) = cannot_take(task(tmp_path, SSE), ArmInfo(name="fast", agent=NAME), traits())
    assert "agent tester (arm fast) takes" in issue.message


@pytest.mark.parametrize("agent", ["oracle", "nop", "replay", "restore", "command"])
def test_agents_that_need_neither_servers_nor_skills_run_every_task(tmp_path: Path, agent: str) -> None:
    arm = ArmInfo(name=agent, agent=agent)
    found = make_plan(
        TaskSet(name="s", version="", digest="", tasks=(task(tmp_path, SSE + SKILLS),)),
        [arm],
        attempts=1,
        seed=1,
        host=HOST,
        allowed_host_env={},
    )
    assert [trial.runnable for trial in found.trials] == [True]


def problem(arm: ArmInfo, environ: dict[str, str], host: HostInfo = HOST) -> list[str]:
    return [issue.message for issue in fit_of([arm], environ, host)[arm.name].problems]


def test_what_an_arm_lacks_on_this_host_is_said_once_and_never_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)
    (missing,) = problem(ArmInfo(name="x", agent=NAME, model="m", endpoint=Endpoint(key_env="SOME_KEY")), {})
    assert "SOME_KEY is not set" in missing and missing.startswith("arm x:")
    (no_model,) = problem(ArmInfo(name="x", agent=NAME), {"OPENAI_API_KEY": "k"})
    assert "model is missing" in no_model
    assert problem(ARM, {}) == []
    (bad,) = problem(ArmInfo(name="x", agent=NAME, model="m", endpoint=Endpoint(key_env="K")), {"K": "marked secret"})
    assert "marked" not in bad
    (unknown,) = problem(ArmInfo(name="x", agent="gone"), {})
    assert 'unknown agent "gone"' in unknown


def test_an_agent_in_main_needs_the_docker_engine_of_this_host(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, needs_gateway=True)
    assert problem(ARM, {}) == []
    (refused,) = problem(ARM, {}, HostInfo(name="far", elsewhere=True))
    assert "agent" not in refused.split(":")[0] and "Docker engine is on another host" in refused


def test_what_this_host_lacks_is_told_apart_from_what_an_agent_can_not_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch)
    keyless = ArmInfo(name="x", agent=NAME, model="m", endpoint=Endpoint(key_env="NO_KEY"))
    gone = msgspec.structs.replace(ARM, name="carried", capsules={"node24-v1": "0" * 64})
    arms = [keyless, gone, ArmInfo(name="unknown", agent="nobody")]
    fits = fit_of(arms, {}, HOST)
    assert [[issue.code for issue in fits[arm.name].problems] for arm in arms] == [
        [Code.AGENT_UNAVAILABLE],
        [Code.AGENT_UNAVAILABLE],
        [Code.AGENT_INCOMPATIBLE],
    ]
    (issue,) = cannot_take(task(tmp_path, SSE), ARM, traits())
    assert issue.code is Code.AGENT_INCOMPATIBLE


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Two tasks, one of which wants an SSE server; an arm that can't have one, an oracle, and an arm without a key."""
    register(monkeypatch)
    tasks = (task(tmp_path, "", "plain"), task(tmp_path, SSE, "served"))
    arms = [
        ARM,
        ArmInfo(name="oracle", agent="oracle"),
        ArmInfo(name="keyless", agent=NAME, model="m", endpoint=Endpoint(key_env="NO_KEY")),
    ]
    return make_plan(
        TaskSet(name="s", version="", digest="", tasks=tasks),
        arms,
        attempts=2,
        seed=1,
        host=HOST,
        allowed_host_env={},
        fits=fit_of(arms, {}, HOST),
    )


def test_only_the_trials_of_that_arm_on_that_task_are_refused(mixed: Plan) -> None:
    runs = {(trial.task.id, trial.arm.name) for trial in mixed.trials if trial.runnable}
    assert runs == {("plain", NAME), ("plain", "oracle"), ("served", "oracle")}
    assert all(trial.unfit for trial in mixed.trials if not trial.runnable)


def test_every_refusal_is_said_once_whole_arms_first(mixed: Plan) -> None:
    arm, served = refusal_lines(mixed)
    assert arm.startswith("arm keyless is not run: key_env: NO_KEY is not set")
    assert served.startswith(f"served is not run with arm {NAME}: task served needs an SSE MCP server (db); agent")


def test_a_dry_run_shows_arms_models_and_refusals(mixed: Plan) -> None:
    arms = [trial.arm for trial in mixed.trials[:3]]
    text = "\n".join(
        plan_lines(mixed, TaskSet(name="s", version="", digest="d", tasks=()), HOST, arms, seed=1, concurrency=1)
    )
    assert "model m" in text and "at http://127.0.0.1:1/v1" in text and "key from NO_KEY" in text
    assert "trials    6 of 12" in text
    assert all(f"  {line}" in text for line in refusal_lines(mixed))
    assert "served · oracle" in text and f"served · {NAME}" not in text


def test_a_plan_without_a_trial_to_run_says_so_in_place_of_an_order(mixed: Plan) -> None:
    none = msgspec.structs.replace(mixed, trials=tuple(trial for trial in mixed.trials if not trial.runnable))
    task_set = TaskSet(name="s", version="", digest="d", tasks=())
    *_, last = plan_lines(none, task_set, HOST, [], seed=1, concurrency=1)
    assert last == "nothing can be run"


@pytest.mark.anyio
async def test_refused_trials_end_as_refused_and_the_others_get_their_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.runs.process import _announce

    register(monkeypatch)
    arms = (ARM, ArmInfo(name="idle", agent="nop"))
    rig = RunRig(tmp_path, toml=SSE, arms=arms)
    rig.provider.when(
        "/tests/test.sh", does=lambda command: command.environment.write("/logs/verifier/reward.txt", "1")
    )
    _announce(rig.log, rig.card, rig.plan)
    await rig.execute()
    states = {trial.arm: trial for trial in rig.state.trials.values()}
    assert (states[NAME].state, states["idle"].state) == (REFUSED, PASSED)
    assert [issue.code for issue in states[NAME].issues] == [Code.AGENT_INCOMPATIBLE]
    assert not any("tester" in name for name in (one.spec.name for one in rig.provider.environments))
