"""Capsules in containers: mounted or unpacked, in an image that has nothing, and in a plain one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio
import pytest

from engine.agents.capsules import claude_code, node
from engine.agents.capsules.capsule import Capsule
from engine.agents.capsules.carry_in import carry_in
from engine.agents.capsules.tmux import TMUX_TAG
from engine.environments.docker.environment import DockerEnvironment
from engine.tasks.task import NetworkMode, NetworkPolicy
from tests.engine.agents.capsules.bare_image import bare_image
from tests.engine.environments.rig import Rig

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

Build = Callable[..., list[Capsule]]
CLAUDE = claude_code.tag_of(claude_code.VERSION)
NO_NETWORK = NetworkPolicy(mode=NetworkMode.NO_NETWORK)


async def output(
    environment: DockerEnvironment,
    command: Sequence[str],
    env: Mapping[str, str] | None = None,
    user: str | None = None,
) -> str:
    result = await environment.execute(command, env=env, user=user, timeout_sec=60)
    assert result.exit_code == 0, result.tail
    return result.tail.strip()


def mounts(*capsules: Capsule) -> dict[Path, str]:
    return {capsule.folder: capsule.place for capsule in capsules}


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Targets of uploads, as they happen."""
    seen: list[str] = []
    upload = DockerEnvironment.upload

    async def noted(self: DockerEnvironment, source: Path, target: str, *, service: str = "main") -> None:
        seen.append(target)
        await upload(self, source, target, service=service)

    monkeypatch.setattr(DockerEnvironment, "upload", noted)
    return seen


async def test_a_mounted_capsule_is_not_copied_and_can_t_be_written(
    rig: Rig, built_capsules: Build, uploads: list[str]
) -> None:
    [tmux] = built_capsules(TMUX_TAG)
    async with rig.up(bind_read_only=mounts(tmux)) as environment:
        await carry_in(tmux, environment)
        assert uploads == []
        write = await environment.execute(["sh", "-c", f"echo x >> {tmux.programs['tmux']}"], timeout_sec=30)
        assert write.exit_code != 0
    assert tmux.folder.joinpath("bin", "tmux").stat().st_size


async def test_another_capsule_at_its_place_is_replaced_and_one_that_was_unpacked_is_found_again(
    rig: Rig, built_capsules: Build, uploads: list[str]
) -> None:
    [tmux] = built_capsules(TMUX_TAG)
    async with rig.up() as environment:
        await environment.upload_bytes(b'{"digest": "another"}', f"{tmux.place}/capsule.json")
        await carry_in(tmux, environment)
        await carry_in(tmux, environment)
        assert uploads == [tmux.place]
        assert await output(environment, [tmux.programs["tmux"], "-V"], tmux.env) == f"tmux {tmux.versions['tmux']}"
        owner = await output(environment, ["stat", "-c", "%u %a", tmux.programs["tmux"]])
        assert owner == "0 755"


async def test_tmux_works_in_an_image_that_has_nothing(rig: Rig, built_capsules: Build, tmp_path: Path) -> None:
    [tmux] = built_capsules(TMUX_TAG)
    async with rig.up(network=NO_NETWORK, **bare_image(tmp_path / "image")) as environment:
        await carry_in(tmux, environment)
        words = [tmux.programs["tmux"], "-u", "-f", f"{tmux.place}/etc/tmux.conf"]
        await output(environment, [*words, "new-session", "-d", "-s", "a", "-x", "80", "-y", "10", "sh"], tmux.env)
        keys = "echo hällo ☃ [$LOCPATH] [$TERMINFO]"
        await output(environment, [*words, "send-keys", "-t", "a", "-l", keys], tmux.env)
        await output(environment, [*words, "send-keys", "-t", "a", "Enter"], tmux.env)
        wanted = f"hällo ☃ [] [{tmux.place}/share/terminfo]"
        with anyio.fail_after(30):
            screen = ""
            while wanted not in screen:
                screen = await output(environment, [*words, "capture-pane", "-p", "-t", "a"], tmux.env)


@pytest.mark.parametrize("user", ["0", "1000"])
async def test_node_and_claude_code_work_in_an_image_that_has_nothing(
    rig: Rig, built_capsules: Build, tmp_path: Path, user: str
) -> None:
    js, claude = built_capsules(node.NODE_TAG, CLAUDE)
    async with rig.up(
        network=NO_NETWORK, bind_read_only=mounts(js, claude), **bare_image(tmp_path / "image")
    ) as environment:
        await carry_in(js, environment)
        program = js.programs["node"]
        script = "const {execFileSync} = require('child_process');" + (
            "console.log(process.execPath, String(execFileSync(process.execPath, ['-p', '6*7'])).trim())"
        )
        assert await output(environment, [program, "-e", script], user=user) == f"{program} 42"
        npm = [program, js.programs["npm"], "--version"]
        assert (await output(environment, npm, {"HOME": "/tmp"}, user)).count(".") == 2
        said = await output(environment, [claude.programs["claude"], "--version"], {"HOME": "/tmp"}, user)
        assert said == f"{claude_code.VERSION} (Claude Code)"
        assert await output(environment, [claude.programs["bash"], "-c", "echo $((6*7))"], user=user) == "42"


async def test_a_plain_image_works_as_well_whatever_its_variables_say(rig: Rig, built_capsules: Build) -> None:
    [js] = built_capsules(node.NODE_TAG)
    async with rig.up(bind_read_only=mounts(js), env={"LD_LIBRARY_PATH": "/nowhere"}) as environment:
        script = "console.log(process.env.LD_LIBRARY_PATH, process.version)"
        assert await output(environment, [js.programs["node"], "-e", script]) == f"/nowhere v{node.VERSION}"
