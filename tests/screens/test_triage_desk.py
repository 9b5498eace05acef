"""The desk behind triage: two people on one file, a disk that fails, rules that take their time or break."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Phase, Severity
from engine.layout import LogFile
from engine.state import RunState
from engine.triage.causes import Cause
from engine.triage.label_store import LabelStore
from engine.triage.labels import Label
from engine.triage.proposal import Finding, Proposal, Strength
from engine.trial_state import TrialState
from screens import triage_proposals
from screens.source import RunSource
from screens.triage_desk import TriageDesk
from tests.screens import fake_run, fake_triage
from tests.screens.deck import screen_text, until
from tests.screens.fake_run import at
from tests.screens.fake_triage import OOM, OOM_TOO, PASSED, PLAIN, A, labels_in, settle, triage_opened, written

pytestmark = pytest.mark.anyio

BOUND_SEC = 30.0


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return fake_triage.write(tmp_path / "run")


class Seat:
    """A desk without a screen: this thread plays the UI thread."""

    def __init__(self, folder: Path, who: str, rules: triage_proposals.Rules = fake_triage.rules) -> None:
        self.source = RunSource(folder, lambda: at(2000))
        self.source.start()
        self.desk = TriageDesk(self.source, who, lambda: at(2000), rules)
        self.news = threading.Event()
        self.desk.on_news = self.news.set
        self.desk.start()
        self.until(lambda: self.source.caught_up and self.desk.ready)

    def until(self, true: Callable[[], bool]) -> None:
        ends = time.monotonic() + BOUND_SEC
        while True:
            self.source.pump()
            self.desk.take_in()
            if true():
                return
            assert time.monotonic() < ends, "never happened"
            self.news.wait(0.01)
            self.news.clear()

    def written(self) -> None:
        self.until(lambda: not self.desk.unwritten)

    def close(self) -> None:
        self.desk.close()
        self.source.close()
        self.desk._labels.join(BOUND_SEC)


@contextmanager
def seat(folder: Path, who: str = "ada", rules: triage_proposals.Rules = fake_triage.rules) -> Iterator[Seat]:
    taken = Seat(folder, who, rules)
    try:
        yield taken
    finally:
        taken.close()


# --- two people ---


def test_two_desks_on_one_file_see_each_other_and_lose_nothing(run: Path) -> None:
    with seat(run, "ada") as ada, seat(run, "bob") as bob:
        ada.desk.label((OOM,), Cause.INFRASTRUCTURE)
        bob.desk.label((OOM,), Cause.AGENT)
        ada.written()
        bob.written()
        for one in (ada, bob):
            one.until(lambda one=one: len(one.desk.book.standing(OOM)) == 2)  # type: ignore[misc]
            assert one.desk.book.disagreements(one.desk.who) == [OOM]
        bob.desk.settle(OOM, Cause.INFRASTRUCTURE, note="docker says so")
        bob.written()
        ada.until(lambda: ada.desk.book.settled(OOM) is not None)
        assert ada.desk.cause(OOM) is Cause.INFRASTRUCTURE and not ada.desk.book.disagreements("ada")
    assert len(labels_in(run)) == 3


def test_what_somebody_takes_out_of_the_file_counts_no_more_is_said_and_can_be_written_again(run: Path) -> None:
    with seat(run, "ada") as ada:
        ada.desk.label((OOM,), Cause.INFRASTRUCTURE, note="docker says so")
        ada.desk.label((PLAIN,), Cause.MODEL)
        ada.written()
        whole = labels_in(run)
        file = run / "labels.jsonl"
        file.write_bytes(file.read_bytes().splitlines(keepends=True)[1])
        ada.until(lambda: ada.desk.gone == 1)
        assert ada.desk.cause(OOM) is None and ada.desk.cause(PLAIN) is Cause.MODEL
        ada.desk.write_again()
        ada.written()
        assert ada.desk.cause(OOM) is Cause.INFRASTRUCTURE and not ada.desk.gone
        assert {one.id: one for one in labels_in(run)} == {one.id: one for one in whole}
        ada.desk.label((PLAIN,), Cause.TASK)
        ada.written()
    assert len(labels_in(run)) == 3


def test_all_fold_the_order_of_the_file_though_each_saw_its_own_first(run: Path) -> None:
    """The last settlement in the file stands, for whoever made the earlier one too."""
    with seat(run, "ada") as ada, seat(run, "bob") as bob:
        ada.desk.settle(OOM, Cause.MODEL)
        ada.written()
        bob.desk.settle(OOM, Cause.TASK)
        bob.written()
        for one in (ada, bob):
            one.until(lambda one=one: one.desk.cause(OOM) is Cause.TASK)  # type: ignore[misc]


def test_what_was_decided_counts_at_once_before_it_is_on_the_disk(run: Path) -> None:
    with seat(run) as ada:
        told: list[set[str]] = []
        ada.desk.listen(told.append)
        ada.desk.label((OOM,), Cause.INFRASTRUCTURE)
        assert ada.desk.decided(OOM) and ada.desk.unwritten == 1 and OOM in told[0]
        task = ada.source.state.trials[OOM].task
        assert ada.desk.as_analysis_labels() == {(task, A, 1): "infrastructure"}
        ada.written()


def test_labels_of_a_foreign_run_leave_its_folder_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    run = fake_triage.write(tmp_path / "run")
    before = sorted(str(path) for path in run.rglob("*"))
    with seat(run) as ada:
        monkeypatch.setattr(type(ada.source.run), "ours", property(lambda self: False))
    with seat(run) as ada:
        ada.desk.label((OOM,), Cause.MODEL)
        ada.written()
        assert ada.desk.path is not None and ada.desk.path.is_relative_to(tmp_path / "data")
    assert sorted(str(path) for path in run.rglob("*")) == before


# --- a disk that fails ---


class FullDisk:
    """Appending fails while `full`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = True
        real = LabelStore.append_all

        def append_all(store: LabelStore, labels: list[Label]) -> None:
            if self.full:
                raise OSError(28, os.strerror(28))
            real(store, labels)

        monkeypatch.setattr(LabelStore, "append_all", append_all)


async def test_what_cannot_be_written_is_said_loudly_kept_and_written_later(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    async with triage_opened(run) as (app, pilot, screen):
        await pilot.press("i", "m")
        await until(pilot, lambda: "2 decisions NOT WRITTEN" in screen_text(app), "it is said")
        assert "No space left on device" in screen_text(app) and "2 of 5 decided" in screen_text(app)
        assert labels_in(run) == []
        disk.full = False
        await pilot.press("W")
        await written(pilot, screen)
        await settle(pilot)
        assert "NOT WRITTEN" not in screen_text(app)
    assert [label.cause for label in labels_in(run)] == [Cause.INFRASTRUCTURE, Cause.MODEL]


def test_what_is_unwritten_at_the_end_is_saved_elsewhere_and_said(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    FullDisk(monkeypatch)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    at_the_end: list[Callable[[], object]] = []

    def register(call: Callable[..., object], *given: object, **more: object) -> None:
        at_the_end.append(lambda: call(*given, **more))

    monkeypatch.setattr(atexit, "register", register)
    with seat(run) as ada:
        ada.desk.label((OOM,), Cause.INFRASTRUCTURE, note="kept")
    [say] = at_the_end
    say()
    said = capsys.readouterr().err
    assert "1 decision could not be written" in said and "No space left on device" in said
    [saved] = (tmp_path / "state").rglob("unwritten-labels-*.jsonl")
    assert str(saved) in said
    monkeypatch.undo()
    (run / "labels.jsonl").write_bytes(saved.read_bytes())
    assert [label.note for label in labels_in(run)] == ["kept"]


def test_where_nothing_can_be_saved_each_decision_is_told(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FullDisk(monkeypatch)
    monkeypatch.setattr("screens.triage_rescue._places", lambda: iter(()))
    at_the_end: list[tuple[object, ...]] = []
    monkeypatch.setattr(atexit, "register", lambda call, *given, **more: at_the_end.append(given))
    with seat(run) as ada:
        ada.desk.label((OOM, PLAIN), Cause.MODEL, note="n\x1b[2J")
    [(said,)] = at_the_end
    assert isinstance(said, str) and "live-database-cutover · sonnet-5.5 · attempt 1: label model" in said
    assert "payments-pipeline-fix" in said and "\x1b" not in said


def test_damaged_lines_of_the_file_are_said_and_passed_over(run: Path) -> None:
    (run / "labels.jsonl").write_bytes(b'{"id": "half\n')
    with seat(run) as ada:
        assert "labels.jsonl, line 1" in ada.desk.damaged[0]
        ada.desk.label((OOM,), Cause.MODEL)
        ada.written()
    assert len(labels_in(run)) == 1


def test_nothing_can_be_decided_before_the_labels_are_read(run: Path) -> None:
    source = RunSource(run, lambda: at(2000))
    desk = TriageDesk(source, "ada", lambda: at(2000), fake_triage.rules)
    with pytest.raises(ValueError, match="still being read"):
        desk.label((OOM,), Cause.MODEL)
    desk.close()


# --- proposals ---


def test_the_trial_that_is_looked_at_comes_before_all_others(run: Path) -> None:
    gate, order = threading.Event(), []

    def slow(trial: TrialState, state: RunState, folder: Path, logs: list[LogFile]) -> Proposal:
        gate.wait(BOUND_SEC)
        order.append(trial.trial)
        return fake_triage.rules(trial, state, folder, logs)

    with seat(run, rules=slow) as ada:
        ada.desk.look_through()
        ada.until(lambda: ada.desk.looking_at > 5)
        assert ada.desk.findings(PASSED) is None
        gate.set()
        ada.until(lambda: ada.desk.findings(PASSED) is not None)
        assert order.index(PASSED) <= 1, "one may have been under way"
        ada.until(lambda: ada.desk.looking_at == 0)


def test_rules_that_break_are_said_on_the_trial_and_stop_nothing(run: Path) -> None:
    def broken(trial: TrialState, state: RunState, folder: Path, logs: list[LogFile]) -> Proposal:
        if trial.trial == OOM:
            raise KeyError("reward\x1b[2J")
        return fake_triage.rules(trial, state, folder, logs)

    with seat(run, rules=broken) as ada:
        ada.desk.look_through()
        ada.until(lambda: ada.desk.looking_at == 0)
        assert "the rules failed here" in ada.desk.rules_problem(OOM) and "\x1b" not in ada.desk.rules_problem(OOM)
        proposal = ada.desk.findings(OOM_TOO)
        assert proposal is not None and proposal.cause is Cause.INFRASTRUCTURE


def test_a_trial_with_news_is_looked_at_again(run: Path) -> None:
    with seat(run) as ada:
        ada.until(lambda: ada.desk.findings(PLAIN) is not None)
        looked: list[set[str]] = []
        ada.desk.listen(looked.append)
        issue = fake_run.issue(Severity.ERROR, Phase.CLEANUP, Code.LEFTOVER, "a network is left")
        fake_run.write(run, [ev.IssueRaised(at=at(1600), trial=PLAIN, issue=issue)], alive=False)
        ada.until(lambda: bool(ada.source.state.trials[PLAIN].issues))
        ada.until(lambda: ada.desk.findings(PLAIN) is not None and any(PLAIN in trials for trials in looked))


def test_ten_thousand_failures_are_remembered_in_short(tmp_path: Path) -> None:
    """Which rules speak for what is shared by all; only the last ones seen are kept in full."""
    trials = 10_000
    planned: list[ev.Event] = [
        ev.RunPlanned(run="r", name="big", task_set=ev.TaskSetInfo(name="t"), arms=(), tasks=trials, trials=trials),
        *(
            ev.TrialPlanned(trial=f"t{number}", task=f"t{number}", arm="a", attempt=1, position=number)
            for number in range(trials)
        ),
        *(
            ev.TrialFinished(trial=f"t{number}", outcome="scored", reward=0.0, passed=False, seconds=1.0)
            for number in range(trials)
        ),
    ]
    source = RunSource(tmp_path)
    source.state.apply_all(planned)

    def found(trial: TrialState, state: RunState, folder: Path, logs: list[LogFile]) -> Proposal:
        finding = Finding(
            rule="r", cause=Cause.MODEL, strength=Strength.WEAK, text=f"{trial.trial} {'x' * 500}", source="log"
        )
        return Proposal(cause=Cause.MODEL, findings=(finding,))

    came = threading.Event()
    proposals = triage_proposals.Proposals(source, came.set, found)
    proposals.want(source.state.trials)
    ends = time.monotonic() + 2 * BOUND_SEC
    while proposals.waiting and time.monotonic() < ends:
        came.wait(1.0)
        came.clear()
        proposals.take()
    proposals.close()
    assert len(proposals) == trials
    assert len({id(finding) for proposal in proposals.values() for finding in proposal.findings}) == 1
    in_full = [trial for trial in proposals if proposals.known(trial).findings[0].text]  # type: ignore[union-attr]
    assert len(in_full) == triage_proposals.MOST_IN_FULL


def test_case_55_a_trial_that_ends_in_a_live_run_has_its_tasks_other_trials_looked_at_again(tmp_path: Path) -> None:
    """The verdicts of attempts disagree only once there are two; a run that stands still is looked at once."""
    source = RunSource(tmp_path)
    plan = [ev.TrialPlanned(task=name[0], trial=name, arm="a", attempt=1, position=1) for name in ("x1", "x2", "y1")]
    source.state.apply_all([*plan, *(ev.TrialStarted(trial=trial.trial) for trial in plan)])

    def end(trial: str, reward: float) -> None:
        source.state.apply(
            ev.TrialFinished(trial=trial, outcome="scored", passed=reward == 1, reward=reward, seconds=1.0)
        )

    looked: list[str] = []

    def found(trial: TrialState, state: RunState, folder: Path, logs: list[LogFile]) -> Proposal:
        looked.append(trial.trial)
        return Proposal(cause=None)

    came = threading.Event()
    proposals = triage_proposals.Proposals(source, came.set, found)

    def look() -> None:
        proposals.want(source.state.trials)
        ends = time.monotonic() + BOUND_SEC
        while proposals.waiting and time.monotonic() < ends:
            came.wait(1.0)
            came.clear()
            proposals.take()

    end("x1", 0.0)
    end("y1", 0.0)
    look()
    assert sorted(looked) == ["x1", "y1"]
    end("x2", 1.0)
    look()
    assert looked[2:] == ["x2", "x1"]
    look()
    proposals.close()
    assert len(looked) == 4


def test_asking_for_a_row_has_the_rules_look_at_it(run: Path) -> None:
    with seat(run) as ada:
        assert ada.desk.proposal(OOM) is None
        ada.until(lambda: ada.desk.proposal(OOM) is not None)
        proposal = ada.desk.proposal(OOM)
        assert proposal is not None and proposal.cause is Cause.INFRASTRUCTURE
