"""A run from its first trial to its last: cap, faults, commands, limits, the end."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import anyio
import pytest

from engine import events as ev
from engine.agents.agent import AgentEnd, AgentSession, StepReport
from engine.events import ArmInfo, HostInfo
from engine.issues import Code, Severity
from engine.layout import RESULT
from engine.runs import run as run_module
from engine.trial import trial as trial_module
from engine.trial_state import CANCELLED, QUEUED, RUNNING, UNSCORED
from tests.engine.fake_environment import Command, Does, FakeEnvironment, broken
from tests.engine.runs.runs import COMMAND, REWARD, SIX, RunRig
from tests.engine.time_passing import pass_time
from tests.engine.trial.trials import writes

pytestmark = pytest.mark.anyio


async def test_a_run_that_scores_everything_ends_with_0(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, SIX, concurrency=3)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 0
    assert rig.state.count("passed") == 6
    assert rig.state.finished is not None and rig.state.finished.exit_code == 0
    assert all((rig.folder / trial / RESULT).is_file() for trial in rig.state.trials)
    assert rig.provider.up() == []


async def test_no_more_trials_run_at_once_than_the_cap(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, tuple(f"t{number}" for number in range(12)), arms=COMMAND, concurrency=3)
    at_once: list[int] = []

    async def work(command: Command) -> None:
        at_once.append(len([one for one in rig.provider.environments if one.state == "up"]))
        for _ in range(20):
            await anyio.lowlevel.checkpoint()

    rig.provider.when("work", does=work)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 0
    assert max(at_once) == 3 and len(at_once) == 12


async def test_trials_start_in_the_order_of_the_plan(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, SIX, attempts=2, concurrency=1)
    await rig.execute()
    started = [call for call in rig.provider.calls if call == "agent: start"]
    assert len(started) == 12
    names = [one.spec.trial for one in rig.provider.environments]
    assert names == [trial.trial for trial in rig.plan.trials]


async def test_a_slow_tear_down_keeps_nobody_from_starting_case_74(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b"), arms=COMMAND, concurrency=1)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    rig.provider.hangs["agent: down"] = 0.2
    await rig.execute()
    second = [number for number, call in enumerate(rig.provider.calls) if call == "agent: start"][1]
    downs = [number for number, call in enumerate(rig.provider.calls) if call == "agent: down"]
    assert downs[0] < second < downs[1]
    first = rig.state.trials[rig.plan.trials[0].trial]
    assert first.seconds is not None and first.seconds >= 0.2


@pytest.mark.parametrize(("works", "late"), [(4, 0), (8, 6)])
async def test_waiting_for_a_slot_is_not_on_an_agents_clock_case_74(tmp_path: Path, works: float, late: int) -> None:
    """Each works for so long, of the 6 s that it has; the last one waits five times as long before it may."""
    rig = RunRig(tmp_path, SIX, arms=COMMAND, toml="[agent]\ntimeout_sec = 6\n", concurrency=1)

    async def work(command: Command) -> None:
        pass_time(works)
        await anyio.sleep(0.001)  # where time is up, it is noticed here

    rig.provider.when("work", does=work)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 0
    assert rig.state.severities[Severity.ERROR] == 0
    assert sum(trial.timed_out for trial in rig.state.trials.values()) == late


async def test_one_broken_trial_doesnt_stop_the_others(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, SIX, concurrency=3)
    third = rig.plan.trials[2].trial

    def image(environment: FakeEnvironment) -> None:
        if environment.spec.trial == third:
            raise MemoryError("ours")

    rig.provider.image = image
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 3
    assert (rig.state.count("passed"), rig.state.count(UNSCORED)) == (5, 1)
    assert rig.provider.up() == []


async def test_a_trial_whose_folder_cant_be_made_is_one_unscored_trial(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b"))
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    name = rig.plan.trials[0].trial
    (rig.folder / name).write_text("in the way")
    run = rig.run()
    assert await run.execute() == 3
    assert rig.state.trials[name].state == UNSCORED
    assert [issue.code for issue in rig.state.trials[name].issues] == [Code.ENGINE_FAILED]
    assert rig.state.count("passed") == 1


async def test_cancel_stops_starts_cleans_up_and_gives_130(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, SIX, arms=COMMAND, concurrency=2)
    rig.provider.when("work", forever=True)
    async with rig.going() as run:
        await rig.until(lambda: len(rig.provider.said("bash -c work")) == 2)
        answer = run.handle({"command": "cancel"})
        assert answer == {"ok": True, "running": 2}
    assert rig.code == 130
    assert (rig.state.count(CANCELLED), rig.state.count(QUEUED)) == (2, 4)
    assert rig.provider.up() == []
    assert rig.provider.calls.count("agent: start") == 2
    assert rig.state.cancelling and rig.state.finished is not None and rig.state.finished.exit_code == 130


async def test_cancelled_before_it_began_a_run_starts_nothing(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, SIX)
    run = rig.run()
    run.cancel()
    assert await run.execute() == 130
    assert rig.provider.calls == []


async def test_a_cancel_between_admission_and_start_still_cleans_up(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a",), arms=COMMAND)
    async with rig.going() as run:
        await rig.until(lambda: run._scopes)
        run.cancel()
    assert rig.code == 130 and rig.state.count(RUNNING) == 0
    assert rig.provider.up() == []


async def test_cancel_twice_removes_everything_at_once(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b"), arms=COMMAND, concurrency=2)
    rig.provider.when("work", forever=True)
    rig.provider.hangs["agent: down"] = 0.05
    async with rig.going() as run:
        await rig.until(lambda: len(rig.provider.said("bash -c work")) == 2)
        run.cancel()
        run.cancel(force=True)
    assert rig.code == 130
    assert rig.provider.said("remove_run") == ["provider: remove_run run"]
    assert rig.state.count(CANCELLED) == 2


@pytest.mark.parametrize("fault", [None, broken(Code.DAEMON_UNREACHABLE)])
async def test_a_forced_end_that_hangs_ends_the_process_and_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception | None
) -> None:
    class Ended(BaseException):
        pass

    def end(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(run_module, "FORCE_SEC", 0.05)
    monkeypatch.setattr(os, "_exit", end)
    rig = RunRig(tmp_path, ("a",), arms=COMMAND)
    rig.provider.when("work", does=_spend(rig), forever=True)
    rig.provider.hangs["agent: down"] = 2
    if fault is not None:
        rig.provider.faults["provider: remove_run"] = fault
    with pytest.raises(BaseException) as caught:
        async with rig.going() as run:
            await rig.until(lambda: rig.state.cost_usd)
            run.cancel()
            run.cancel(force=True)
    assert _only(caught.value, Ended) == 130
    (trial,) = rig.state.trials.values()
    assert trial.state == CANCELLED and trial.cost_usd == 0.5
    assert Code.LEFTOVER in [issue.code for issue in trial.issues]
    assert rig.state.finished is not None and not rig.state.engine_running


def _spend(rig: RunRig) -> Does:
    def does(command: Command) -> None:
        rig.log.append(ev.AgentStepped(trial=command.environment.spec.trial, number=1, cost_usd=0.5))

    return does


def _only(error: BaseException, kind: type[BaseException]) -> object:
    while isinstance(error, BaseExceptionGroup):
        (error,) = [one for one in error.exceptions if _holds(one, kind)][:1]
    assert isinstance(error, kind)
    return error.args[0]


def _holds(error: BaseException, kind: type[BaseException]) -> bool:
    return isinstance(error, kind) or (isinstance(error, BaseExceptionGroup) and error.subgroup(kind) is not None)


async def test_one_trial_can_be_cancelled_running_or_waiting(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b", "c"), arms=COMMAND, concurrency=1)
    first, second, third = (trial.trial for trial in rig.plan.trials)
    begun: list[Command] = []
    rig.provider.when("work", does=begun.append, forever=True, times=1)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    async with rig.going() as run:
        await rig.until(lambda: begun)
        assert run.handle({"command": "cancel", "trial": second})["ok"]
        assert run.handle({"command": "cancel", "trial": first})["ok"]
        assert run.handle({"command": "cancel", "trial": "nobody"})["ok"] is False
        assert run.handle({"command": "cancel", "trial": second})["ok"] is False
    assert rig.code == 3
    assert [rig.state.trials[name].state for name in (first, second, third)] == [CANCELLED, CANCELLED, "passed"]
    assert rig.state.trials[second].started_at is None
    assert not rig.state.cancelling


async def test_pause_admits_nothing_and_continue_goes_on(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b"), arms=COMMAND, concurrency=1)
    gate = anyio.Event()

    async def work(command: Command) -> None:
        await gate.wait()

    rig.provider.when("work", does=work)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    async with rig.going() as run:
        await rig.until(lambda: rig.provider.said("bash -c work"))
        assert run.handle({"command": "pause"})["ok"] and run.handle({"command": "pause"})["ok"]
        gate.set()
        await rig.until(lambda: rig.state.count("passed") == 1)
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        assert rig.state.paused and rig.provider.calls.count("agent: start") == 1
        assert run.handle({"command": "continue"})["ok"]
    assert rig.code == 0 and not rig.state.paused


async def test_the_concurrency_can_change_while_it_runs(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b", "c"), arms=COMMAND, concurrency=1)
    rig.provider.when("work", forever=True)
    async with rig.going() as run:
        await rig.until(lambda: rig.state.count(RUNNING) == 1)
        assert run.handle({"command": "concurrency", "value": 0})["ok"] is False
        assert run.handle({"command": "concurrency", "value": 3})["ok"]
        await rig.until(lambda: rig.state.count(RUNNING) == 3)
        assert rig.state.concurrency == 3
        run.cancel()
    assert rig.code == 130


async def test_commands_that_are_none_are_refused(tmp_path: Path) -> None:
    run = RunRig(tmp_path).run()
    assert run.handle({"command": "ping"}) == {"ok": True}
    assert run.handle({"command": "fly"})["ok"] is False
    assert run.handle({})["ok"] is False


async def test_what_is_spent_stops_admission_and_a_resume_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Spender:
        name, version, log_name = "spender", "1", "spender.txt"

        async def set_up(self, session: AgentSession) -> None:
            return None

        async def run(self, session: AgentSession) -> AgentEnd:
            session.report_step(StepReport(what="", cost_usd=0.6))
            return AgentEnd()

    monkeypatch.setattr(trial_module, "make_agent", lambda arm: Spender())
    rig = RunRig(tmp_path, SIX, concurrency=1, max_cost_usd=1.0)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 3
    assert (rig.state.count("passed"), rig.state.count(CANCELLED)) == (2, 4)
    assert rig.state.cost_usd == pytest.approx(1.2)
    (issue,) = [issue for issue in rig.state.run_issues if issue.code is Code.COST_LIMIT_REACHED]
    assert "$1.20" in issue.message and "4 trials" in issue.message
    assert await rig.execute() == 3  # a resume under the same limit starts nothing
    assert rig.state.count("passed") == 2


async def test_memory_holds_trials_back_and_says_so(tmp_path: Path) -> None:
    toml = "[environment]\nmemory_mb = 600\n"
    rig = RunRig(
        tmp_path, ("a", "b"), arms=COMMAND, toml=toml, concurrency=2, host=HostInfo(name="h", cpus=4, memory_mb=1000)
    )
    rig.provider.when("work", forever=True)
    async with rig.going() as run:
        await rig.until(lambda: rig.state.count("waiting") and rig.state.count(RUNNING))
        waiting = next(trial for trial in rig.state.trials.values() if trial.state == "waiting")
        assert waiting.waiting_for == "memory (needs 600 M, 400 M free)"
        assert rig.state.count(RUNNING) == 1
        run.cancel()


async def test_nothing_but_refused_trials_is_exit_2(tmp_path: Path) -> None:
    rig = RunRig(tmp_path, ("a", "b"), toml="[environment]\ngpus = 1\n")
    for planned in rig.plan.trials:
        rig.log.append(ev.TrialFinished(trial=planned.trial, outcome="refused"))
    assert await rig.execute() == 2
    assert rig.provider.calls == []


async def test_arms_are_told_apart(tmp_path: Path) -> None:
    arms = (ArmInfo(name="a", agent="nop"), ArmInfo(name="b", agent="nop"))
    rig = RunRig(tmp_path, ("x", "y"), arms=arms, attempts=2, concurrency=4)
    rig.provider.when("/tests/test.sh", does=writes(REWARD))
    assert await rig.execute() == 0
    assert Counter(trial.arm for trial in rig.state.trials.values()) == {"a": 4, "b": 4}
    assert len({one.spec.name for one in rig.provider.environments}) == 8
