"""The commands on folders of other systems: the same words, and not one byte written into them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from console import plain_output
from console.commands.cancel import cancel
from console.commands.export import export
from console.commands.resume import resume
from console.commands.runs import runs
from console.commands.show import show
from console.commands.watch import watch
from console.errors import Unusable
from console.find_run import find_own_run, find_places, find_run
from console.out import Out
from console.plain_output import PlainFollower
from console.run_condition import load
from engine.readers import agentcompass_reader, owner_process
from tests.console.run_folders import whole_run, write
from tests.engine.readers.agentcompass_samples import Sample
from tests.engine.readers.foreign import tree_digest
from tests.engine.readers.swe_bench_samples import summary
from tests.shared_data import shared_data


@pytest.fixture(autouse=True)
def nobody_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agentcompass_reader, "LOOK_SEC", 0.0)
    monkeypatch.setattr(owner_process, "worked_on_here", lambda *given: False)


@pytest.fixture
def over(tmp_path: Path) -> Path:
    sample = Sample(tmp_path / "results" / "r1")
    sample.begin()
    sample.finish("hello", 1, sample.attempt("hello"))
    sample.result("hello", cost=0.25)
    sample.end(12)
    return sample.folder


@pytest.fixture
def killed(tmp_path: Path) -> Sample:
    sample = Sample(tmp_path / "results" / "r2")
    sample.begin()
    sample.attempt("hello", until="run_harness")
    return sample


# --- what is named ---


def test_any_recognised_folder_and_any_report_is_a_run(over: Path, tmp_path: Path) -> None:
    report = summary(tmp_path, resolved=["a__b-1"])
    assert find_run(str(over)) == over
    assert find_run(str(report)) == report
    assert find_run("r1", over.parent) == over
    assert find_run("last", over.parent) == over


def test_folders_of_runs_are_told_from_runs_and_from_neither(over: Path, tmp_path: Path) -> None:
    assert find_places([str(over)], tmp_path) == ([over], True)
    assert find_places([str(over.parent)], tmp_path) == ([over.parent], False)
    assert find_places([str(over), str(over.parent)], tmp_path) == ([over, over.parent], False)
    (tmp_path / "empty").mkdir()
    with pytest.raises(Unusable, match=r"no run in it or under it, of any system known here .*harbor"):
        find_places([str(tmp_path / "empty")], tmp_path)
    with pytest.raises(Unusable, match="no such folder"):
        find_places([str(tmp_path / "missing")], tmp_path)


def test_a_table_that_holds_no_results_says_what_it_lacks(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    for content, said in (("", "t.csv: empty; expected task,arm"), ("a,b\n1,2\n", "no column 'task'")):
        table.write_text(content)
        with pytest.raises(Unusable, match=said):
            find_run(str(table))


def test_what_is_no_run_says_what_it_is(tmp_path: Path, over: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    for name, said in (
        ("notes.json", "a file, and no report"),
        ("empty", "not a run folder of any system known here"),
    ):
        with pytest.raises(Unusable, match=said):
            find_run(str(tmp_path / name))
    assert find_run(str(tmp_path / "results")) == over, "a folder that holds one run alone stands for it"


def test_what_changes_a_run_is_refused_with_a_clear_word(over: Path, tmp_path: Path) -> None:
    before = tree_digest(over)
    said = "a run of another system \\(agentcompass\\), which is only read here: it can't be"
    with pytest.raises(Unusable, match=f"{said} resumed"):
        resume(str(over))
    with pytest.raises(Unusable, match=f"{said} cancelled"):
        cancel(str(over))
    with pytest.raises(Unusable, match=f"{said} exported"):
        export(str(over), to=tmp_path / "copy")
    assert tree_digest(over) == before
    assert not (tmp_path / "copy").exists()


def test_runs_of_ours_are_not_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", whole_run())
    assert find_own_run(str(folder), tmp_path, "be resumed") == folder


# --- show and runs ---


def test_show_prints_the_same_document_with_its_kind(over: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_digest(over)
    show(str(over), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "trialdeck.show/1"
    assert (found["run"]["kind"], found["run"]["source"]) == ("agentcompass", "agentcompass")
    assert found["run"]["identity"].startswith("r1-sonnet-")
    assert (found["run"]["state"], found["run"]["cost_usd"]) == ("finished", 0.25)
    (trial,) = found["trials"]
    assert (over / trial["folder"] / "result.json").is_file()
    assert tree_digest(over) == before


def test_the_kind_of_ours_is_trialdeck(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(str(write(tmp_path / "run", whole_run())), as_json=True)
    assert json.loads(capsys.readouterr().out)["run"]["kind"] == "trialdeck"


def test_a_stale_run_says_its_last_sign_of_life_case_76(killed: Sample, capsys: pytest.CaptureFixture[str]) -> None:
    show(str(killed.folder))
    text = capsys.readouterr().out
    state = next(line for line in text.splitlines() if line.startswith("state"))
    assert "stale · last sign of life " in state and state.endswith(" ago)")
    assert "0 of 1 done · 1 cut off" in text
    assert load(killed.folder)[1].state == "stale"
    show(str(killed.folder), as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["run"]["state"], found["trials"][0]["state"]) == ("stale", "interrupted")


def test_runs_of_all_systems_are_listed_together(
    over: Path, killed: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = write(tmp_path / "runs" / "mine", whole_run())
    runs([str(over.parent), str(ours)], as_json=True)
    found = {Path(run["folder"]).name: run for run in map(json.loads, capsys.readouterr().out.splitlines())}
    assert {name: run["kind"] for name, run in found.items()} == {
        "mine": "trialdeck",
        "r1": "agentcompass",
        "r2": "agentcompass",
    }
    assert found["r2"]["state"] == "stale"
    runs([str(over.parent)])
    text = capsys.readouterr().out
    assert "agentcompass · finished · 1 of 1 done" in text
    assert "agentcompass · stale · last sign of life" in text


def test_a_denominator_keeps_what_has_no_verdict_case_86(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = summary(tmp_path, resolved=["a__b-1"], unresolved=["a__b-2"], error=["a__b-3"], empty_patch=["a__b-4"])
    show(str(report), as_json=True)
    (arm,) = json.loads(capsys.readouterr().out)["arms"]
    assert (arm["assigned"], arm["passed"], arm["failed"], arm["unscored"]) == (4, 1, 1, 2)
    assert arm["rate"] == 0.25
    assert arm["bounds"] == [0.25, 0.75]


# --- watch without a screen ---


class Clock:
    """Time passes only while the follower pauses; each pause may let something happen."""

    def __init__(self, *happens: object) -> None:
        self.now = 0.0
        self._happens = list(happens)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.2)
        if self._happens:
            self._happens.pop(0)()  # type: ignore[operator]


def follow(folder: Path, clock: Clock, *, as_json: bool = False) -> int:
    follower = PlainFollower(folder, Out(), as_json=as_json, engine=None, clock=clock, sleep=clock.sleep)
    try:
        return follower.follow(lambda: 0, lambda times: None)
    finally:
        follower.close()


def test_plain_output_of_a_finished_run_ends_with_its_code(over: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert follow(over, Clock()) == 0
    text = capsys.readouterr().out
    assert "hello" in text and "1/1 passed of assigned" in text


def test_plain_output_follows_a_run_that_grows_to_its_end(killed: Sample, capsys: pytest.CaptureFixture[str]) -> None:
    def goes_on() -> None:
        killed.finish("hello", 1, 20)
        killed.result("hello")

    assert follow(killed.folder, Clock(goes_on, lambda: killed.end(22))) == 0
    text = capsys.readouterr().out
    assert text.index("started") < text.index("passed")


def test_plain_output_of_a_killed_run_ends_stale(killed: Sample, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_digest(killed.folder)
    clock = Clock()
    assert follow(killed.folder, clock) == 0
    assert clock.now >= plain_output.QUIET_SEC
    said = capsys.readouterr()
    assert "stale · last sign of life" in said.err and "resume" not in said.err
    assert "0 of 1 trials are done" in said.err
    assert tree_digest(killed.folder) == before


def test_json_output_is_the_events_that_were_read(over: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert follow(over, Clock(), as_json=True) == 0
    types = [json.loads(line)["type"] for line in capsys.readouterr().out.splitlines()]
    assert types[0] == "run_planned" and types[-1] == "run_finished"
    assert types.count("trial_finished") == 1


def test_a_folder_of_runs_is_listed_where_there_is_no_terminal(over: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BaseException) as ended:
        watch([str(over.parent)], plain=True)
    assert getattr(ended.value, "exit_code", None) == 0
    assert "agentcompass · finished" in capsys.readouterr().out


def test_the_shared_runs_show_what_is_known_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared_data("terminal-bench-core-0.1.1")
    runs([str(folder)], as_json=True)
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted((run["arms"][0]["passed"], run["done"], run["kind"]) for run in found) == [
        (202, 400, "terminal-bench"),
        (210, 400, "terminal-bench"),
    ]


# --- what nobody knows ---


def test_a_table_s_times_are_unknown_and_not_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "results.csv"
    table.write_text("task,arm,reward\na,x,1\na,y,0\n")
    with pytest.raises(typer.Exit):
        watch([str(table)], plain=True)
    out = capsys.readouterr().out
    assert "—        ✓ passed     a · x · reward 1.00 · 1 of 2 done\n" in out
    assert "—        · finished   2 of 2 done · time unknown\n" in out
    assert "took     unknown" in out
    assert "trials   2 (1 task × 2 arms × 1 attempt)\n" in out, "neither seed nor concurrency is known"
    show(str(table))
    assert "took     unknown" in capsys.readouterr().out
    show(str(table), as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert document["run"]["seconds"] is None
    assert {(one["started_at"], one["finished_at"], one["seconds"]) for one in document["trials"]} == {
        (None, None, None)
    }
