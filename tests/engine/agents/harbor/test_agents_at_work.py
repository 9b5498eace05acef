"""Harbor's agents from their set-up to what is read when they have ended, without a container."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

pytest.importorskip("harbor", reason="run by test_with_harbor, where Harbor is")

from engine.agents.agent import LooksBack
from engine.agents.registry import make_agent
from engine.issues import Code, Severity, TrialFailed
from tests.engine.agents.harbor.rig import Rig, arm, own
from tests.engine.fake_environment import Command

pytestmark = pytest.mark.anyio

KEY = "sk-0123456789"
MCP = """
[environment]
skills_dir = "/skills"
[[environment.mcp_servers]]
name = "docs"
transport = "sse"
url = "http://docs/sse"
"""


async def test_steps_are_told_once_each_and_all_that_was_counted_is_in_them(tmp_path: Path) -> None:
    rig = Rig(tmp_path, own("HostAgent", kwargs__commands='["one", "two"]'))
    rig.session.provider.when("one", out=b"1")
    end = await rig.whole()
    assert end.exit_code == 0
    told = [
        (step.what, step.tokens_in, step.tokens_cached, step.tokens_out, step.cost_usd) for step in rig.session.steps
    ]
    assert told == [
        ("one: 1", 100, 40, 10, 0.25),
        ("two: ", 200, 40, 10, 0.25),  # what was counted beside the steps goes with the last
    ]
    assert {step.cost_source for step in rig.session.steps} == {"agent"}


async def test_an_agent_on_the_host_has_its_clock_from_the_start(tmp_path: Path) -> None:
    rig = Rig(tmp_path, own("HostAgent", kwargs__commands='["work"]'))
    await rig.agent.set_up(rig.given)
    before = len(rig.commands)
    await rig.agent.run(rig.given)
    assert [words for words, _ in rig.commands[before:]] == ["true", "bash -c work"]


async def test_a_program_is_installed_as_root_and_works_as_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROGRAM_API_KEY", KEY)
    rig = Rig(tmp_path, own("Program"))
    rig.session.provider.when("program --version", out=b"9.1\n")
    rig.session.provider.when("program --work", out=f"my key is {KEY}\n".encode())
    await rig.agent.set_up(rig.given)
    assert [user for words, user in rig.commands if "install program" in words] == ["root"]
    assert any("program 9.1 is set up" in said for said in rig.session.activities)
    await rig.agent.run(rig.given)
    (work,) = [one for one in rig.session.provider.commands if "program --work" in one.text]
    assert work.env["PROGRAM_API_KEY"] == KEY and KEY not in work.text and work.words[4] == "/srv"
    assert KEY in rig.hidden


async def test_what_a_program_left_is_read_when_it_has_ended_and_no_key_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROGRAM_API_KEY", KEY)
    rig = Rig(tmp_path, own("Program"))
    await rig.agent.set_up(rig.given)
    await rig.agent.run(rig.given)
    (rig.session.folder / "program.json").write_text(json.dumps({"read": 70, "dollars": 0.5, "env": KEY}))
    assert isinstance(rig.agent, LooksBack)
    await rig.agent.look_back(rig.given)
    (step,) = rig.session.steps
    assert (step.what, step.tokens_in, step.cost_usd) == ("the whole run of program", 70, 0.5)
    for path in rig.session.folder.rglob("*"):
        assert not path.is_file() or KEY not in path.read_text()


async def test_a_program_that_ends_badly_has_its_exit_code_case_71(tmp_path: Path) -> None:
    rig = Rig(tmp_path, own("Program"))
    rig.session.provider.when("program --work", 3, err=b"nothing to say\n")
    await rig.agent.set_up(rig.given)
    end = await rig.agent.run(rig.given)
    assert end.exit_code == 3 and rig.session.issues == []


async def test_what_harbor_reads_of_the_model_is_a_warning_beside_the_exit_code_case_62(tmp_path: Path) -> None:
    rig = Rig(tmp_path, own("Program"))
    rig.session.provider.when("program --work", 1, out=b"error: 429 too many requests\n")
    await rig.agent.set_up(rig.given)
    end = await rig.agent.run(rig.given)
    (issue,) = rig.session.issues
    assert (end.exit_code, issue.code, issue.severity) == (1, Code.MODEL_RATE_LIMITED, Severity.WARNING)


async def test_a_set_up_that_fails_says_what_harbor_says(tmp_path: Path) -> None:
    rig = Rig(tmp_path, own("Program"))
    rig.session.provider.when("install program", 100, err=b"E: no such package\n")
    with pytest.raises(TrialFailed) as caught:
        await rig.agent.set_up(rig.given)
    issue = caught.value.issue
    assert issue.code is Code.AGENT_SETUP_FAILED and "Harbor's program could not be set up" in issue.message
    assert any("no such package" in one.text for one in issue.evidence)


async def test_harbors_own_code_failing_is_an_issue_and_the_steps_are_kept(tmp_path: Path) -> None:
    rig = Rig(tmp_path, own("HostAgent", kwargs__commands='["one"]', kwargs__fails="run"))
    end = await rig.whole()
    (issue,) = rig.session.issues
    assert end.exit_code is None and issue.code is Code.HARNESS_FAILED
    assert issue.message == "Harbor's host-agent failed: KeyError: 'lost'"
    assert next(step.what for step in rig.session.steps) == "one: "


async def test_main_dying_under_an_agent_ends_it_case_25(tmp_path: Path) -> None:
    rig = Rig(tmp_path, own("HostAgent", kwargs__commands='["kill -9 1", "never"]'))
    rig.session.provider.when("kill -9 1", 137, kills_environment=True)
    end = await rig.whole()
    assert end.note == "main is dead" and rig.session.issues == []
    assert not any("never" in words for words, _ in rig.commands)


async def test_time_being_up_ends_the_agent_at_once_and_its_steps_are_read_case_53(tmp_path: Path) -> None:
    rig = Rig(tmp_path, own("HostAgent", kwargs__commands='["one", "slow"]'))
    started = anyio.Event()

    async def begin(command: Command) -> None:
        started.set()

    rig.session.provider.when("slow", does=begin, forever=True)
    await rig.agent.set_up(rig.given)
    async with anyio.create_task_group() as group:
        group.start_soon(rig.agent.run, rig.given)
        await started.wait()
        group.cancel_scope.cancel()
    assert rig.session.provider.cancelled == ["bash -c slow"]
    await rig.agent.look_back(rig.given)
    assert [step.what for step in rig.session.steps] == ["one: "]


async def test_a_tasks_servers_and_skills_are_given_as_harbor_gives_them(tmp_path: Path) -> None:
    rig = Rig(tmp_path, own("Program"), toml=MCP)
    await rig.agent.set_up(rig.given)
    harbors = rig.agent._agent
    assert [(server.name, server.transport, server.url) for server in harbors.mcp_servers] == [
        ("docs", "sse", "http://docs/sse")
    ]
    assert harbors.skills_dir == "/skills"


async def test_a_header_gets_no_variable_of_the_host_that_nobody_allowed(tmp_path: Path) -> None:
    toml = MCP + 'headers = { Authorization = "Bearer ${DOCS_TOKEN}" }\n'
    rig = Rig(tmp_path, own("Program"), toml=toml)
    with pytest.raises(TrialFailed, match="asks for the host's DOCS_TOKEN") as caught:
        await rig.agent.set_up(rig.given)
    issue = caught.value.issue
    assert issue.code is Code.MCP_SERVER_FAILED
    assert issue.evidence[0].text == "allow it with --allow-host-env DOCS_TOKEN"


async def test_the_oracle_runs_the_solution_with_the_variables_that_were_allowed(tmp_path: Path) -> None:
    rig = Rig(
        tmp_path,
        arm(agent="oracle"),
        toml='[solution.env]\nTOKEN = "${HOST_TOKEN}"\n',
        files={"solution/solve.sh": "#!/bin/bash\n"},
        solution_env={"TOKEN": "allowed"},
    )
    rig.session.provider.when("/solution/solve.sh) >", 4)
    end = await rig.whole()
    (solve,) = [one for one in rig.session.provider.commands if "/solution/solve.sh) >" in one.text]
    assert solve.env["TOKEN"] == "allowed" and solve.env["DEBIAN_FRONTEND"] == "noninteractive"
    assert end.exit_code == 4


async def test_nop_does_nothing_and_costs_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path, arm(agent="nop"))
    end = await rig.whole()
    assert end.exit_code == 0 and rig.commands == [] and rig.session.steps == []


async def test_each_stage_has_an_agent_of_its_own(tmp_path: Path) -> None:
    which = own("HostAgent", kwargs__commands='["one"]')
    assert make_agent(which) is not make_agent(which)


async def test_the_way_to_the_gateway_is_open_before_the_set_up_and_closed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    rig = Rig(tmp_path, arm(agent="codex", model="openai/x", gateway="yes", kwargs__skip_install="true"))
    provider = rig.session.provider
    provider.when("command -v python3", out=b"/usr/bin/python3\n")
    provider.when("--detach", out=b'{"port": 5, "pid": 7}\n')
    provider.when("--stop 7")
    provider.when("CODEX_RUNTIME_ID", out=b"CODEX_RUNTIME_ID 0 0\n")
    await rig.agent.set_up(rig.given)
    await rig.agent.run(rig.given)
    words = [command.text for command in provider.commands]
    assert "/usr/bin/python3 -I /opt/trialdeck/forward/forward.py --detach /opt/trialdeck/model/socket" in words[1]
    assert words[-1].endswith("forward.py --stop 7")
    (work,) = [command for command in provider.commands if "codex exec" in command.text]
    assert "http://127.0.0.1:5/v1" in work.text + repr(work.env)
    assert (work.env or {})["NO_PROXY"] == "127.0.0.1,localhost"
    assert all(KEY not in command.text + repr(command.env) for command in provider.commands)


async def test_what_was_left_in_pieces_is_told_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROGRAM_API_KEY", KEY)
    rig = Rig(tmp_path, own("Program"))
    await rig.agent.set_up(rig.given)
    await rig.agent.run(rig.given)
    (rig.session.folder / "program.json").write_text("{half " + KEY)
    with pytest.raises(RuntimeError, match="JSONDecodeError") as caught:
        await rig.agent.look_back(rig.given)
    assert KEY not in str(caught.value)
    assert KEY not in (rig.session.folder / "program.json").read_text()
