"""What an agent, or a task, can do to the places and files that a verdict depends on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engine.issues import Code, Phase, Severity, TrialFailed
from engine.issues import Issue as AnIssue
from engine.trial.places import EMPTY_SCRIPT
from engine.trial.reward import read_reward
from tests.engine.fake_environment import Command
from tests.engine.trial.trials import STEP_FILES, STEPS, Rig, writes


def empty(*folders: Path) -> int:
    return subprocess.run(["bash", "-c", EMPTY_SCRIPT, "bash", *map(str, folders)], check=False).returncode


def test_a_folder_with_more_names_than_a_command_line_takes_is_emptied_case_37(tmp_path: Path) -> None:
    for number in range(12_000):
        (tmp_path / f"{number:0200d}").touch()
    (tmp_path / ".hidden").mkdir()
    assert empty(tmp_path) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_a_folders_place_goes_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "x").touch()
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "file").touch()
    assert empty(tmp_path / "link", tmp_path / "file", tmp_path / "not there") == 0
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["kept", "x"]


@pytest.mark.parametrize(
    ("left_out", "problem"),
    [
        ("reward.txt: a link that leads outside (/tmp/r)", "reward.txt: a link that leads outside (/tmp/r)"),
        ("reward.txt: a device, pipe or socket", "reward.txt: a device, pipe or socket"),
        ("reward.txt.bak: a device, pipe or socket", "the verifier wrote neither"),
    ],
)
def test_a_reward_that_could_not_be_fetched_is_no_missing_one_case_59(
    tmp_path: Path, left_out: str, problem: str
) -> None:
    assert read_reward(tmp_path, [left_out]).problem.startswith(problem)


@pytest.mark.anyio
async def test_two_reward_files_that_disagree_are_shown(tmp_path: Path) -> None:
    """Such as the agent's background process writes one beside the verifier's, in a shared environment."""
    rig = Rig(tmp_path)
    files = {"/logs/verifier/reward.txt": "0\n", "/logs/verifier/reward.json": '{"reward": 1}'}
    rig.provider.when("/tests/test.sh", does=writes(files))
    assert (await rig.trial()).reward == 1.0
    issue = rig.issue(Code.REWARD_CONTRADICTED)
    assert issue.severity is Severity.WARNING
    assert issue.message == "reward.json says 1, reward.txt says 0: reward.json counts"


@pytest.mark.anyio
async def test_two_reward_files_that_agree_need_no_words(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    files = {"/logs/verifier/reward.txt": "1.0\n", "/logs/verifier/reward.json": '{"reward": 1, "other": 3}'}
    rig.provider.when("/tests/test.sh", does=writes(files))
    assert (await rig.trial()).reward == 1.0
    assert rig.codes == []


@pytest.mark.anyio
async def test_an_agent_that_never_began_is_no_agent_that_failed(tmp_path: Path) -> None:
    """A working directory, a user or a shell that the image hasn't got."""
    rig = Rig(tmp_path)
    words = 'OCI runtime exec failed: chdir to cwd ("/app") set in config.json failed: no such file or directory'
    rig.provider.when("work", 126, out=words.encode(), starts=False)
    rig.scores()
    assert (await rig.trial()).outcome == "unscored"
    issue = rig.issue(Code.SETUP_FAILED)
    assert (issue.severity, issue.phase, issue.service) == (Severity.FATAL, Phase.AGENT, "main")
    assert 'chdir to cwd ("/app")' in issue.message
    assert rig.codes == [Code.SETUP_FAILED]


@pytest.mark.anyio
async def test_tests_that_the_engine_could_not_start_are_a_failed_set_up_case_20(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("/tests/test.sh", 126, out=b"unable to find user nobody2", starts=False)
    assert (await rig.trial()).outcome == "unscored"
    issue = rig.issue(Code.VERIFIER_SETUP_FAILED)
    assert (issue.severity, issue.message) == (
        Severity.FATAL,
        "test.sh could not be started: unable to find user nobody2",
    )


@pytest.mark.anyio
async def test_what_the_agent_put_in_the_place_of_the_tests_makes_room(tmp_path: Path) -> None:
    rig = Rig(tmp_path)

    def work(command: Command) -> None:
        command.environment.write("/tests", "no folder")

    rig.provider.when("work", does=work)

    def removed(command: Command) -> None:
        command.environment.place("/tests").unlink()
        rig.provider.faults.pop("agent: upload /tests")

    rig.provider.faults["agent: upload /tests"] = TrialFailed(
        AnIssue(Severity.FATAL, Phase.VERIFY, Code.ARTIFACT_TRANSFER_FAILED, "not a directory")
    )
    rig.provider.when("rm -rf -- /tests", does=removed)
    rig.scores()
    assert (await rig.trial()).passed
    assert rig.codes == []


@pytest.mark.anyio
async def test_each_step_finds_its_log_folders_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path, STEPS, STEP_FILES)
    found: list[bool] = []

    def work(command: Command) -> None:
        logs = command.environment.place("/logs/artifacts")
        found.append(logs.is_dir() and not logs.is_symlink())
        logs.rmdir()
        logs.symlink_to(command.environment.place("/"))

    rig.provider.when("work", does=work)
    rig.scores()
    assert (await rig.trial()).passed
    assert found == [True, True]
