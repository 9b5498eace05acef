"""The real Claude Code in a container without network, against a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from engine.agents.arms import parse_arm
from engine.agents.capsules.capsule import Capsule, place_of
from engine.agents.capsules.claude_code import VERSION, tag_of
from engine.agents.capsules.node import NODE_TAG
from engine.agents.claude_code import ClaudeCodeAgent
from engine.agents.claude_code_parameters import CONFIG, DUMMY_KEY
from engine.issues import Code, Issue, TrialFailed
from engine.models.model_call import CostSource
from engine.models.scripted.script import ContextFull, Done, Fail, Hang, Refuse, Run, Script, Tokens, Turn, Use
from engine.models.settings import Wire
from engine.tasks.task import NetworkMode
from engine.trajectories.read import read_trajectory
from engine.trajectories.steps import Step
from tests.engine.agents.capsules.bare_image import bare_image
from tests.engine.agents.in_main.at_work import MARK, Work, at_work
from tests.engine.agents.mcp.in_main import start_servers, toml_of
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

MODEL = "claude-sonnet-4-5"
ARM = f"claude_code:model={MODEL}"
NODE = f"{place_of(NODE_TAG)}/bin/node"
HOSTILE = "Don't run `reboot`; fix foo(bar) in \"a b.txt\" $HOME $(id) \\\\ !x\nEOF\n'; touch /pwned; '\nrun ü 😀;\n"
WRITES = Run(
    command="echo 42 > answer.txt; cat answer.txt",
    say="I write it.",
    tokens=Tokens(tokens_in=2102, tokens_out=114, cached=1000, cache_written=50),
)
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")
DONE = Done(text="It is written.", tokens=Tokens(tokens_in=2302, tokens_out=14, cached=2000))


@pytest.fixture
def capsules(built_capsules: Callable[..., list[Capsule]]) -> list[Capsule]:
    return built_capsules(tag_of(VERSION), NODE_TAG)


def told(body: Mapping[str, Any]) -> list[str]:
    """Texts of the first thing that the user said."""
    content = body["messages"][0]["content"]
    return [content] if isinstance(content, str) else [block["text"] for block in content if block["type"] == "text"]


async def keep_logs(work: Work) -> None:
    """As the trial does it once the agent has ended."""
    await work.environment.download(CONFIG, work.folder / Path(CONFIG).name)


def steps_in(work: Work) -> list[Step]:
    found = read_trajectory(work.folder / "trajectory.json")
    assert found is not None and found.problems == ()
    return [step for step in found.steps if step.source == "agent"]


def only(issues: list[Issue], code: Code) -> Issue:
    [found] = [issue for issue in issues if issue.code is code]
    return found


def line_of(work: Work, issue: Issue) -> dict[str, Any]:
    """The record that an issue's evidence points to."""
    evidence = issue.evidence[0]
    assert evidence.file == "agent/claude_code.txt"
    record: dict[str, Any] = json.loads(work.log.splitlines()[evidence.line - 1])
    return record


async def test_a_task_is_worked_on_and_told_step_by_step(rig: Rig, capsules: list[Capsule]) -> None:
    """Case 61: the instruction arrives as it is."""
    script = Script(turns=(WRITES, Run(command="exit 3"), DONE))
    async with at_work(rig, parse_arm(ARM), Wire.ANTHROPIC, script, capsules, instruction=HOSTILE.encode()) as work:
        assert (await work.do()).exit_code == 0
        assert await work.said("cat", "answer.txt") == "42\n"
        assert await work.said("sh", "-c", "test ! -e /pwned && echo safe") == "safe\n"
        assert any(text.strip() == HOSTILE.strip() for text in told(work.bodies[0]))
        assert {body["model"] for body in work.bodies} == {MODEL}
        assert [step.what for step in work.steps] == ["I write it.", "Bash: exit 3", "It is written."]
        assert (work.steps[0].tokens_in, work.steps[0].tokens_cached, work.steps[0].tokens_out) == (2102, 1000, None)
        assert work.steps[-1].cost_source is CostSource.AGENT and work.steps[-1].cost_usd
        assert "step 2 · Bash: exit 3" in work.activities and work.issues == []
        while_working = steps_in(work)
        assert [len(step.calls) for step in while_working] == [1, 1, 0]
        assert while_working[1].observations[0].exit_code == 3
        assert isinstance(work.agent, ClaudeCodeAgent)
        await keep_logs(work)
        await work.agent.look_back(work.given)
        afterwards = steps_in(work)
        assert [step.tokens_out for step in afterwards[::2]] == [114, 14]
        assert [step.calls for step in afterwards] == [step.calls for step in while_working]
        assert afterwards[-1].cost_usd == work.steps[-1].cost_usd
        assert [change.path for change in await work.environment.changes()] == ["/answer.txt"]
        running = await work.environment.execute(["sh", "-c", f"grep -l {MARK} /proc/[0-9]*/environ"], timeout_sec=30)
        assert "environ" not in running.tail.replace("/proc/self", "")


async def test_no_key_gets_into_main_or_out_of_it(rig: Rig, capsules: list[Capsule]) -> None:
    async with at_work(rig, parse_arm(ARM), Wire.ANTHROPIC, Script(turns=(Run(command="env"), DONE)), capsules) as work:
        await work.do()
        assert DUMMY_KEY in work.log  # what it sees of a key is this
        assert {heard.headers.get("x-api-key") for heard in work.server.asked} == {"***"}
        seen = await work.said("sh", "-c", f"cat {CONFIG}/.claude.json")
        assert "primaryApiKey" not in seen


@pytest.mark.parametrize("text", ["/compact the log, then fix /app/x.py", "/app/x.py is broken", "# A heading\n\n- !x"])
async def test_an_instruction_that_looks_like_a_command_of_the_cli_reaches_the_model(
    rig: Rig, capsules: list[Capsule], text: str
) -> None:
    """Case 61: else the CLI takes it for its own, answers by itself, and no model is ever asked."""
    async with at_work(
        rig, parse_arm(ARM), Wire.ANTHROPIC, Script(turns=(DONE,)), capsules, instruction=text.encode()
    ) as work:
        await work.do()
        assert any(said.strip() == text for said in told(work.bodies[0]))


async def test_every_kind_of_mcp_server_and_the_task_s_skills_are_there(rig: Rig, capsules: list[Capsule]) -> None:
    dockerfile = """
        FROM debian:bookworm-slim
        RUN mkdir -p /skills/greeting && printf '%s\\n' --- 'name: greeting' 'description: Says xyzzy.' --- Hello. \\
            > /skills/greeting/SKILL.md
    """
    script = Script(
        turns=(
            Use(tool="mcp__stdio-sums__add", arguments={"a": 1, "b": 1}),
            Use(tool="mcp__streamable-http-sums__add", arguments={"a": 2, "b": 2}),
            Use(tool="mcp__sse-sums__add", arguments={"a": 3, "b": 3}),
            DONE,
        )
    )
    toml = '[environment]\nskills_dir = "/skills"\n' + toml_of(NODE, "stdio", "streamable-http", "sse")
    async with at_work(rig, parse_arm(ARM), Wire.ANTHROPIC, script, capsules, toml=toml, dockerfile=dockerfile) as work:
        await start_servers(work.environment, NODE)
        assert (await work.do()).exit_code == 0
        results = [observation.text for step in steps_in(work) for observation in step.observations]
        assert results == ["the sum is 2", "the sum is 4", "the sum is 6"]
        assert "xyzzy" in json.dumps(work.bodies[0]) and work.issues == []


async def test_a_server_that_cant_be_reached_is_told_with_its_name(rig: Rig, capsules: list[Capsule]) -> None:
    toml = toml_of(NODE, "sse")  # which nobody starts
    async with at_work(rig, parse_arm(ARM), Wire.ANTHROPIC, Script(turns=(DONE,)), capsules, toml=toml) as work:
        await work.do()
        issue = only(work.issues, Code.MCP_SERVER_FAILED)
        assert "sse-sums (failed)" in issue.message and len(issue.evidence) == 1
        assert line_of(work, issue)["mcp_servers"][0]["name"] == "sse-sums"


async def test_a_header_that_is_a_secret_of_the_host_s_reaches_its_server_and_no_file_of_the_trial(
    rig: Rig, capsules: list[Capsule]
) -> None:
    secret = "a-secret-of-the-host"
    toml = toml_of(NODE, "sse") + 'headers = { X-Token = "${SUMS_TOKEN}" }\n'
    image = {"allowed_host_env": {"SUMS_TOKEN": secret}}
    script = Script(turns=(Use(tool="mcp__sse-sums__add", arguments={"a": 3, "b": 3}), DONE))
    async with at_work(rig, parse_arm(ARM), Wire.ANTHROPIC, script, capsules, toml=toml, image=image) as work:
        await start_servers(work.environment, NODE)
        await work.do()
        assert steps_in(work)[0].observations[0].text == "the sum is 6"
        assert secret in await work.said("cat", "/tmp/mcp-headers")
        await keep_logs(work)
        kept = [path for path in work.folder.rglob("*") if path.is_file()]
        assert len(kept) > 3 and not any(secret.encode() in path.read_bytes() for path in kept)


async def test_a_skills_folder_that_is_not_in_the_image_is_no_trial(rig: Rig, capsules: list[Capsule]) -> None:
    toml = '[environment]\nskills_dir = "/nowhere"\n'
    async with at_work(rig, parse_arm(ARM), Wire.ANTHROPIC, Script(turns=(DONE,)), capsules, toml=toml) as work:
        with pytest.raises(TrialFailed, match="/nowhere"):
            await work.do()
        assert work.bodies == []


async def test_its_limit_of_turns_is_a_limit_and_no_failure(rig: Rig, capsules: list[Capsule]) -> None:
    """Case 71."""
    script = Script(turns=(WRITES, Run(command="true"), DONE))
    async with at_work(rig, parse_arm(f"{ARM},max_turns=1"), Wire.ANTHROPIC, script, capsules) as work:
        assert (await work.do()).exit_code == 1
        issue = only(work.issues, Code.AGENT_LIMIT_REACHED)
        assert line_of(work, issue)["subtype"] == "error_max_turns"
        assert await work.said("cat", "answer.txt") == "42\n"


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        (Fail(status=429, times=0), Code.MODEL_RATE_LIMITED),
        (Fail(status=529, times=0), Code.MODEL_OVERLOADED),
        (Fail(status=500, times=0), Code.MODEL_FAILED),
        (Fail(status=401, times=0), Code.MODEL_AUTH_FAILED),
        (ContextFull(times=0), Code.MODEL_CONTEXT_FULL),
        (Refuse(times=0), Code.MODEL_REFUSED),
    ],
    ids=lambda value: str(getattr(value, "status", "")) or type(value).__name__ if isinstance(value, Turn) else value,
)
async def test_how_the_model_failed_is_told_with_the_record_that_says_so(
    rig: Rig, capsules: list[Capsule], turn: Turn, code: Code
) -> None:
    """Cases 62 and 64."""
    arm = parse_arm(f"{ARM},max_retries=0")
    async with at_work(rig, arm, Wire.ANTHROPIC, Script(turns=(turn,)), capsules) as work:
        assert (await work.do()).exit_code == 1
        assert line_of(work, only(work.issues, code))["is_error"] is True
        assert [issue.code for issue in work.issues] == [code]


async def test_a_try_again_is_what_the_trial_does_at_that_time(rig: Rig, capsules: list[Capsule]) -> None:
    script = Script(turns=(Fail(status=529), DONE))
    async with at_work(rig, parse_arm(ARM), Wire.ANTHROPIC, script, capsules) as work:
        assert (await work.do()).exit_code == 0
        assert any("529 overloaded · try 2 of 9" in activity for activity in work.activities)
        assert work.issues == []


async def test_what_it_did_counts_when_its_time_is_up(rig: Rig, capsules: list[Capsule]) -> None:
    script = Script(turns=(WRITES, Hang(times=0)))
    async with at_work(rig, parse_arm(ARM), Wire.ANTHROPIC, script, capsules) as work:
        worked = anyio.Event()

        def activity(words: str) -> None:
            if "Bash" in words:
                worked.set()

        given = msgspec.structs.replace(work.given, activity=activity)
        await work.agent.set_up(given)
        async with anyio.create_task_group() as group:
            group.start_soon(work.agent.run, given)
            await work.server.heard(2)
            await worked.wait()
            group.cancel_scope.cancel()
        assert [step.what for step in work.steps] == ["I write it."]
        assert [step.calls[0].tool for step in steps_in(work)] == ["Bash"]
        assert isinstance(work.agent, ClaudeCodeAgent)
        await keep_logs(work)
        await work.agent.look_back(given)
        assert [step.calls[0].tool for step in steps_in(work)] == ["Bash"]


@pytest.mark.parametrize("user", ["0", "1000", "4242"])
async def test_it_works_in_an_image_that_has_nothing(
    rig: Rig, capsules: list[Capsule], tmp_path: Path, user: str
) -> None:
    """Case 65: no certificates in it, and none are needed."""
    script = Script(turns=(Run(command="echo $((6*7)) > /tmp/answer.txt; echo $BASH_VERSION"), DONE))
    image = bare_image(tmp_path / "image")
    async with at_work(rig, parse_arm(ARM), Wire.ANTHROPIC, script, capsules, image=image, user=user) as work:
        assert (await work.do()).exit_code == 0, work.log
        assert await work.said("cat", "/tmp/answer.txt") == "42\n"
        assert steps_in(work)[0].observations[0].text.startswith("5.")


async def test_node_of_the_capsule_is_for_the_agent_where_the_arm_asks_for_it(
    rig: Rig, capsules: list[Capsule]
) -> None:
    script = Script(turns=(Run(command="node -p 6*7; npx --version"), DONE))
    arm = parse_arm(f"{ARM},setup_capsule_tag={NODE_TAG}")
    async with at_work(rig, arm, Wire.ANTHROPIC, script, capsules) as work:
        await work.do()
        assert steps_in(work)[0].observations[0].text.startswith("42\n")


async def test_what_an_arm_asks_for_reaches_the_model(rig: Rig, capsules: list[Capsule]) -> None:
    words = "Answer in verse, always."
    arm = parse_arm(
        f"{ARM},append_system_prompt={words.replace(',', chr(92) + ',')},tools=Bash Read,disallowed_tools=Read"
    )
    settings = {"effort": "low", "max_output_tokens": 4321}
    async with at_work(rig, arm, Wire.ANTHROPIC, Script(turns=(DONE,)), capsules, settings=settings) as work:
        assert (await work.do()).exit_code == 0
        body = work.bodies[0]
        assert words in json.dumps(body["system"]) and body["max_tokens"] == 4321
        assert [tool["name"] for tool in body["tools"]] == ["Bash"]


async def test_npm_installs_it_in_main_where_the_arm_asks_for_it(
    rig: Rig, built_capsules: Callable[..., list[Capsule]]
) -> None:
    arm = parse_arm(f"{ARM},install=npm,setup_capsule_tag={NODE_TAG}")
    script = Script(turns=(WRITES, DONE))
    async with at_work(rig, arm, Wire.ANTHROPIC, script, built_capsules(NODE_TAG), network=NetworkMode.PUBLIC) as work:
        try:
            end = await work.do()
        except TrialFailed as failure:
            said = " ".join(evidence.text for evidence in failure.issue.evidence)
            if any(word in said for word in UNREACHABLE):
                pytest.skip("the npm registry can't be reached from a container here")
            raise
        assert end.exit_code == 0
        assert await work.said("cat", "answer.txt") == "42\n"
