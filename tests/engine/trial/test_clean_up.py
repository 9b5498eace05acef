"""Clean-up: whatever happened, what the trial made is gone, kept on purpose, or named."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from engine import events as ev
from engine.issues import Code, Phase, Severity
from engine.trial import trial
from engine.trial.job import Keep
from engine.trial.trial import run_trial
from tests.engine.fake_environment import broken
from tests.engine.trial.trials import FRESH, STEP_FILES, STEPS, Rig, writes

pytestmark = pytest.mark.anyio


async def cancelled_while(rig: Rig, call: str) -> ev.TrialFinished:
    """Cancel the trial while this call lasts."""
    rig.provider.hangs[call] = 60
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:

            async def cancel() -> None:
                while call in rig.provider.hangs:
                    await anyio.lowlevel.checkpoint()
                scope.cancel()

            group.start_soon(cancel)
            rig.record = await run_trial(rig.job, rig.provider, rig.events.append)
    assert rig.record is not None and rig.record.finished is not None
    return rig.record.finished


@pytest.mark.parametrize(
    ("call", "phase"),
    [
        ("agent: start", Phase.PREPARE),
        ("agent: execute main: bash -c work", Phase.AGENT),
        ("agent: changes", Phase.AGENT),
        ("agent: download main:/logs/artifacts", Phase.COLLECT),
        ("agent: down", Phase.VERIFY),
        ("verifier: start", Phase.VERIFY),
        ("verifier: execute main: bash -c if", Phase.VERIFY),
    ],
)
async def test_a_cancelled_trial_cleans_up_and_says_where_it_was(tmp_path: Path, call: str, phase: Phase) -> None:
    rig = Rig(tmp_path, FRESH, keep=Keep.NEVER)
    rig.scores()
    end = await cancelled_while(rig, call)
    assert (end.outcome, end.reward, end.passed, end.kept) == ("cancelled", None, None, False)
    assert rig.provider.up() == []
    issue = rig.issue(Code.HARNESS_INTERRUPTED)
    assert (issue.severity, issue.phase) == (Severity.ERROR, phase)
    started, finished = rig.of(ev.PhaseStarted), rig.of(ev.PhaseFinished)
    assert [event.phase for event in started] == [event.phase for event in finished]
    assert [event.phase for event in finished if not event.ok] == [phase]
    assert finished[-1].phase is Phase.CLEANUP


async def test_a_cancelled_trial_keeps_what_it_has_spent_case_68(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    end = await cancelled_while(rig, "agent: execute main: bash -c work")
    assert end.agent_seconds is not None and end.agent_seconds > 0
    assert rig.of(ev.AgentFinished)[0].timed_out is False


async def test_a_cancellation_that_turns_into_an_error_on_its_way_is_still_one(tmp_path: Path) -> None:
    async def work(command: object) -> None:
        scope.cancel()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            raise broken(Code.DAEMON_UNREACHABLE) from None

    rig = Rig(tmp_path)
    rig.provider.when("work", does=work)
    with anyio.CancelScope() as scope:
        record = await run_trial(rig.job, rig.provider, rig.events.append)
    assert record.finished is not None and record.finished.outcome == "cancelled"
    assert rig.codes == [Code.HARNESS_INTERRUPTED]


async def test_clean_up_is_not_cancelled_with_the_trial(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.hangs["agent: down"] = 0.05
    await cancelled_while(rig, "agent: execute main: bash -c work")
    assert rig.provider.up() == []
    assert Code.LEFTOVER not in rig.codes


async def test_clean_up_is_bounded_and_names_what_it_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "CLEANUP_SEC", 0.05)
    rig = Rig(tmp_path)
    rig.scores()
    rig.provider.hangs["agent: down"] = 60
    end = await rig.trial()
    assert end.passed  # what was left behind takes nothing from the verdict
    issue = rig.issue(Code.LEFTOVER)
    assert (issue.severity, issue.phase) == (Severity.WARNING, Phase.CLEANUP)
    assert "some-task__a__1" in issue.message and "sweep" in issue.message


async def test_leftovers_are_named_case_31(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.scores()
    rig.provider.leftovers = ["network x: still in use", "volume y"]
    assert (await rig.trial()).passed
    assert "network x: still in use, volume y" in rig.issue(Code.LEFTOVER).message


@pytest.mark.parametrize("fault", [broken(Code.DAEMON_UNREACHABLE, "no daemon"), RuntimeError("ours")])
async def test_a_down_that_fails_is_named_and_the_verdict_stays_case_35(tmp_path: Path, fault: Exception) -> None:
    rig = Rig(tmp_path)
    rig.scores()
    rig.provider.faults["agent: down"] = fault
    assert (await rig.trial()).passed
    words = "no daemon" if not isinstance(fault, RuntimeError) else "RuntimeError: ours"
    assert words in rig.issue(Code.LEFTOVER).message


async def test_a_down_that_fails_before_verification_doesnt_stop_it(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.scores()
    rig.provider.faults["agent: down"] = broken(Code.DAEMON_UNREACHABLE)
    assert (await rig.trial()).passed
    assert rig.provider.calls.count("agent: down") == 2  # clean-up tries again
    assert rig.codes.count(Code.LEFTOVER) == 1


async def test_the_first_cause_is_kept_although_clean_up_fails_too_case_35(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.faults["agent: start"] = broken(Code.SERVICE_UNHEALTHY, "db is unhealthy")
    rig.provider.faults["agent: down"] = RuntimeError("later")
    assert (await rig.trial()).outcome == "unscored"
    assert rig.codes == [Code.SERVICE_UNHEALTHY, Code.LEFTOVER]


@pytest.mark.parametrize(
    ("keep", "reward", "kept"),
    [
        (Keep.NEVER, "0", False),
        (Keep.NEVER, "1", False),
        (Keep.FAILED, "0", True),
        (Keep.FAILED, "0.5", True),
        (Keep.FAILED, "nothing", True),
        (Keep.FAILED, "1", False),
        (Keep.ALWAYS, "1", True),
    ],
)
@pytest.mark.parametrize("toml", ["", FRESH])
async def test_the_agents_environment_is_kept_as_asked(
    tmp_path: Path, keep: Keep, reward: str, kept: bool, toml: str
) -> None:
    rig = Rig(tmp_path, toml, keep=keep)
    rig.scores(reward)
    end = await rig.trial()
    assert end.kept is kept
    assert (rig.agent().state == "kept") is kept
    assert rig.provider.up() == []
    assert rig.agent().stopped == set() if kept else True  # a shell finds main running again


async def test_with_failures_kept_the_agents_environment_stays_up_until_the_verdict(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH, keep=Keep.FAILED)
    rig.scores("0")
    await rig.trial()
    ends = [call for call in rig.provider.calls if call in ("agent: down", "agent: keep", "verifier: down")]
    assert ends == ["agent: keep", "verifier: down"]


async def test_steps_that_make_up_a_pass_are_not_kept_as_a_failure(tmp_path: Path) -> None:
    toml = 'multi_step_reward_strategy = "final"\n' + STEPS
    rig = Rig(tmp_path, toml, STEP_FILES, keep=Keep.FAILED)
    for reward in ("0", "1"):
        rig.provider.when("/tests/test.sh", does=writes({"/logs/verifier/reward.txt": reward}), times=1)
    end = await rig.trial()
    assert (end.passed, end.kept) == (True, False)


async def test_an_environment_that_never_started_is_kept_too(tmp_path: Path) -> None:
    rig = Rig(tmp_path, keep=Keep.FAILED)
    rig.provider.faults["agent: start"] = broken(Code.SERVICE_UNHEALTHY)
    assert (await rig.trial()).kept


async def test_a_cancelled_trial_keeps_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path, keep=Keep.ALWAYS)
    end = await cancelled_while(rig, "agent: execute main: bash -c work")
    assert not end.kept and rig.agent().state == "down"


@pytest.mark.parametrize("fault", [broken(Code.DAEMON_UNREACHABLE, "no daemon"), RuntimeError("ours"), None])
async def test_what_cant_be_kept_is_taken_down_and_said(
    tmp_path: Path, fault: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "CLEANUP_SEC", 0.05)
    rig = Rig(tmp_path, keep=Keep.ALWAYS)
    rig.scores()
    if fault is None:
        rig.provider.hangs["agent: keep"] = 60
    else:
        rig.provider.faults["agent: keep"] = fault
    end = await rig.trial()
    assert (end.passed, end.kept, rig.agent().state) == (True, False, "down")
    assert "could not be kept" in rig.issue(Code.ENVIRONMENT_FAILED).message
