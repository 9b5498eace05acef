"""Notices: each event once, nothing that was so before, and sequences that a terminal and tmux take."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.notices import Notice, Notices, terminal_sequence
from console.settings import Notifications
from engine import events as ev
from engine.issues import Code, Severity
from engine.readers.reader import Liveness
from screens.run_alarm import NONE_PASSED, SAME, AlarmWatch
from screens.source import RunSource
from tests.screens import fake_run
from tests.screens.fake_run import at


@pytest.fixture
def source(tmp_path: Path) -> RunSource:
    found = RunSource(tmp_path / "run", lambda: at(1500))
    found.state.apply_all(fake_run.story())
    found.caught_up, found.liveness = True, Liveness.LIVE
    return found


def test_the_end_is_said_once_and_not_of_a_run_that_was_over(source: RunSource) -> None:
    notices = Notices(Notifications())
    assert notices.look(source, source.state.trials) == []
    source.state.apply(ev.RunFinished(at=at(1600), exit_code=3, seconds=1600.0))
    source.liveness = Liveness.FINISHED
    said = notices.look(source, {""})
    assert [notice.text for notice in said] == ["sonnet against sol has ended: 5 of 10 trials passed"]
    assert notices.look(source, {""}) == []
    assert Notices(Notifications()).look(source, source.state.trials) == [], "it was over when it was opened"


def test_a_resumed_run_can_end_again(source: RunSource) -> None:
    notices = Notices(Notifications())
    notices.look(source, source.state.trials)
    source.state.apply(ev.RunFinished(at=at(1600), exit_code=130, seconds=1600.0))
    source.liveness = Liveness.FINISHED
    assert [notice.text for notice in notices.look(source, {""})] == [
        "sonnet against sol was interrupted: 5 of 10 trials passed"
    ]
    source.state.apply(ev.EngineStarted(at=at(1700), pid=2, host="bench", session=2))
    assert notices.look(source, {""}) == [], "it goes on, though nobody has looked for its owner yet"
    source.state.apply(ev.RunFinished(at=at(1800), exit_code=0, seconds=100.0))
    assert len(notices.look(source, {""})) == 1


def test_a_gone_engine_and_a_fatal_issue_of_the_run_are_said(source: RunSource) -> None:
    notices = Notices(Notifications())
    notices.look(source, source.state.trials)
    issue = fake_run.issue(Severity.FATAL, None, Code.HOST_TOO_SMALL, "no space\x1b[2J left")
    source.state.apply(ev.RunIssue(at=at(1501), issue=issue))
    source.liveness = Liveness.STALE
    said = notices.look(source, {""})
    assert len(said) == 2 and all(notice.bad for notice in said)
    assert not any("\x1b" in notice.text for notice in said)


def test_what_is_not_wanted_is_not_said(source: RunSource) -> None:
    notices = Notices(Notifications(run_ends=False, goes_bad=False))
    notices.look(source, source.state.trials)
    source.liveness = Liveness.FINISHED
    assert notices.look(source, {""}) == []


def test_sequences_hold_no_control_code_of_the_text_and_pass_through_tmux() -> None:
    notice = Notice("run; \x1b]52;c;AAAA\x07 ended")
    assert terminal_sequence(notice, Notifications(bell=False), in_tmux=False) == ""
    assert terminal_sequence(notice, Notifications(), in_tmux=True) == "\a"
    plain = terminal_sequence(notice, Notifications(bell=False, desktop="osc9"), in_tmux=False)
    assert (
        plain.startswith("\x1b]9;run, ") and plain.endswith("\x07") and plain.count("\x1b") == plain.count("\x07") == 1
    )
    wrapped = terminal_sequence(notice, Notifications(bell=False, desktop="osc777"), in_tmux=True)
    assert wrapped.startswith("\x1bPtmux;\x1b\x1b]777;notify;trialdeck;run, ") and wrapped.endswith("\x07\x1b\\")


def ended_with(watch: AlarmWatch, source: RunSource, numbers: range, passed: bool | None, code: Code | None) -> None:
    for number in numbers:
        trial = fake_run.trial_id(number, "sol-6.1", 1)
        if code is not None:
            issue = fake_run.issue(Severity.FATAL, None, code, "x")
            source.state.apply(ev.IssueRaised(at=at(2000 + number), trial=trial, issue=issue))
        source.state.apply_all(fake_run.ended(trial, 2000 + number, passed))
        watch.update({trial})


@pytest.fixture
def fresh(tmp_path: Path) -> RunSource:
    found = RunSource(tmp_path / "run", lambda: at(1500))
    found.state.apply_all(fake_run.plan(tasks=40))
    return found


def test_the_same_end_in_a_row_raises_an_alarm_and_a_pass_lays_it(fresh: RunSource) -> None:
    watch = AlarmWatch(fresh.state)
    ended_with(watch, fresh, range(SAME - 1), None, Code.BUILD_FAILED)
    assert watch.alarms() == []
    ended_with(watch, fresh, range(SAME - 1, SAME + 2), None, Code.BUILD_FAILED)
    assert [(alarm.arm, alarm.many, alarm.code) for alarm in watch.alarms()] == [
        ("sol-6.1", SAME + 2, "image_build_failed")
    ]
    ended_with(watch, fresh, range(SAME + 2, SAME + 3), True, None)
    assert watch.alarms() == []


def test_hard_tasks_are_no_alarm_until_none_of_many_has_passed(fresh: RunSource) -> None:
    watch = AlarmWatch(fresh.state)
    ended_with(watch, fresh, range(NONE_PASSED - 1), False, None)
    assert watch.alarms() == []
    ended_with(watch, fresh, range(NONE_PASSED - 1, NONE_PASSED), False, None)
    assert [alarm.text("B") for alarm in watch.alarms()] == [f"B: none of {NONE_PASSED} trials has passed"]
