"""oracle, nop and command: what they bring in, and what they run."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from engine.agents.agent import INSTRUCTION_PATH
from engine.agents.registry import make_agent
from engine.events import ArmInfo
from engine.issues import Code, TrialFailed
from tests.engine.agents.sessions import Session
from tests.engine.tasks.task_folders import write_files

pytestmark = pytest.mark.anyio

ORACLE = ArmInfo(name="oracle", agent="oracle")
ODD = [
    b'Don\'t run `reboot`; fix foo(bar) in "a b.txt" $HOME $(id) \\ !x\n',
    b"EOF\n",
    b"'; touch /pwned; '",
    b"run the tests;",
    b"",
    b"\x00\xff\xfe\r\n not text at all",
    b"Fix it.\n" + b"x" * 200_000,
]


def command_arm(run: str) -> ArmInfo:
    return ArmInfo(name="mine", agent="command", parameters={"run": run})


@pytest.mark.parametrize("instruction", ODD, ids=range(len(ODD)))
async def test_the_agent_gets_the_instruction_byte_for_byte_cases_26_and_61(tmp_path: Path, instruction: bytes) -> None:
    session = Session(tmp_path, command_arm("./agent.sh"), instruction=instruction)
    agent = make_agent(session.given.arm)
    await agent.set_up(session.given)
    await agent.run(session.given)
    (command,) = session.provider.commands
    wanted = hashlib.sha256(instruction).hexdigest()
    assert hashlib.sha256(command.stdin or b"").hexdigest() == wanted
    assert hashlib.sha256(session.environment.read(INSTRUCTION_PATH)).hexdigest() == wanted
    assert command.words == ("bash", "-c", "./agent.sh")
    assert command.env == {"TRIALDECK_INSTRUCTION": INSTRUCTION_PATH}


@pytest.mark.parametrize("run", ["python3 - <<'EOF'\nprint(1)\nEOF", 'echo "two\nlines"', "it's fine", "\n\n  leading"])
async def test_a_command_of_any_quoting_is_run_as_it_is(tmp_path: Path, run: str) -> None:
    session = Session(tmp_path, command_arm(run))
    session.provider.when(run, 3)
    end = await make_agent(session.given.arm).run(session.given)
    assert end.exit_code == 3
    assert session.provider.commands[0].words[-1] == run
    assert session.activities == [run.split()[0]]


async def test_the_oracle_brings_the_solution_and_runs_it_with_its_variables(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        "solution/solve.sh": b"# canary\r\n#!/bin/bash\r\necho done\r\n",
        "solution/data.txt": "d",
    }
    session = Session(tmp_path, ORACLE, files=files, solution_env={"KEY": "v", "DEBIAN_FRONTEND": "readline"})
    agent = make_agent(ORACLE)
    await agent.set_up(session.given)
    session.provider.when("/solution/solve.sh", 5)
    assert (await agent.run(session.given)).exit_code == 5
    assert session.environment.read("/solution/data.txt") == b"d"
    assert session.environment.read("/solution/solve.sh").startswith(b"#!/bin/bash\n")
    assert session.environment.place("/solution/solve.sh").stat().st_mode & 0o777 == 0o755
    assert session.provider.commands[0].env == {"DEBIAN_FRONTEND": "readline", "KEY": "v"}


async def test_the_oracle_of_a_step_takes_the_steps_own_solution(tmp_path: Path) -> None:
    toml = '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n'
    files: dict[str, str | bytes | None] = {
        "steps/one/instruction.md": "1",
        "steps/two/instruction.md": "2",
        "solution/solve.sh": "common",
        "steps/two/solution/solve.sh": "own",
    }
    for step, expected in (("one", b"common"), ("two", b"own")):
        place = tmp_path / step
        place.mkdir()
        session = Session(place, ORACLE, toml=toml, files=files, step=step)
        await make_agent(ORACLE).set_up(session.given)
        assert session.environment.read("/solution/solve.sh") == expected


async def test_the_oracle_without_a_solution_says_which_file_is_missing(tmp_path: Path) -> None:
    session = Session(tmp_path, ORACLE)
    with pytest.raises(TrialFailed) as caught:
        await make_agent(ORACLE).set_up(session.given)
    assert caught.value.issue.code is Code.AGENT_SETUP_FAILED
    assert "solution/solve.sh" in caught.value.issue.message
    write_files(tmp_path / "task", {"solution/README": "no script"})


async def test_nop_does_nothing_at_all_case_52(tmp_path: Path) -> None:
    session = Session(tmp_path, ArmInfo(name="nop", agent="nop"))
    agent = make_agent(session.given.arm)
    await agent.set_up(session.given)
    assert (await agent.run(session.given)).exit_code is None
    assert session.provider.calls == []
