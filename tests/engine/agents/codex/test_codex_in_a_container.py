"""The real Codex in containers without network, against a scripted model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.agents.arms import parse_arm
from engine.agents.capsules.capsule import Capsule, place_of
from engine.agents.capsules.codex import VERSION, tag_of
from engine.agents.capsules.node import NODE_TAG
from engine.agents.capsules.python_v1 import PYTHON_TAG
from engine.agents.codex.agent import HOME, SESSIONS, CodexAgent
from engine.environments.environment import ExecResult
from engine.issues import Code, TrialFailed
from engine.models.scripted.script import Done, Fail, Hang, Run, Script, Tokens, Use
from engine.models.settings import Wire
from engine.tasks.task import NetworkMode
from engine.trajectories.read import read_trajectory
from engine.trajectories.steps import Step
from tests.engine.agents.capsules.bare_image import bare_image
from tests.engine.agents.in_main.at_work import MARK, Work, at_work, time_up
from tests.engine.agents.mcp.in_main import start_servers, toml_of
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

ARM = "codex:model=some-model"
NODE = f"{place_of(NODE_TAG)}/bin/node"
HOSTILE = (
    "Don't run `reboot`; fix foo(bar) in \"a b.txt\" $HOME $(id) \\\\ !x\nEOF\n'; touch /pwned; '\nrun ü 😀;\r\n\n"
)
TOKENS = Tokens(tokens_in=2102, tokens_out=114, cached=1000, reasoning=20)
WRITES = Run(command="echo 42 > answer.txt; cat answer.txt", say="I write it.", tokens=TOKENS)
DONE = Done(text="It is written.", tokens=Tokens(tokens_in=2302, tokens_out=14, cached=2000))


@pytest.fixture
def capsules(built_capsules: Callable[..., list[Capsule]]) -> list[Capsule]:
    return built_capsules(tag_of(VERSION), PYTHON_TAG)


def last_said(body: Mapping[str, Any]) -> str:
    """The last text of the first request: what the user said."""
    texts = [part["text"] for item in body["input"] if item.get("role") == "user" for part in item["content"]]
    return str(texts[-1])


async def keep_logs(work: Work) -> None:
    """As the trial does it once the agent has ended."""
    await work.environment.download(SESSIONS, work.folder / Path(SESSIONS).name)


def steps_in(work: Work) -> list[Step]:
    found = read_trajectory(work.folder / "trajectory.json")
    assert found is not None and found.problems == ()
    return [step for step in found.steps if step.source == "agent"]


async def marked(work: Work) -> list[str]:
    """Processes in `main` that bear the agent's mark."""
    script = f'for one in /proc/[0-9]*; do grep -q {MARK} "$one/environ" && tr "\\0" " " < "$one/cmdline"; done; true'
    result = await work.environment.execute(["sh", "-c", script], timeout_sec=30)
    return [line for line in result.tail.splitlines() if line.strip()]


async def test_a_task_is_worked_on_and_told_step_by_step(rig: Rig, capsules: list[Capsule]) -> None:
    """Case 61: the instruction arrives as it is."""
    script = Script(turns=(WRITES, Run(command="setsid sleep 600 >/dev/null 2>&1 & exit 3", tokens=TOKENS), DONE))
    async with at_work(
        rig, parse_arm(ARM), Wire.OPENAI_RESPONSES, script, capsules, instruction=HOSTILE.encode()
    ) as work:
        end = await work.do()
        assert (end.exit_code, end.note, work.issues) == (0, "completed", [])
        assert await work.said("cat", "answer.txt") == "42\n"
        assert await work.said("sh", "-c", "test ! -e /pwned && echo safe") == "safe\n"
        got = last_said(work.bodies[0]).encode()
        assert hashlib.sha256(got).hexdigest() == hashlib.sha256(HOSTILE.encode()).hexdigest()
        assert {body["model"] for body in work.bodies} == {"some-model"}
        assert not any("web_search" in json.dumps(body["tools"]) for body in work.bodies)
        assert all("authorization" not in heard.headers for heard in work.server.asked)
        assert [step.what for step in work.steps] == [
            "I write it.",
            "shell: setsid sleep 600 >/dev/null 2>&1 & exit 3",
            "It is written.",
        ]
        assert "step 1 · shell: echo 42 > answer.txt; cat answer.txt" in work.activities
        while_working = steps_in(work)
        assert while_working[1].observations[0].exit_code == 3
        assert isinstance(work.agent, CodexAgent) and work.agent.version == VERSION
        await keep_logs(work)
        await work.agent.look_back(work.given)
        afterwards = steps_in(work)
        assert [(step.tokens_in, step.tokens_cached, step.tokens_out) for step in afterwards] == [
            (2102, 1000, 114),
            (2102, 1000, 114),
            (2302, 2000, 14),
        ]
        assert [step.message for step in afterwards] == [step.message for step in while_working]
        assert [change.path for change in await work.environment.changes()] == ["/answer.txt"]
        left = await marked(work)  # a server lives on, the way to the model does not
        assert ["sleep" in line for line in left] == [True]


async def test_an_image_with_next_to_nothing_and_a_user_without_rights_will_do(
    rig: Rig, capsules: list[Capsule], tmp_path: Path
) -> None:
    script = Script(turns=(Run(command="echo 42 > /tmp/answer.txt; echo $0", tokens=TOKENS), DONE))
    image = bare_image(tmp_path / "image")
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_RESPONSES, script, capsules, image=image, user="agent") as work:
        assert (await work.do()).exit_code == 0
        assert await work.said("cat", "/tmp/answer.txt") == "42\n"


async def test_the_agent_of_a_later_step_may_be_another_user(rig: Rig, capsules: list[Capsule]) -> None:
    script = Script(turns=(DONE,))
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_RESPONSES, script, capsules) as work:
        assert (await work.do()).exit_code == 0
        await work.said("rm", "-rf", SESSIONS)  # between steps the trial empties the logs

        async def as_nobody(command: Sequence[str], **how: Any) -> ExecResult:
            return await execute(command, **{"user": "nobody", **how})

        execute = work.given.execute
        work.agent = CodexAgent(work.given.arm)
        work.given = msgspec.structs.replace(work.given, user="nobody", execute=as_nobody)
        assert (await work.do()).exit_code == 0
        assert work.issues == [] and "could not" not in work.log


async def test_what_the_image_says_of_proxies_and_of_its_own_python_is_nothing_to_it(
    rig: Rig, capsules: list[Capsule]
) -> None:
    dockerfile = (
        "FROM debian:bookworm-slim\nENV HTTP_PROXY=http://127.0.0.1:1 http_proxy=http://127.0.0.1:1"
        " ALL_PROXY=http://127.0.0.1:1 NO_PROXY=example.org PYTHONHOME=/nowhere\n"
    )
    script = Script(turns=(Run(command="echo $NO_PROXY $HTTP_PROXY", tokens=TOKENS), DONE))
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_RESPONSES, script, capsules, dockerfile=dockerfile) as work:
        assert (await work.do()).exit_code == 0
        observed = [observation.text for step in steps_in(work) for observation in step.observations]
        assert observed == ["example.org,127.0.0.1,localhost http://127.0.0.1:1\n"]


async def test_mcp_servers_of_both_kinds_and_the_task_s_skills_are_there(
    rig: Rig, built_capsules: Callable[..., list[Capsule]]
) -> None:
    dockerfile = """
        FROM debian:bookworm-slim
        ENV PATH=/opt/tools:$PATH
        RUN mkdir -p /skills/greeting && printf '%s\\n' --- 'name: greeting' 'description: Says xyzzy.' --- Hello. \\
            > /skills/greeting/SKILL.md
    """
    script = Script(
        turns=(
            Use(tool="add", arguments={"a": 1, "b": 1}),
            Run(command="echo $PATH", tokens=TOKENS),
            DONE,
        )
    )
    toml = '[environment]\nskills_dir = "/skills"\n' + toml_of(NODE, "stdio", "streamable-http")
    arm = parse_arm(f"{ARM},setup_capsule_tag={NODE_TAG}")
    capsules = built_capsules(tag_of(VERSION), NODE_TAG)
    async with at_work(rig, arm, Wire.OPENAI_RESPONSES, script, capsules, toml=toml, dockerfile=dockerfile) as work:
        await start_servers(work.environment, NODE)
        assert (await work.do()).exit_code == 0
        spaces = {tool["name"] for tool in work.bodies[0]["tools"] if tool.get("type") == "namespace"}
        assert {"mcp__stdio_sums", "mcp__streamable_http_sums"} <= {name.replace("-", "_") for name in spaces}
        observed = [observation.text for step in steps_in(work) for observation in step.observations]
        assert observed[0] == "the sum is 2" and "/opt/tools:" in observed[1]
        assert "xyzzy" in json.dumps(work.bodies[0]) and work.issues == []


async def test_a_server_of_the_task_that_cannot_start_is_said_and_not_left_out(
    rig: Rig, capsules: list[Capsule]
) -> None:
    toml = '[[environment.mcp_servers]]\nname = "gone"\ntransport = "stdio"\ncommand = "/nowhere"\n'
    script = Script(turns=(DONE,))
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_RESPONSES, script, capsules, toml=toml) as work:
        assert (await work.do()).exit_code == 1
        [issue] = work.issues
        assert issue.code is Code.MCP_SERVER_FAILED and issue.message.endswith("(gone)") and work.bodies == []
        assert issue.evidence[1].text == "gone: its command /nowhere is not in main, or can't be run there"


async def test_a_key_that_is_not_accepted_ends_it_at_once(rig: Rig, capsules: list[Capsule]) -> None:
    script = Script(turns=(Fail(status=401, times=0),))
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_RESPONSES, script, capsules) as work:
        await work.do()
        assert [issue.code for issue in work.issues] == [Code.MODEL_AUTH_FAILED]
        assert len(work.bodies) <= 2 and await marked(work) == []


async def test_when_time_is_up_all_of_it_is_dead_and_what_it_did_is_known(rig: Rig, capsules: list[Capsule]) -> None:
    script = Script(turns=(WRITES, Hang()))
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_RESPONSES, script, capsules) as work:
        await time_up(rig, work, '"exit_code":0')
        assert await marked(work) == []
        [step] = steps_in(work)
        assert step.message == "I write it." and [told.what for told in work.steps] == ["I write it."]
        assert isinstance(work.agent, CodexAgent)
        await keep_logs(work)
        await work.agent.look_back(work.given)
        assert [step.tokens_in for step in steps_in(work)] == [2102]


@pytest.mark.parametrize("instruction", [b"a\xff\xfe", b" \n"])
async def test_what_codex_would_not_take_as_it_is_is_refused_before_the_clock_starts(
    rig: Rig, capsules: list[Capsule], instruction: bytes
) -> None:
    """Case 61: no byte is changed in silence."""
    script = Script(turns=(DONE,))
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_RESPONSES, script, capsules, instruction=instruction) as work:
        with pytest.raises(TrialFailed) as caught:
            await work.agent.set_up(work.given)
        assert caught.value.issue.code is Code.AGENT_SETUP_FAILED and "instruction" in caught.value.issue.message


async def test_npm_installs_it_where_there_is_a_network(rig: Rig, built_capsules: Callable[..., list[Capsule]]) -> None:
    arm = parse_arm(f"{ARM},install=npm,setup_capsule_tag={NODE_TAG}")
    capsules = built_capsules(NODE_TAG)
    script = Script(turns=(WRITES, DONE))
    async with at_work(rig, arm, Wire.OPENAI_RESPONSES, script, capsules, network=NetworkMode.PUBLIC) as work:
        try:
            end = await work.do()
        except TrialFailed as failed:
            if any(
                word in str(failed.issue.evidence) for word in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT")
            ):
                pytest.skip("the npm registry can't be reached from a container")
            raise
        assert end.exit_code == 0 and await work.said("cat", "answer.txt") == "42\n"
        assert isinstance(work.agent, CodexAgent) and work.agent.version == VERSION
        assert await work.said("ls", HOME)
