"""Faults of ours and of the host end as issues of one trial; its record is whole and its environments are gone."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from engine import events as ev
from engine.events import ArmInfo
from engine.issues import Code, Issue, Phase, Severity
from engine.trial import log_file
from engine.trial.log_file import LogFile
from tests.engine.fake_environment import Command, broken
from tests.engine.trial.trials import FRESH, Rig

NO_SPACE = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.anyio
async def test_what_fails_in_prepare_never_starts_the_agent_case_2(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.faults["agent: start"] = broken(Code.SERVICE_UNHEALTHY, "db is unhealthy after 6 s")
    end = await rig.trial()
    assert (end.outcome, end.agent_seconds) == ("unscored", None)
    assert rig.issue(Code.SERVICE_UNHEALTHY).phase is Phase.PREPARE
    assert rig.provider.said("work") == [] and rig.provider.up() == []
    assert [(event.phase, event.ok) for event in rig.of(ev.PhaseFinished)] == [
        (Phase.PREPARE, False),
        (Phase.CLEANUP, True),
    ]


@pytest.mark.anyio
async def test_a_bug_of_ours_is_one_unscored_trial_with_its_traceback(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.provider.faults["agent: note_processes"] = KeyError("oops")
    assert (await rig.trial()).outcome == "unscored"
    issue = rig.issue(Code.ENGINE_FAILED)
    assert (issue.severity, issue.phase) == (Severity.FATAL, Phase.AGENT)
    assert "KeyError" in issue.message and "\n" not in issue.message
    assert "Traceback" in (rig.folder / "exception.txt").read_text()
    assert rig.provider.up() == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, Code.DISK_FULL),
        (errno.EDQUOT, Code.DISK_FULL),
        (errno.EMFILE, Code.OUT_OF_DESCRIPTORS),
        (errno.ENFILE, Code.OUT_OF_DESCRIPTORS),
        (errno.EACCES, Code.ENGINE_FAILED),
    ],
)
async def test_a_full_disk_and_no_descriptors_are_the_hosts_cases_11_and_73(
    tmp_path: Path, number: int, code: Code
) -> None:
    rig = Rig(tmp_path)
    rig.provider.faults["agent: download main:/logs/agent"] = OSError(number, "words", "/x")
    assert (await rig.trial()).outcome == "unscored"
    assert rig.codes == [code]
    assert "way out" in {fact.label for fact in rig.issue(code).evidence} or code is Code.ENGINE_FAILED


@pytest.mark.anyio
async def test_a_disk_that_takes_nothing_at_all_still_leaves_nothing_up_case_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **more: object) -> int:
        raise NO_SPACE

    rig = Rig(tmp_path)
    rig.provider.when("work", does=lambda command: _fill(monkeypatch, full), out=b"lost\n")
    end = await rig.trial()
    assert end.outcome == "unscored"
    assert Code.DISK_FULL in rig.codes
    assert rig.provider.up() == []
    assert rig.record is not None and rig.record.finished is end


def _fill(monkeypatch: pytest.MonkeyPatch, full: object) -> None:
    """From now on no file takes a byte."""
    for name in ("write_bytes", "write_text", "mkdir"):
        monkeypatch.setattr(Path, name, full)
    monkeypatch.setattr(log_file.LogFile, "write", _write_to_nothing)


def _write_to_nothing(self: LogFile, stream: str, data: bytes) -> None:
    self.failed = NO_SPACE


@pytest.mark.anyio
async def test_failures_of_several_tasks_at_once_are_said_as_the_first(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    inner = ExceptionGroup("tasks", [ExceptionGroup("more", [broken(Code.PULL_FAILED, "no manifest")])])
    rig.provider.faults["agent: start"] = inner
    await rig.trial()
    assert rig.codes == [Code.PULL_FAILED]


@pytest.mark.anyio
async def test_a_fatal_issue_that_comes_by_itself_leaves_the_trial_unscored(tmp_path: Path) -> None:
    rig = Rig(tmp_path)

    def dies(command: object) -> None:
        issue = Issue(Severity.FATAL, None, Code.ENVIRONMENT_FAILED, "the daemon restarted")
        rig.agent().emit(ev.IssueRaised(trial=rig.job.trial, issue=issue))

    rig.provider.when("work", does=dies)
    rig.scores()
    end = await rig.trial()
    assert (end.outcome, end.reward) == ("unscored", None)
    assert rig.record is not None and rig.record.verdicts[0].reward == 1.0


@pytest.mark.anyio
async def test_the_environment_knows_which_phase_it_is_in(tmp_path: Path) -> None:
    rig = Rig(tmp_path, '[verifier]\n[[verifier.collect]]\ncommand = "dump"\n')
    seen: dict[str, Phase] = {}

    def look(command: Command) -> None:
        seen[command.words[-1]] = command.environment.phase

    for word in ("work", "dump", "/tests/test.sh"):
        rig.provider.when(word, does=look)
    await rig.trial()
    assert seen == {"work": Phase.AGENT, "dump": Phase.COLLECT, "/tests/test.sh": Phase.VERIFY}


@pytest.mark.anyio
async def test_the_trials_log_tells_its_story_and_is_closed(tmp_path: Path) -> None:
    rig = Rig(tmp_path, FRESH)
    rig.provider.when("work", 2, out=b"\x1b[31mred\x1b[0m\n")
    rig.scores("0")
    await rig.trial()
    text = (rig.folder / "trial.log").read_text()
    for words in ("--- prepare", "--- agent", "agent_exit_nonzero", "take the environment down", "scored, reward 0"):
        assert words in text
    assert "\x1b" not in text
    assert rig.record is not None
    rig.record.log("too late")
    rig.record.emit(ev.ActivityChanged(trial=rig.job.trial, activity="an event that came late"))
    assert (rig.folder / "trial.log").read_text() == text


@pytest.mark.anyio
async def test_no_file_of_a_trial_holds_a_nan_case_47(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.scores('{"reward": NaN}', name="reward.json")
    await rig.trial()
    for event in [*rig.events, rig.record and rig.record.finished]:
        assert isinstance(event, ev.Event)
        json.loads(ev.encode(event), parse_constant=_refuse)


def _refuse(word: str) -> None:
    raise AssertionError(word)


def test_a_log_counts_the_lines_that_were_there_and_remembers_its_end(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "x.log").write_bytes(b"1\n2\n")
    with LogFile(tmp_path / "logs" / "x.log", tmp_path) as log:
        log.write("stdout", b"3\n" + b"y" * 10_000)
        assert (log.name, log.lines, log.tail) == ("logs/x.log", 3, b"y" * 4096)
    assert (tmp_path / "logs" / "x.log").read_bytes().startswith(b"1\n2\n3\ny")


def test_a_log_that_can_not_grow_says_so_and_goes_on_case_11(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.log").symlink_to("/dev/full")  # endless to read, and takes nothing
    monkeypatch.setattr(log_file, "_lines_in", lambda path: 0)
    with LogFile(tmp_path / "x.log", tmp_path) as log:
        assert log.complaint(Phase.AGENT) is None
        log.write("stdout", b"lost\n")
        log.write("stderr", b"lost as well\n")
        assert log.tail.endswith(b"lost as well\n")
        complaint = log.complaint(Phase.AGENT)
    assert complaint is not None
    assert (complaint.severity, complaint.code) == (Severity.WARNING, Code.DISK_FULL)
    assert "x.log is not complete: No space left on device" in complaint.message


@pytest.mark.anyio
async def test_an_arm_whose_sessions_are_gone_is_said_in_its_own_words(tmp_path: Path) -> None:
    arm = ArmInfo(name="b", agent="replay", parameters={"sessions": str(tmp_path / "gone")})
    rig = Rig(tmp_path, arm=arm)
    assert (await rig.trial()).outcome == "unscored"
    issue = rig.issue(Code.AGENT_SETUP_FAILED)
    assert issue.phase is Phase.AGENT and "no such file or folder" in issue.message
    assert not (rig.folder / "exception.txt").exists()
    assert rig.provider.up() == []
