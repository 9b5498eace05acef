from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from engine import events as ev
from engine.issues import Code, Issue, Phase, Severity
from engine.layout import EVENTS
from engine.readers.agentcompass_reader import AgentCompassReader
from engine.readers.open_run import open_run
from engine.readers.reader import Liveness
from engine.state import RunState
from engine.text import clean_line
from screens import run_summaries
from screens.run_summaries import stamp, summarise, summarise_all, unique
from screens.run_summary import RunSummary
from screens.summary_cache import SummaryCache
from tests.engine.readers.agentcompass_samples import Sample
from tests.engine.readers.foreign import tree_digest
from tests.screens import fake_run
from tests.screens.fake_run import at
from tests.shared_data import shared_data


def finished_sample(folder: Path) -> Sample:
    sample = Sample(folder)
    sample.begin()
    sample.finish("hello", 1, sample.attempt("hello"))
    sample.result("hello")
    sample.end(12)
    return sample


def listed(*places: Path, known: Iterable[RunSummary] = (), **given: object) -> list[RunSummary]:
    return list(summarise_all(places, {run.key: run for run in known}, **given))  # type: ignore[arg-type]


def numbers(run: RunSummary) -> tuple[object, ...]:
    arms = {arm.name: (arm.passed, arm.finished, arm.assigned) for arm in run.arms}
    return run.done, run.planned, run.issues, arms, run.exit_code, run.started_at


def numbers_of(state: RunState) -> tuple[object, ...]:
    arms = {arm.info.name: (arm.passed, arm.finished, arm.assigned) for arm in state.arms.values()}
    code = state.finished.exit_code if state.finished is not None else None
    return state.done, len(state.trials), sum(state.severities.values()), arms, code, state.started_at


def interrupted_story() -> list[ev.Event]:
    """Trials that ended are set aside and run again, issues and all; the run goes on after its end (case 82)."""
    story = fake_run.finish(fake_run.story())
    trial = next(event.trial for event in story if isinstance(event, ev.TrialFinished) and event.passed)
    issue = Issue(Severity.ERROR, Phase.AGENT, Code.HARNESS_FAILED, "x")
    again: list[ev.Event] = [
        ev.IssueRaised(at=at(2000), trial=trial, issue=issue),
        ev.EngineStarted(at=at(2001), pid=2, host="h", session=2, resumed=True),
        ev.TrialInterrupted(at=at(2002), trial=trial, run_number=1, reason="rerun"),
        ev.TrialStarted(at=at(2003), trial=trial, run_number=2),
        ev.TrialFinished(at=at(2004), trial=trial, outcome="scored", reward=0.0, passed=False),
        ev.TrialFinished(at=at(2005), trial="nobody", outcome="scored", reward=1.0, passed=True),
        ev.IssueRaised(at=at(2005), trial="nobody", issue=issue),
    ]
    return [*story, *again]


def resumed_story() -> list[ev.Event]:
    """Cut off twice, by a cancel and by a kill, before it came to its end (case 77)."""
    trial = next(event.trial for event in fake_run.story() if isinstance(event, ev.TrialFinished))
    return [
        *fake_run.finish(fake_run.story()),
        ev.EngineStarted(at=at(20_000), pid=2, host="h", session=2, resumed=True),
        ev.TrialInterrupted(at=at(20_001), trial=trial, run_number=1, reason="rerun"),
        ev.TrialStarted(at=at(20_002), trial=trial, run_number=2),
        ev.AgentStepped(at=at(20_007), trial=trial, number=1, what="the last word of an engine that is killed"),
        ev.EngineStarted(at=at(30_000), pid=3, host="h", session=3, resumed=True),
        ev.RunFinished(at=at(30_003), exit_code=0, seconds=2.5),
        ev.EngineStopped(at=at(30_004), reason="0"),
    ]


def test_a_run_that_was_gone_on_with_took_what_all_its_engines_worked(tmp_path: Path) -> None:
    story = fake_run.finish(fake_run.story())
    fake_run.write(tmp_path / "once", story)
    fake_run.write(tmp_path / "again", resumed_story())
    once, again = summarise(tmp_path / "once").seconds, summarise(tmp_path / "again").seconds
    assert once is not None and again == pytest.approx(once + 7 + 2.5)


@pytest.mark.parametrize(
    "make",
    [
        fake_run.story,
        lambda: fake_run.finish(fake_run.story()),
        interrupted_story,
        resumed_story,
        lambda: resumed_story()[:-3],
        lambda: resumed_story()[:-2],
    ],
)
def test_a_summary_has_the_numbers_of_the_whole_state(tmp_path: Path, make: object) -> None:
    events = make()  # type: ignore[operator]
    fake_run.write(tmp_path / "run", events)
    state = RunState()
    state.apply_all(events)
    found = summarise(tmp_path / "run")
    assert numbers(found) == numbers_of(state)
    assert found.kind == "trialdeck" and found.last_event_at is not None
    assert found.seconds == (state.elapsed(found.last_event_at) if state.finished is None else state.took)
    last = ev.decode((tmp_path / "run" / EVENTS).read_bytes().splitlines()[-1])
    assert last is not None and found.last_event_at == last.at


def test_the_recorded_run_sums_up_to_what_its_state_says() -> None:
    folder = Path(__file__).parents[2] / "sample_runs" / "recorded" / "demo"
    reader, state = open_run(folder).reader(), RunState()
    while events := reader.poll():
        state.apply_all(events)
    reader.close()
    assert numbers(summarise(folder)) == numbers_of(state)


def test_a_run_that_was_swept_is_no_younger_for_it(tmp_path: Path) -> None:
    story = fake_run.finish(fake_run.story())
    gone = ev.EnvironmentGone(at=at(99_999), trial="t", container="0a1b2c")
    fake_run.write(tmp_path / "run", [*story, gone])
    assert summarise(tmp_path / "run").last_event_at == story[-1].at


def test_a_broken_event_file_is_still_a_row(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / EVENTS).write_bytes(b'\xff\x00{"type":"run_pl\n{"type":"trial_finished","trial":7}\n')
    found = summarise(tmp_path / "run")
    assert (found.name, found.done, found.planned) == ("run", 0, 0)


def test_runs_of_other_systems_are_rows_of_the_same_kind(tmp_path: Path) -> None:
    finished_sample(tmp_path / "r1")
    (found,) = listed(tmp_path)
    assert (found.kind, found.done, found.planned, found.exit_code) == ("agentcompass", 1, 1, 0)
    assert found.liveness is Liveness.FINISHED
    assert found.arms[0].name == "sonnet claude_code"


def test_the_run_that_was_written_to_last_comes_first(tmp_path: Path) -> None:
    for age, name in enumerate(("new", "old")):
        fake_run.write(tmp_path / name, fake_run.finish(fake_run.story()))
        os.utime(tmp_path / name / EVENTS, (1_000_000 - age, 1_000_000 - age))
    assert [run.folder.name for run in listed(tmp_path)] == ["new", "old"]


def test_one_name_in_two_folders_is_two_rows(tmp_path: Path) -> None:
    for place in ("a", "b"):
        fake_run.write(tmp_path / place / "run", fake_run.finish(fake_run.story()))
    assert len({run.key for run in listed(tmp_path / "a", tmp_path / "b")}) == 2


# --- not read again ---


def unread(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    read: list[Path] = []

    def counting(run: object) -> RunSummary:
        read.append(run.folder)  # type: ignore[attr-defined]
        return summarise(run)  # type: ignore[arg-type]

    monkeypatch.setattr(run_summaries, "summarise", counting)
    return read


def test_what_is_over_and_unchanged_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_run.write(tmp_path / "over", fake_run.finish(fake_run.story()))
    sample = finished_sample(tmp_path / "r1")
    known = listed(tmp_path)
    read = unread(monkeypatch)
    assert listed(tmp_path, known=known) == known
    assert read == []
    sample.result("hello", reward=0.0)
    again = {run.key: run for run in listed(tmp_path, known=known)}
    assert read == [sample.folder]
    assert again[str(sample.folder)].arms[0].passed == 0


def test_a_kept_summary_serves_the_next_start_and_never_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = finished_sample(tmp_path / "runs" / "r1")
    fake_run.write(tmp_path / "runs" / "ours", fake_run.finish(fake_run.story()))
    file = tmp_path / "cache" / "summaries.json"
    cache = SummaryCache(file)
    first = listed(tmp_path / "runs", cache=cache)
    cache.save()
    read = unread(monkeypatch)
    assert listed(tmp_path / "runs", cache=SummaryCache(file)) == first
    assert read == []
    sample.result("hello", reward=0.0)
    (changed,) = [run for run in listed(tmp_path / "runs", cache=SummaryCache(file)) if run.kind == "agentcompass"]
    assert changed.arms[0].passed == 0


def test_a_run_that_is_not_over_is_never_kept(tmp_path: Path) -> None:
    fake_run.write(tmp_path / "runs" / "goes-on", fake_run.story())
    cache = SummaryCache(tmp_path / "summaries.json")
    listed(tmp_path / "runs", cache=cache)
    cache.save()
    assert not (tmp_path / "summaries.json").exists()


@pytest.mark.parametrize("content", [b"", b"{", b'{"version": "0", "runs": {}}', b'{"version": 3}', b"\xff"])
def test_a_broken_cache_holds_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "summaries.json"
    file.write_bytes(content)
    assert SummaryCache(file).get(tmp_path) is None


def test_a_cache_that_can_not_be_written_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    fake_run.write(tmp_path / "run", fake_run.finish(fake_run.story()))
    cache = SummaryCache(tmp_path / "file" / "summaries.json")
    assert len(listed(tmp_path / "run", cache=cache)) == 1
    cache.save()


def test_a_stamp_tells_of_every_change_below_a_foreign_folder(tmp_path: Path) -> None:
    sample = finished_sample(tmp_path / "r1")
    seen = {stamp(sample.folder)}
    path = sample.result("hello", reward=0.0)
    seen.add(stamp(sample.folder))
    path.rename(path.with_name("other.json"))
    seen.add(stamp(sample.folder))
    assert len(seen) == 3
    assert () not in seen


def test_a_folder_with_too_many_files_has_no_stamp_and_is_read_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = finished_sample(tmp_path / "r1")
    monkeypatch.setattr(run_summaries, "_MOST_FILES", 3)
    known = listed(tmp_path)
    assert known[0].stamp == ()
    read = unread(monkeypatch)
    listed(tmp_path, known=known)
    assert read == [sample.folder]


# --- glances ---


def test_a_finished_job_is_told_at_once_and_then_whole() -> None:
    folder = shared_data("harbor-jobs", "eight-attempts")
    glance, whole = listed(folder, glances=True)
    assert glance.issues is None and whole.issues is not None
    assert (glance.done, glance.planned) == (whole.done, whole.planned) == (8, 8)
    assert [(arm.passed, arm.finished, arm.assigned) for arm in glance.arms] == [
        (arm.passed, arm.finished, arm.assigned) for arm in whole.arms
    ]
    assert glance.seconds is not None and whole.seconds == pytest.approx(glance.seconds, abs=0.5)
    assert unique([glance, whole]) == [whole]


def test_a_job_that_is_not_over_is_read_whole_at_once() -> None:
    (found,) = listed(shared_data("harbor-jobs", "killed"), glances=True)
    assert found.issues is not None
    assert found.liveness is not Liveness.FINISHED


def test_all_of_the_shared_jobs_are_listed_and_none_is_touched() -> None:
    folder = shared_data("harbor-jobs")
    before = tree_digest(folder)
    runs = unique(listed(folder, glances=True))
    assert len(runs) == 13
    assert all(clean_line(run.name) == run.name for run in runs)
    assert tree_digest(folder) == before


def test_a_run_that_trips_its_reader_hides_no_other_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished_sample(tmp_path / "a" / "r1")
    finished_sample(tmp_path / "b" / "r2")
    poll = AgentCompassReader.poll

    def trip(reader: AgentCompassReader) -> list[ev.AnyEvent]:
        if reader.folder.name == "r1":
            raise ValueError("tripped")
        return poll(reader)

    monkeypatch.setattr(AgentCompassReader, "poll", trip)
    assert {run.folder.name: run.done for run in listed(tmp_path)} == {"r1": 0, "r2": 1}
