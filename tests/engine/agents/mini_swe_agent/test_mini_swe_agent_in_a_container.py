"""The real mini-swe-agent in containers without network, against a scripted model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.agents.arms import parse_arm
from engine.agents.capsules.capsule import Capsule
from engine.agents.capsules.mini_swe_agent import VERSION, tag_of
from engine.agents.mini_swe_agent.agent import TRAJECTORY, MiniSweAgent
from engine.issues import Code, TrialFailed
from engine.models.scripted.script import Done, Fail, Filter, Hang, Run, Script, Tokens
from engine.models.settings import Wire
from engine.trajectories.read import read_trajectory
from engine.trajectories.steps import Step
from tests.engine.agents.capsules.bare_image import bare_image
from tests.engine.agents.in_main.at_work import MARK, Work, at_work, time_up
from tests.engine.environments.rig import Rig

PROXIES = (
    "FROM debian:bookworm-slim\nENV HTTP_PROXY=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1 PYTHONHOME=/nowhere\n"
)
"""None of them is for the way to the model."""

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

ARM = "mini_swe_agent:model=some-model"
HOSTILE = (
    "Don't run `reboot`; fix foo(bar) in \"a b.txt\" $HOME $(id) \\\\ !x {{ 1 }}\nEOF\n'; touch /pwned; '\nrun ü 😀;"
)
WRITES = Run(
    command="echo 42 > answer.txt; cat answer.txt",
    say="I write it.",
    tokens=Tokens(tokens_in=2102, tokens_out=114, cached=1000, reasoning=20),
)
DONE = Done(text="It is written.", tokens=Tokens(tokens_in=2302, tokens_out=14, cached=2000))


@pytest.fixture
def capsules(built_capsules: Callable[..., list[Capsule]]) -> list[Capsule]:
    return built_capsules(tag_of(VERSION))


def texts(value: object) -> list[str]:
    """Every text in a request."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for each in value.values() for text in texts(each)]
    return [text for each in value for text in texts(each)] if isinstance(value, list) else []


def instruction_in(body: Mapping[str, Any]) -> str:
    """What stands between the words of its prompt."""
    [said] = [text for text in texts(body) if "Please solve this issue: " in text]
    rest = said.split("Please solve this issue: ", 1)[1]
    return rest.split("\n\nYou can execute bash commands", 1)[0]


def steps_in(work: Work) -> list[Step]:
    found = read_trajectory(work.folder / "trajectory.json")
    assert found is not None and found.problems == ()
    return [step for step in found.steps if step.source == "agent"]


async def marked(work: Work) -> str:
    """Processes in `main` that bear the agent's mark."""
    script = f'for one in /proc/[0-9]*; do grep -q {MARK} "$one/environ" && tr "\\0" " " < "$one/cmdline"; done; true'
    return (await work.environment.execute(["sh", "-c", script], timeout_sec=30)).tail


@pytest.mark.parametrize("wire", list(Wire))
async def test_a_task_is_worked_on_in_every_protocol_and_told_step_by_step(
    rig: Rig, capsules: list[Capsule], wire: Wire
) -> None:
    """Case 61: the instruction arrives as it is."""
    arm = parse_arm(f"{ARM},protocol={wire},effort=high,temperature=0.2,max_output_tokens=9000")
    script = Script(turns=(WRITES, Run(command="setsid sleep 600 >/dev/null 2>&1 & exit 3"), DONE))
    settings = {"effort": "high", "temperature": 0.2, "max_output_tokens": 9000}
    async with at_work(rig, arm, wire, script, capsules, instruction=HOSTILE.encode(), settings=settings) as work:
        end = await work.do()
        assert (end.exit_code, end.note, work.issues) == (0, "Submitted", [])
        assert await work.said("cat", "answer.txt") == "42\n"
        got = instruction_in(work.bodies[0]).encode()
        assert hashlib.sha256(got).hexdigest() == hashlib.sha256(HOSTILE.encode()).hexdigest()
        assert {body["model"] for body in work.bodies} == {"some-model"}
        asked = {text for key, value in work.bodies[0].items() if key != "messages" for text in texts(value)}
        assert "high" in asked and work.bodies[0]["temperature"] == 0.2
        assert 9000 in work.bodies[0].values()
        assert [step.what for step in work.steps] == [
            "I write it.",
            "bash: setsid sleep 600 >/dev/null 2>&1 & exit 3",
            "It is written.",
        ]
        first = work.steps[0]
        assert (first.tokens_in, first.tokens_cached, first.tokens_out, first.cost_usd) == (2102, 1000, 114, None)
        assert "step 1 · bash: echo 42 > answer.txt; cat answer.txt" in work.activities
        assert [len(step.calls) for step in steps_in(work)] == [1, 1, 1]
        assert isinstance(work.agent, MiniSweAgent) and work.agent.version == VERSION
        left = await marked(work)  # a server lives on, the way to the model does not
        assert "sleep" in left and "forward" not in left


async def test_an_image_with_next_to_nothing_and_a_user_without_rights_will_do_up_to_a_limit(
    rig: Rig, capsules: list[Capsule], tmp_path: Path
) -> None:
    """Nothing of the Python that it brings gets into the environment of the commands that it runs."""
    script = Script(turns=(Run(command="echo 42 > /tmp/answer.txt; set"), Run(command="sleep 30"), DONE))
    image = bare_image(tmp_path / "image")
    arm = parse_arm(f"{ARM},step_limit=2,command_timeout_sec=6")
    async with at_work(rig, arm, Wire.OPENAI_CHAT, script, capsules, image=image, user="agent") as work:
        end = await work.do()
        assert (end.exit_code, end.note, len(work.bodies)) == (0, "LimitsExceeded", 2)
        assert [issue.code for issue in work.issues] == [Code.AGENT_LIMIT_REACHED]
        assert await work.said("cat", "/tmp/answer.txt") == "42\n"
        first, second = (step.observations[0].text for step in steps_in(work))
        assert "MSWEA_CONFIGURED" in first and "PYTHON" not in first and "LD_LIBRARY_PATH" not in first
        assert "timed out after 6 s" in second
        await work.environment.download(TRAJECTORY, work.folder / Path(TRAJECTORY).name)
        own = read_trajectory(work.folder / Path(TRAJECTORY).name)
        assert own is not None and own.ended == "LimitsExceeded" and own.agent_version == VERSION


async def test_a_rate_limit_is_waited_for_and_a_filter_is_not_tried_again(rig: Rig, capsules: list[Capsule]) -> None:
    """Cases 62 and 64."""
    script = Script(turns=(Fail(status=429, headers={"retry-after": "1"}), WRITES, Filter(times=0)))
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_CHAT, script, capsules, dockerfile=PROXIES) as work:
        end = await work.do()
        assert end.exit_code == 1 and await work.said("cat", "answer.txt") == "42\n"
        assert [issue.code for issue in work.issues] == [Code.MODEL_FILTERED]
        assert len(work.bodies) == 3


async def test_when_time_is_up_all_of_it_is_dead_and_what_it_did_is_known(rig: Rig, capsules: list[Capsule]) -> None:
    script = Script(turns=(WRITES, Hang()))
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_CHAT, script, capsules) as work:
        await time_up(rig, work, '"role": "tool"')
        assert (await marked(work)).strip() == ""
        [step] = steps_in(work)
        assert step.observations[0].exit_code == 0 and [told.what for told in work.steps] == ["I write it."]


async def test_an_instruction_that_is_no_text_is_refused_before_the_clock_starts(
    rig: Rig, capsules: list[Capsule]
) -> None:
    """Case 61: no byte is changed in silence."""
    script = Script(turns=(DONE,))
    async with at_work(rig, parse_arm(ARM), Wire.OPENAI_CHAT, script, capsules, instruction=b"a\xff\xfe") as work:
        with pytest.raises(TrialFailed) as caught:
            await work.agent.set_up(work.given)
        assert caught.value.issue.code is Code.AGENT_SETUP_FAILED and "UTF-8" in caught.value.issue.message
