"""The agent's phase: its limit, its end, and what is told beside the verdict."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

import anyio
import pytest

from engine import events as ev
from engine.agents.agent import MARK_NAME, AgentEnd, AgentSession, StepReport
from engine.issues import Code, Phase, Severity
from engine.trial import agent_phase
from tests.engine.fake_environment import broken
from tests.engine.time_passing import pass_time
from tests.engine.trial.scripted_agent import Scripted, use
from tests.engine.trial.trials import FRESH, LIMIT_SEC, Rig, late, writes

pytestmark = pytest.mark.anyio

LIMITED = f"[agent]\ntimeout_sec = {LIMIT_SEC}\n"


async def test_a_timed_out_agent_is_killed_before_anything_is_collected_case_53(tmp_path: Path) -> None:
    rig = Rig(tmp_path, LIMITED)
    rig.provider.survivors = 2
    rig.provider.when("work", does=writes({"/app/answer.txt": "42"}, then_late=True), forever=True, out=b"thinking\n")
    rig.scores()
    end = await rig.trial()
    assert (end.outcome, end.passed, end.timed_out) == ("scored", True, True)
    assert rig.provider.cancelled == ["bash -c work"]
    kill = rig.provider.calls.index(f"agent: kill_agent {MARK_NAME}=some-task__a__1")
    assert kill < min(rig.provider.calls.index(call) for call in rig.provider.said("changes", "download", "test.sh"))
    issue = rig.issue(Code.HARNESS_TIMEOUT)
    assert (issue.severity, issue.phase) == (Severity.WARNING, Phase.AGENT)
    assert "60 s" in issue.message and "2 processes" in issue.message
    assert issue.evidence[0].text == "thinking\n" and issue.evidence[0].file == "agent/command.txt"
    (finished,) = rig.of(ev.AgentFinished)
    assert (finished.timed_out, finished.exit_code, finished.killed_processes) == (True, None, 2)


async def test_an_agent_that_ends_by_itself_is_not_killed(tmp_path: Path) -> None:
    rig = Rig(tmp_path, LIMITED)
    rig.scores()
    end = await rig.trial()
    assert not end.timed_out and rig.provider.said("kill_agent") == []
    assert rig.command("work").env[MARK_NAME] == "some-task__a__1"


async def test_the_factor_stretches_the_limit(tmp_path: Path) -> None:
    rig = Rig(tmp_path, LIMITED, timeout_factor=4.0)
    rig.scores()
    await rig.trial()
    limits = {event.phase: event.limit_sec for event in rig.of(ev.PhaseStarted)}
    assert limits[Phase.AGENT] == pytest.approx(240)
    assert limits[Phase.VERIFY] == pytest.approx(2400)
    assert limits[Phase.PREPARE] == pytest.approx(600)


@pytest.mark.parametrize(("code", "issue"), [(1, Code.AGENT_EXIT_NONZERO), (137, Code.KILLED_UNKNOWN)])
async def test_the_verdict_outranks_the_agents_exit_code_case_71(tmp_path: Path, code: int, issue: Code) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("work", code, out=b"MaxTurnError: 250\n")
    rig.scores()
    end = await rig.trial()
    assert (end.outcome, end.passed) == ("scored", True)
    assert rig.issue(issue).severity is Severity.WARNING
    assert "MaxTurnError" in rig.issue(issue).evidence[0].text
    assert rig.of(ev.AgentFinished)[0].exit_code == code


@pytest.mark.parametrize(("code", "told"), [(126, "can't run it"), (127, "doesn't have its command")])
async def test_a_command_that_main_lacks_is_told_with_a_way_out(tmp_path: Path, code: int, told: str) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("work", code, out=b"bash: line 1: ./my-agent: No such file or directory\n")
    rig.scores()
    await rig.trial()
    issue = rig.issue(Code.AGENT_EXIT_NONZERO)
    assert f"exit code {code}" in issue.message and told in issue.message
    assert "the task's image" in next(item.text for item in issue.evidence if item.label == "way out")


async def test_an_exit_code_that_nobody_knows_is_the_environments_and_no_zero_case_32(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("work", None, out=b"half way\n")
    rig.scores()
    end = await rig.trial()
    assert end.outcome == "scored"
    assert rig.of(ev.AgentFinished)[0].exit_code is None
    issue = rig.issue(Code.ENVIRONMENT_FAILED)
    assert (issue.severity, issue.phase) == (Severity.WARNING, Phase.AGENT)
    assert issue.evidence[0].file == "agent/command.txt"


async def test_a_timeout_inside_of_the_agents_code_is_not_our_limit_case_46(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(session: AgentSession) -> None:
        await session.execute(["true"])
        raise TimeoutError("inner")

    rig = Rig(tmp_path, LIMITED)
    use(monkeypatch, Scripted(run))
    rig.scores()
    end = await rig.trial()
    assert (end.passed, end.timed_out) == (True, False)  # verified all the same
    issue = rig.issue(Code.HARNESS_FAILED)
    assert "TimeoutError: inner" in issue.message and "60" not in issue.message
    assert Code.HARNESS_TIMEOUT not in rig.codes


async def test_an_inner_limit_of_the_agents_own_is_its_own_case_46(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(session: AgentSession) -> None:
        with anyio.fail_after(0.01):
            await session.execute(["sleep"])

    rig = Rig(tmp_path, LIMITED)
    use(monkeypatch, Scripted(run))
    rig.provider.when("sleep", forever=True)
    rig.scores()
    await rig.trial()
    assert "TimeoutError" in rig.issue(Code.HARNESS_FAILED).message
    assert Code.HARNESS_TIMEOUT not in rig.codes


async def test_an_agent_that_turns_our_limit_into_an_error_of_its_own_is_timed_out_case_46(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(session: AgentSession) -> None:
        try:
            await session.execute(["sleep"])
        except anyio.get_cancelled_exc_class():
            raise ConnectionError("lost") from None

    rig = Rig(tmp_path, LIMITED)
    use(monkeypatch, Scripted(run))
    rig.provider.when("sleep", does=late, forever=True)
    rig.scores()
    end = await rig.trial()
    assert end.timed_out and rig.provider.said("kill_agent")
    assert Code.HARNESS_FAILED not in rig.codes


async def test_the_clock_starts_with_the_first_command_of_the_run_case_10(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def set_up(session: AgentSession) -> None:
        await session.execute(["install"])
        pass_time(2 * LIMIT_SEC)
        await anyio.lowlevel.checkpoint()

    async def run(session: AgentSession) -> None:
        pass_time(2 * LIMIT_SEC)  # thinking, before it has touched anything
        await anyio.lowlevel.checkpoint()
        await session.execute(["true"])

    rig = Rig(tmp_path, LIMITED)
    use(monkeypatch, Scripted(run, set_up))
    rig.scores()
    assert not (await rig.trial()).timed_out


async def test_a_set_up_has_a_budget_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def set_up(session: AgentSession) -> None:
        await anyio.sleep_forever()

    async def run(session: AgentSession) -> None:
        raise AssertionError("never")

    monkeypatch.setattr(agent_phase, "AGENT_SETUP_SEC", 0.02)
    rig = Rig(tmp_path)
    use(monkeypatch, Scripted(run, set_up))
    end = await rig.trial()
    assert end.outcome == "unscored"
    assert rig.issue(Code.AGENT_SETUP_FAILED).severity is Severity.FATAL
    assert rig.provider.up() == []


async def test_an_agent_that_cant_be_stopped_ends_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_phase, "KILL_SEC", 0.02)
    rig = Rig(tmp_path, LIMITED)
    rig.provider.when("work", does=late, forever=True)
    rig.provider.hangs["agent: kill_agent"] = 60
    end = await rig.trial()
    assert (end.outcome, end.timed_out) == ("unscored", True)
    assert rig.codes[:2] == [Code.HARNESS_TIMEOUT, Code.AGENT_NOT_STOPPED]
    assert rig.of(ev.AgentFinished)[0].timed_out
    assert rig.provider.said("test.sh", "main:/logs/artifacts") == []
    assert rig.provider.up() == []


async def test_an_environment_that_the_agent_killed_is_told_apart_and_verified_fresh_case_25(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.provider.when("work", 137, kills_environment=True)
    rig.scores("0")
    end = await rig.trial()
    issue = rig.issue(Code.ENVIRONMENT_DIED)
    assert (issue.severity, issue.phase, issue.service) == (Severity.ERROR, Phase.AGENT, "main")
    assert (end.outcome, end.reward) == ("scored", 0.0)
    assert Code.KILLED_UNKNOWN not in rig.codes


async def test_in_a_dead_shared_environment_nothing_is_verified_case_25(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("work", 137, kills_environment=True)
    rig.scores("1")
    end = await rig.trial()
    assert end.outcome == "unscored"
    died = [issue for issue in rig.issues if issue.code is Code.ENVIRONMENT_DIED]
    assert [(issue.phase, issue.severity) for issue in died] == [
        (Phase.AGENT, Severity.ERROR),
        (Phase.VERIFY, Severity.FATAL),
    ]


async def test_an_agent_that_only_says_that_docker_is_gone_ends_with_exit_1_case_25(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("work", 1, out=b"Cannot connect to the Docker daemon. Is the docker daemon running?\n")
    rig.scores("0")
    end = await rig.trial()
    assert (end.outcome, rig.codes) == ("scored", [Code.AGENT_EXIT_NONZERO])


async def test_a_memory_limit_is_the_environments_word_and_not_repeated_case_17(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.when("work", 137, out_of_memory=True)
    rig.scores()
    await rig.trial()
    assert Code.KILLED_UNKNOWN not in rig.codes and Code.AGENT_EXIT_NONZERO not in rig.codes


async def test_an_environment_that_fails_under_the_agent_ends_the_trial(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.faults["agent: execute main: bash -c work"] = broken(Code.DAEMON_UNREACHABLE, phase=Phase.AGENT)
    end = await rig.trial()
    assert (end.outcome, rig.codes) == ("unscored", [Code.DAEMON_UNREACHABLE])
    assert rig.of(ev.AgentFinished)[0].exit_code is None
    assert [event.ok for event in rig.of(ev.PhaseFinished) if event.phase is Phase.AGENT] == [False]


async def test_a_full_disk_in_the_agents_code_is_ours_case_11(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(session: AgentSession) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "trajectory.json")

    rig = Rig(tmp_path)
    use(monkeypatch, Scripted(run))
    end = await rig.trial()
    assert (end.outcome, rig.codes) == ("unscored", [Code.DISK_FULL])


async def test_steps_add_up_and_their_words_are_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(session: AgentSession) -> None:
        session.report_step(StepReport(what="x" * 5000, tokens_in=10, tokens_out=1, cost_usd=0.5))
        session.report_step(StepReport(what="two\nlines", tokens_in=5, tokens_cached=4))

    rig = Rig(tmp_path)
    use(monkeypatch, Scripted(run))
    rig.scores()
    end = await rig.trial()
    assert (end.tokens_in, end.tokens_cached, end.tokens_out, end.cost_usd) == (15, 4, 1, 0.5)
    steps = rig.of(ev.AgentStepped)
    assert [step.number for step in steps] == [1, 2]
    assert len(steps[0].what) < 600 and steps[1].what == "two ⏎ lines"


async def test_the_agent_gets_the_tasks_instruction_byte_for_byte_case_61(tmp_path: Path) -> None:
    told = b'Don\'t run `reboot` $HOME \\ "q"\r\n\xff\x00 EOF\n'
    rig = Rig(tmp_path, files={"instruction.md": told})
    rig.scores()
    await rig.trial()
    got = rig.command("work").stdin or b""
    assert hashlib.sha256(got).hexdigest() == hashlib.sha256(told).hexdigest()


async def test_the_tasks_user_runs_the_agent(tmp_path: Path) -> None:
    rig = Rig(tmp_path, '[agent]\nuser = "1000:1000"\n[verifier]\nuser = "root"\n')
    rig.scores()
    await rig.trial()
    assert rig.command("work").user == "1000:1000"
    assert rig.command("test.sh").user == "root"


async def test_what_the_set_up_leaves_running_is_the_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that is started in the set-up must not outlive the agent's time."""
    rig = Rig(tmp_path)

    async def set_up(session: AgentSession) -> None:
        await session.execute(["tmux"])

    async def work(session: AgentSession) -> None:
        await session.execute(["work"])

    use(monkeypatch, Scripted(work, set_up))
    rig.scores()
    await rig.trial()
    calls = rig.provider.calls
    assert calls.index("agent: note_processes") < calls.index("agent: execute main: tmux")


async def test_a_kill_for_memory_s_sake_stays_one_though_the_agent_tidies_up_afterwards_case_17(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(session: AgentSession) -> AgentEnd:
        result = await session.execute(["work"])
        await session.execute(["tidy"])
        return AgentEnd(exit_code=result.exit_code)

    rig = Rig(tmp_path)
    use(monkeypatch, Scripted(run))
    rig.provider.when("work", 137, out_of_memory=True)
    rig.scores()
    await rig.trial()
    assert Code.KILLED_UNKNOWN not in rig.codes and Code.AGENT_EXIT_NONZERO not in rig.codes
