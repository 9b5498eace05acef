"""Our environment as Harbor's agents see it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

pytest.importorskip("harbor", reason="run by test_with_harbor, where Harbor is")

from engine.agents.harbor.environment import MOST_ARGUMENT_BYTES, EnvironmentGone, TrialdeckEnvironment
from engine.agents.harbor.secrets import Secrets
from tests.engine.agents.harbor.rig import Rig, own
from tests.engine.fake_environment import Command

pytestmark = pytest.mark.anyio


class Seen:
    def __init__(self, folder: Path, toml: str = "", user: str | None = None) -> None:
        self.rig = Rig(folder, own("HostAgent"), toml=toml)
        self.provider = self.rig.session.provider
        self.environment = TrialdeckEnvironment(self.rig.given, Secrets(self.rig.hidden.append), logging.getLogger("x"))
        self.environment.default_user = user

    @property
    def last(self) -> Command:
        return self.provider.commands[-1]


async def test_a_command_has_both_streams_apart_and_its_exit_code_case_32(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    seen.provider.when("make", 5, out=b"out\xff", err=b"err")
    done = await seen.environment.exec("make")
    assert (done.stdout, done.stderr, done.return_code) == ("out\N{REPLACEMENT CHARACTER}", "err", 5)
    assert seen.last.words == ("bash", "-c", "make")


async def test_a_command_has_the_agents_user_unless_another_is_named(tmp_path: Path) -> None:
    seen = Seen(tmp_path, user="dev")
    await seen.environment.exec("a")
    await seen.environment.exec("b", user="root")
    await seen.environment.exec("c", user=1000)
    with seen.environment.with_default_user("other"):
        await seen.environment.exec("d")
    assert [command.user for command in seen.provider.commands] == ["dev", "root", "1000", "other"]


async def test_variables_are_those_of_the_scope_over_those_of_the_call(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    with seen.environment.scoped_exec_env({"A": "scope", "B": "scope"}):
        await seen.environment.exec("x", env={"A": "call", "C": "call"})
    assert seen.last.env == {"A": "scope", "B": "scope", "C": "call"}
    await seen.environment.exec("x")
    assert seen.last.env == {}


async def test_secrets_in_variables_are_hidden_before_the_command_runs(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    known: list[bool] = []
    seen.provider.when("x", does=lambda command: known.append("sk-0123456789" in seen.rig.hidden))
    await seen.environment.exec("x", env={"PROGRAM_API_KEY": "sk-0123456789", "PLAIN": "0123456789abc"})
    assert known == [True] and seen.rig.hidden == ["sk-0123456789"]
    assert all("sk-0123456789" not in word for word in seen.last.words)


async def test_a_working_directory_is_entered_and_the_tasks_own_is_the_default(tmp_path: Path) -> None:
    seen = Seen(tmp_path, toml='[environment]\nworkdir = "/srv/my app"\n')
    await seen.environment.exec("ls")
    assert seen.last.words[2:] == ('cd -- "$1" && exec bash -c "$2"', "bash", "/srv/my app", "ls")
    await seen.environment.exec("ls", cwd="/tmp")
    assert seen.last.words[4:] == ("/tmp", "ls")


async def test_a_command_longer_than_an_argument_may_be_comes_on_standard_input_case_26(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    command = "echo '" + "x" * MOST_ARGUMENT_BYTES + "'"
    await seen.environment.exec(command, cwd="/tmp")
    assert seen.last.stdin == command.encode()
    assert seen.last.words == ("bash", "-c", 'cd -- "$1" && eval "$(cat)"', "bash", "/tmp")


async def test_a_command_that_is_out_of_time_ends_as_harbors_agents_expect_it(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    seen.provider.when("slow", forever=True)
    with pytest.raises(RuntimeError, match="Command timed out after"):
        await seen.environment.exec("slow", timeout_sec=0.01)


async def test_a_dead_environment_is_never_taken_for_a_commands_output_case_25(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    seen.provider.when("kill -9 1", 137, out=b"gone", kills_environment=True)
    with pytest.raises(EnvironmentGone, match="main is dead"):
        await seen.environment.exec("kill -9 1")


async def test_an_exit_code_that_nobody_knows_is_not_0_case_32(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    seen.provider.when("x", None)
    with pytest.raises(EnvironmentGone, match="unknown"):
        await seen.environment.exec("x")


async def test_files_and_folders_go_in_and_come_back(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "run")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("a")
    await seen.environment.upload_file(tmp_path / "folder" / "a.txt", "/opt/b.txt")
    await seen.environment.upload_dir(tmp_path / "folder", "/opt/folder")
    await seen.environment.download_file("/opt/folder/a.txt", tmp_path / "back.txt")
    await seen.environment.download_dir("/opt", tmp_path / "back")
    assert (tmp_path / "back.txt").read_text() == "a"
    assert sorted(str(path.relative_to(tmp_path / "back")) for path in (tmp_path / "back").rglob("*.txt")) == [
        "b.txt",
        "folder/a.txt",
    ]


async def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "run")
    for missing in (
        seen.environment.download_file("/none", tmp_path / "x"),
        seen.environment.download_dir("/none", tmp_path / "x"),
        seen.environment.upload_file(tmp_path / "none", "/x"),
        seen.environment.upload_dir(tmp_path / "none", "/x"),
    ):
        with pytest.raises(FileNotFoundError):
            await missing


async def test_what_kind_a_path_is_follows_the_exit_code(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    seen.provider.when("test -d /opt", 0)
    seen.provider.when("test -f /opt", 1)
    assert await seen.environment.is_dir("/opt")
    assert not await seen.environment.is_file("/opt")


async def test_other_services_are_reached_without_mains_user_and_variables(tmp_path: Path) -> None:
    seen = Seen(tmp_path, user="dev")
    with seen.environment.scoped_exec_env({"A": "1"}):
        await seen.environment.service_exec("ps", service="db")
        assert (seen.last.service, seen.last.user, seen.last.env) == ("db", None, {})
        await seen.environment.service_exec("ps", service="main")
    assert (seen.last.service, seen.last.user, seen.last.env) == ("main", "dev", {"A": "1"})


async def test_starting_and_stopping_are_the_trials(tmp_path: Path) -> None:
    seen = Seen(tmp_path)
    await seen.environment.start(force_build=True)
    await seen.environment.stop(delete=True)
    assert seen.provider.calls == []
