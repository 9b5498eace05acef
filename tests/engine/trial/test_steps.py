"""Tasks of several steps: each its own agent, its own logs, its own verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Phase, Severity
from engine.trial.record import StepVerdict
from engine.trial.verify import ends_early, overall
from tests.engine.fake_environment import Command, broken
from tests.engine.trial.trials import FRESH, LIMIT_SEC, STEP_FILES, STEPS, Rig, late, writes


def verdict(reward: float | None, **rewards: float) -> StepVerdict:
    table = {} if reward is None else {"reward": reward, **rewards}
    return StepVerdict(step="s", reward=reward, rewards=table)


@pytest.mark.parametrize(
    ("verdicts", "strategy", "reward"),
    [
        ([], "mean", None),
        ([verdict(1.0)], "mean", 1.0),
        ([verdict(None)], "mean", None),
        ([verdict(1.0), verdict(0.0)], "mean", 0.5),
        ([verdict(1.0), verdict(1.0)], "mean", 1.0),
        ([verdict(0.5)], "final", 0.5),
        ([verdict(0.0), verdict(1.0)], "final", 1.0),
        ([verdict(1.0), verdict(None)], "mean", None),
        ([verdict(1.0), verdict(None)], "final", None),
        ([verdict(None), verdict(1.0)], "final", None),
    ],
)
def test_the_trials_reward_is_made_of_the_steps_that_ran(
    verdicts: list[StepVerdict], strategy: str, reward: float | None
) -> None:
    assert overall(verdicts, strategy)[0] == reward


def test_tables_are_averaged_name_by_name_and_a_missing_name_is_nought() -> None:
    _, rewards = overall([verdict(1.0, style=0.5), verdict(0.0)], "mean")
    assert rewards == {"reward": 0.5, "style": 0.25}


@pytest.mark.parametrize(
    ("found", "minimum", "words"),
    [
        (verdict(0.0), None, ""),
        (verdict(0.5), 0.5, ""),
        (verdict(0.4), 0.5, "reward is 0.4, at least 0.5"),
        (verdict(1.0, style=0.2), {"style": 0.5}, "style is 0.2"),
        (verdict(1.0), {"style": 0.5}, "style is missing"),
        (verdict(1.0, style=1.0), {"reward": 1.0, "style": 1.0}, ""),
        (verdict(None), None, "no reward"),
    ],
)
def test_a_step_that_falls_short_ends_the_task(
    found: StepVerdict, minimum: float | dict[str, float] | None, words: str
) -> None:
    why = ends_early(found, minimum)
    assert words in why and bool(why) == bool(words)


def rewards(rig: Rig, *values: str | None) -> None:
    """What test.sh leaves, step by step."""
    for value in values:
        files = {} if value is None else {"/logs/verifier/reward.txt": value}
        rig.provider.when("/tests/test.sh", does=writes(files), times=1)


@pytest.mark.anyio
async def test_each_step_has_its_instruction_and_its_folders(tmp_path: Path) -> None:
    rig = Rig(tmp_path, STEPS, STEP_FILES)
    rig.provider.when("work", does=writes({"/logs/agent/own.log": "1", "/logs/artifacts/a": "1"}), times=1)
    rig.provider.when("work", does=writes({"/logs/artifacts/b": "2"}), times=1)
    rewards(rig, "1", "0")
    end = await rig.trial()
    assert (end.outcome, end.reward, end.passed) == ("scored", 0.5, False)
    told = [command.stdin for command in rig.provider.commands if command.text == "bash -c work"]
    assert told == [b"first\n", b"second\n"]
    steps = rig.folder / "steps"
    assert (steps / "one/agent/own.log").exists() and not (steps / "two/agent/own.log").exists()
    assert (steps / "one/artifacts/logs/artifacts/a").exists()
    assert not (steps / "two/artifacts/logs/artifacts/a").exists()
    assert (steps / "two/verifier/reward.txt").read_text() == "0"
    recorded = [(event.step, event.reward) for event in rig.of(ev.RewardRecorded)]
    assert recorded == [("one", 1.0), ("two", 0.0), ("", 0.5)]
    assert [(event.phase, event.step) for event in rig.of(ev.PhaseStarted)][1:-1] == [
        (phase, step) for step in ("one", "two") for phase in (Phase.AGENT, Phase.COLLECT, Phase.VERIFY)
    ]


@pytest.mark.anyio
async def test_no_agent_sees_the_tests_or_the_rewards_of_the_step_before(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {**STEP_FILES, "steps/one/tests/secret.txt": "answers"}
    rig = Rig(tmp_path, STEPS, files)
    seen: list[list[str]] = []

    def look(command: Command) -> None:
        places = [command.environment.place(path) for path in ("/tests", "/logs/verifier")]
        seen.append([str(path) for place in places if place.exists() for path in place.iterdir()])

    rig.provider.when("work", does=look)
    rewards(rig, "1", "1")
    assert (await rig.trial()).passed
    assert seen == [[], []]
    assert rig.provider.said("/tests/test.sh")


@pytest.mark.anyio
async def test_a_steps_own_tests_lie_over_the_tasks(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {
        **STEP_FILES,
        "tests/common.txt": "c",
        "steps/two/tests/test.sh": "#!/bin/bash\necho two\n",
    }
    rig = Rig(tmp_path, STEPS, files)
    scripts: list[bytes] = []

    def test(command: Command) -> None:
        assert command.environment.read("/tests/common.txt") == b"c"
        scripts.append(command.environment.read("/tests/test.sh"))
        command.environment.write("/logs/verifier/reward.txt", "1")

    rig.provider.when("/tests/test.sh", does=test)
    await rig.trial()
    assert scripts[0] != scripts[1] == b"#!/bin/bash\necho two\n"


@pytest.mark.anyio
async def test_falling_short_ends_the_task_and_is_the_models_loss(tmp_path: Path) -> None:
    toml = STEPS.replace('name = "one"\n', 'name = "one"\nmin_reward = 0.5\n')
    for strategy in ("mean", "final"):
        place = tmp_path / strategy
        place.mkdir()
        rig = Rig(place, f'multi_step_reward_strategy = "{strategy}"\n' + toml, STEP_FILES)
        rewards(rig, "0.25")
        end = await rig.trial()
        assert (end.outcome, end.reward, end.passed) == ("scored", 0.25, False)
        assert len([command for command in rig.provider.commands if command.text == "bash -c work"]) == 1
        assert rig.provider.up() == []


@pytest.mark.anyio
async def test_a_step_without_a_reward_leaves_the_trial_unscored(tmp_path: Path) -> None:
    rig = Rig(tmp_path, STEPS, STEP_FILES)
    rewards(rig, "1", None)
    end = await rig.trial()
    assert (end.outcome, end.reward, end.passed) == ("unscored", None, None)
    assert rig.issue(Code.VERIFIER_RESULT_INVALID).step == "two"


@pytest.mark.anyio
async def test_a_timeout_in_a_step_shows_at_the_top_case_53(tmp_path: Path) -> None:
    rig = Rig(tmp_path, f"[agent]\ntimeout_sec = {LIMIT_SEC}\n" + STEPS, STEP_FILES)
    rig.provider.when("work", times=1)
    rig.provider.when("work", does=late, forever=True)
    rewards(rig, "1", "1")
    end = await rig.trial()
    assert (end.passed, end.timed_out) == (True, True)
    assert rig.issue(Code.HARNESS_TIMEOUT).step == "two"
    assert rig.issue(Code.HARNESS_TIMEOUT).evidence[0].file == "steps/two/agent/command.txt"


@pytest.mark.anyio
async def test_main_is_stopped_and_taken_down_only_after_the_last_step(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH + STEPS, STEP_FILES)
    rig.provider.when("work", does=writes({"/logs/artifacts/a": "1"}))
    rewards(rig, "1", "1")
    assert (await rig.trial()).passed
    order = [
        call
        for call in rig.provider.calls
        if call in ("agent: stop main", "agent: down", "verifier: start", "verifier: down")
    ]
    assert order == [
        "verifier: start",
        "verifier: down",
        "agent: stop main",
        "agent: down",
        "verifier: start",
        "verifier: down",
    ]
    names = [one.spec.name for one in rig.provider.environments]
    assert names == ["some-task__a__1", "some-task__a__1-verifier-one", "some-task__a__1-verifier-two"]


@pytest.mark.anyio
async def test_a_steps_workdir_and_setup_come_before_its_agent(tmp_path: Path) -> None:
    toml = STEPS + '[steps.healthcheck]\ncommand = "ready"\n'
    files: dict[str, str | bytes | None] = {**STEP_FILES, "steps/two/workdir/setup.sh": "x", "steps/two/workdir/f": "y"}
    rig = Rig(tmp_path, toml, files)
    rewards(rig, "1", "1")
    assert (await rig.trial()).passed
    calls = rig.provider.calls
    setup = calls.index("agent: execute main: bash /app/setup.sh")
    assert calls.index("agent: upload /app") < setup < calls.index("agent: check_health ready")
    assert calls.index("agent: check_health ready") < len(calls) - 1 - calls[::-1].index(
        "agent: execute main: bash -c work"
    )
    assert rig.agent().read("/app/f") == b"y"


@pytest.mark.anyio
async def test_a_setup_that_fails_says_which_step_and_what_it_said(tmp_path: Path) -> None:
    files: dict[str, str | bytes | None] = {**STEP_FILES, "steps/one/workdir/setup.sh": "x"}
    rig = Rig(tmp_path, STEPS, files)
    rig.provider.when("setup.sh", 7, out=b"no space for this\n")
    assert (await rig.trial()).outcome == "unscored"
    issue = rig.issue(Code.SETUP_FAILED)
    assert (issue.severity, issue.step) == (Severity.FATAL, "one")
    assert "exit code 7" in issue.message and "no space for this" in issue.evidence[0].text


@pytest.mark.anyio
async def test_a_health_check_of_a_step_that_fails_is_fatal(tmp_path: Path) -> None:
    rig = Rig(tmp_path, STEPS + '[steps.healthcheck]\ncommand = "ready"\n', STEP_FILES)
    rig.provider.faults["agent: check_health"] = broken(Code.HEALTHCHECK_FAILED)
    rewards(rig, "1")
    assert (await rig.trial()).outcome == "unscored"
    assert rig.issue(Code.HEALTHCHECK_FAILED).step == "two"
