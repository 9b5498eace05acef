"""A terminal in a real container: what is typed arrives, and what was started lives or dies as it must."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from engine.agents.agent import MARK_NAME, AgentSession
from engine.agents.capsules.build import find_or_build
from engine.agents.terminus2.agent import Terminus2Agent
from engine.environments.docker.environment import DockerEnvironment
from engine.events import ArmInfo
from engine.issues import Code, Issue, TrialFailed
from engine.tasks.folder import read_task
from engine.tasks.task import NetworkMode, NetworkPolicy
from tests.engine.agents.as_agent import AsAgent
from tests.engine.agents.terminus2.model import DONE, FakeModel, says
from tests.engine.environments.rig import Rig
from tests.engine.tasks.task_folders import make_task

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

MARK = "some-trial"
HOSTILE = (
    'Don\'t run `reboot`; fix foo(bar) in "a b.txt" $HOME $(id) \\\\ !x !!\n'
    "\tindented with a tab\tand another\n"
    "'; touch /pwned; ' é 漢字 \U0001f600\n"
    "a percent % and a hash # and a tilde ~ and C-c and Enter\n"
    "run the tests;"
)
"""Case 61."""
NO_NETWORK = NetworkPolicy(mode=NetworkMode.NO_NETWORK)


class Desk:
    """An agent at work in a real environment."""

    def __init__(self, environment: DockerEnvironment, folder: Path, model: FakeModel, user: str | None = None) -> None:
        self.environment = environment
        self.model = model
        self.user = user
        self.issues: list[Issue] = []
        self.log = bytearray()
        arm = ArmInfo(name="a", agent="terminus2", model="m")
        (folder / "agent").mkdir()
        self.agent = Terminus2Agent(arm)
        self.session = AgentSession(
            task=read_task(make_task(folder / "a-task", "", {})),
            arm=arm,
            attempt=1,
            instruction=b"do it",
            environment=environment,
            folder=folder / "agent",
            step="",
            step_folder=None,
            solution_env={},
            user=user,
            execute=AsAgent(environment, MARK, user, lambda stream, data: self.log.extend(data)),
            report_step=lambda step: None,
            issue=self.issues.append,
            model=model,
            activity=lambda what: None,
        )

    async def work(self) -> None:
        await self.environment.note_processes()
        await self.agent.set_up(self.session)
        await self.agent.run(self.session)

    async def output(self, script: str) -> str:
        result = await self.environment.execute(["sh", "-ec", script], timeout_sec=30)
        assert result.exit_code == 0, result.tail
        return result.tail.rstrip("\n")

    async def programs(self) -> list[str]:
        """First words of the command lines of what runs."""
        found = await self.output("for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline 2>/dev/null; echo; done")
        return [line.split(" ")[0].rpartition("/")[2] for line in found.splitlines() if line.strip()]


async def test_what_is_typed_arrives_and_what_was_started_lives_on(rig: Rig, tmp_path: Path) -> None:
    """Cases 61 and 70, in a container without tmux and without a network."""
    long_line = "x" * 20_000
    many = "\n".join(f"line {number} of many; 'q' \"d\" `b` \\ $HOME" for number in range(400))
    model = FakeModel(
        says((f"cat > hostile.txt <<'END'\n{HOSTILE}\nEND\n", 30)),
        says(f"echo {long_line} > long.txt\n", (f"cat > many.txt <<'END'\n{many}\nEND\n", 30)),
        says(("echo begin; seq 5000; echo finish; sleep 1; echo slept > slept.txt\n", 60)),
        says("(trap '' HUP; exec sleep 4242) &\n", "sleep 4343 &\n"),
        says(("printf '\\033[?1049h\\033[Hin a full screen'; read x; printf '\\033[?1049l'\n", 3.0)),
        says(("\n", 30), ("echo after;", 1.0)),
        says("C-u", ("sleep 5252\n", 1.0)),
        says("C-c", ("clear\n", 30)),
        DONE,
        DONE,
    )
    compose = "services: {main: {working_dir: '/srv/odd place'}}\n"
    async with rig.up(memory_mb=256, network=NO_NETWORK, compose=compose) as environment:
        desk = Desk(environment, tmp_path, model)
        await desk.work()
        assert desk.issues == []
        assert "New in the terminal:" in model.told(0)
        assert "/srv/odd place#" in model.told(0)
        place = "'/srv/odd place'"
        digest = hashlib.sha256(f"{HOSTILE}\n".encode()).hexdigest()
        assert (await desk.output(f"sha256sum {place}/hostile.txt")).split()[0] == digest
        assert await desk.output(f"wc -c < {place}/long.txt") == "20001"
        digest = hashlib.sha256(f"{many}\n".encode()).hexdigest()
        assert (await desk.output(f"sha256sum {place}/many.txt")).split()[0] == digest
        assert await desk.output(f"cat {place}/slept.txt; ls /pwned 2>/dev/null || true") == "slept"
        counted = model.told(3)
        assert counted.startswith("New in the terminal:\n\n")
        assert "\nbegin\n1\n2\n" in counted
        assert "\n4999\n5000\nfinish\n" in counted
        assert "bytes are left out here" in counted
        assert len(counted.encode()) < 11_000
        assert "END" not in counted  # what was seen before isn't shown again
        assert model.told(5) == "The screen of the terminal:\n\nin a full screen"
        assert "echo after;" in model.told(6)
        assert model.told(6).startswith("New in the terminal:")
        assert "5000" not in model.told(8)
        assert bytes(desk.log).count(b"\n5000\r\n") == 1  # the log is the stream, not the screen
        programs = await desk.programs()
        assert programs.count("sleep") == 3  # the container's own and the two that were left in the background
        assert "cat" not in programs
        assert await environment.changes() == [
            change for change in await environment.changes() if change.path.startswith("/srv")
        ]
        assert await environment.kill_agent(f"{MARK_NAME}={MARK}") == 4
        programs = await desk.programs()
        assert not {"tmux", "bash"} & set(programs)
        assert programs.count("sleep") == 1


async def test_a_user_without_rights_in_a_root_that_is_read_only(rig: Rig, tmp_path: Path) -> None:
    compose = "services: {main: {read_only: true, environment: {TERM: dumb}}}\n"
    model = FakeModel(says("id -un; touch /x; echo t=$TERM; echo ü | od -An -tx1\n"), DONE, DONE)
    capsule = find_or_build("tmux-v1", lambda words: None)
    async with rig.up(compose=compose, bind_read_only={capsule.folder: capsule.place}) as environment:
        desk = Desk(environment, tmp_path, model, user="nobody")
        await desk.work()
        assert desk.issues == []
        for part in ("\nnobody\n", "Read-only file system", "t=screen", "c3 bc 0a"):
            assert part in model.told(1)


async def test_an_image_with_sh_alone(rig: Rig, tmp_path: Path) -> None:
    model = FakeModel(says(("echo $0 'é;' | tee said.txt\n", 2.0)), says("exit\n"))
    async with rig.up(dockerfile="FROM debian:bookworm-slim\nRUN rm -f /bin/bash\nWORKDIR /app\n") as environment:
        desk = Desk(environment, tmp_path, model)
        await desk.work()
        assert await desk.output("cat /app/said.txt") == "/bin/sh é;"
        assert [issue.code for issue in desk.issues] == [Code.HARNESS_INTERRUPTED]
        assert "no server running" in desk.issues[0].evidence[0].text


async def test_the_images_own_tmux_is_taken_if_it_works(rig: Rig, tmp_path: Path) -> None:
    """And case 34: what shells of the image say of themselves is noise on the screen, and nothing is read from it."""
    capsule = find_or_build("tmux-v1", lambda words: None)
    program = capsule.programs["tmux"]
    script = f'#!/bin/sh\\n[ -e /broken ] && echo no good >&2 && exit 1\\nexec {program} "$@"\\n'
    image = (
        f"FROM debian:bookworm-slim\nRUN printf '{script}' > /usr/bin/tmux && chmod 755 /usr/bin/tmux\n"
        "RUN echo 'source /srv/missing/conda.sh; echo noise' | tee ~/.bashrc > /etc/noisy.bashrc\n"
        "ENV BASH_ENV=/etc/noisy.bashrc\n"
    )
    async with rig.up(dockerfile=image, bind_read_only={capsule.folder: capsule.place}) as environment:
        desk = Desk(environment, tmp_path, FakeModel(says(("echo typed > /typed\n", 30)), DONE, DONE))
        await desk.work()
        assert "/srv/missing/conda.sh: No such file" in desk.model.told(0)
        assert await desk.output("cat /typed") == "typed"
        assert desk.agent.terminal is not None
        assert desk.agent.terminal.tmux.program == "/usr/bin/tmux"
        await desk.output("touch /broken")
        again = tmp_path / "again"
        again.mkdir()
        desk = Desk(environment, again, FakeModel(DONE, DONE))
        await desk.work()
        assert desk.agent.terminal is not None
        assert desk.agent.terminal.tmux.origin == "capsule tmux-v1"
        await desk.output("rm /bin/sh")
        with pytest.raises(TrialFailed) as caught:
            await desk.agent.set_up(desk.session)
        assert caught.value.issue.code is Code.AGENT_SETUP_FAILED
