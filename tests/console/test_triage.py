"""`trialdeck triage` without a screen: what is shown to whom, what is written where, what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.commands.triage import triage
from console.errors import Unusable
from console.triage_document import CSV_COLUMNS
from engine import events as ev
from engine.issues import Code, Issue, Phase, Severity
from tests.console.run_folders import HOSTILE, begun, ended, planned, scored, started, write
from tests.screens.fake_run import at
from tests.shared_data import shared_data

LOST = "hello__replay__1"
DOCUMENT = Path(__file__).parents[2] / "docs" / "labels.md"


@pytest.fixture(autouse=True)
def someone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRIALDECK_USER", "ada")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two tasks, two arms: replay fails on both, once for its pull."""
    pull = Issue(Severity.FATAL, Phase.PREPARE, Code.PULL_FAILED, f"image gone {HOSTILE}")
    events = [started(), *planned(["hello", "redis"])]
    for trial, reward in ((LOST, 0.0), ("hello__oracle__1", 1.0), ("redis__oracle__1", 1.0)):
        events += [*begun(trial), *scored(trial, reward == 1.0, reward)]
    lost = "redis__replay__1"
    events += [*begun(lost), ev.IssueRaised(at=at(3), trial=lost, issue=pull)]
    events += [ev.TrialFinished(at=at(4), trial=lost, outcome="unscored", seconds=1.0), *ended()]
    return write(tmp_path / "run", events)


def said(capsys: pytest.CaptureFixture[str], folder: Path, **options: Any) -> str:
    triage(str(folder), **options)
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], folder: Path, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said(capsys, folder, as_json=True, **options))
    return found


def test_the_queue_as_text_has_proposals_with_their_evidence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, run, plain=True)
    lines = text.splitlines()
    assert lines[0] == "triage   small (trialdeck)   0 of 2 decided · you: ada"
    assert "redis__replay__1   redis · attempt 1 · replay   unscored: no verdict: image_pull_failed" in lines
    assert "  proposed  infrastructure  (1 rule, strong)" in lines
    assert any(line.startswith("   1 ● infrastructure: ") and "[docker pull]" in line for line in lines)
    assert not set(text) & set("\x1b\x07\x00\x9b\u202e\r")


def test_without_a_terminal_it_is_text(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, run) == said(capsys, run, plain=True)


def test_the_document_has_the_queue_and_the_summary(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, run)
    assert found["schema"] == "trialdeck.triage/1"
    assert (found["viewer"], found["blind"], found["run"]["kind"]) == ("ada", False, "trialdeck")
    first, second = found["queue"]
    assert (first["trial"], first["kind"], first["proposal"]["cause"]) == (
        "redis__replay__1",
        "unscored",
        "infrastructure",
    )
    assert (second["trial"], second["reason"], second["proposal"]["strength"]) == (LOST, "reward 0", "weak")
    assert (found["summary"]["queue"], found["summary"]["decided"]) == (2, 0)
    assert [(arm["arm"], arm["assigned"], arm["failures"]) for arm in found["summary"]["arms"]] == [
        ("oracle", 2, 0),
        ("replay", 2, 2),
    ]
    assert found["summary"]["arms"][1]["proposed"] == {"infrastructure": 1, "model": 1}


def test_every_key_of_the_document_is_explained(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = DOCUMENT.read_text()
    said(capsys, run, label=(LOST, "model"))

    def keys(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for item in value.values() for key in keys(item)}
        return {key for item in value for key in keys(item)} if isinstance(value, list) else set()

    causes = {"model", "infrastructure"}
    assert {key for key in keys(document(capsys, run)) - causes if f"`{key}`" not in text} == set()


def test_csv_holds_no_formula_and_a_row_a_trial(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, run, label=(LOST, "model"), note="=1+2")
    rows = list(csv.DictReader(io.StringIO(said(capsys, run, as_csv=True))))
    assert list(rows[0]) == list(CSV_COLUMNS)
    assert {row["trial"]: (row["your_cause"], row["decided"]) for row in rows} == {
        LOST: ("model", "yes"),
        "redis__replay__1": ("", "no"),
    }
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


def test_a_label_is_appended_with_who_when_note_and_what_was_proposed(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, run, label=("redis__r", "infra"), note="again") == (
        "labelled redis__replay__1 infrastructure, by ada\n"
    )
    (line,) = (run / "labels.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert (record["who"], record["cause"], record["note"], record["proposed"]) == (
        "ada",
        "infrastructure",
        "again",
        "infrastructure",
    )
    assert (record["trial"], record["task"], record["arm"], record["attempt"]) == (
        "redis__replay__1",
        "redis",
        "replay",
        1,
    )
    item = document(capsys, run)["queue"][-1]
    assert (item["label"]["cause"], item["decided"]) == ("infrastructure", True)
    assert [item["trial"] for item in document(capsys, run, undecided=True)["queue"]] == [LOST]


def test_others_are_hidden_until_ones_own_label_and_then_settled(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, run, label=(LOST, "model"))
    assert document(capsys, run, who="bob")["queue"][1]["others"] == {}
    with pytest.raises(Unusable, match="label it yourself first"):
        triage(str(run), settle=(LOST, "task"), who="bob")
    text = said(capsys, run, label=(LOST, "task"), who="bob")
    assert "people disagree: ada says model" in text
    found = document(capsys, run, who="bob")
    assert found["queue"][0]["others"]["ada"]["cause"] == "model"
    assert (found["queue"][0]["disagreed"], found["summary"]["disagreements"]) == (True, [LOST])
    assert found["summary"]["agreement"] == [
        {"people": ["ada", "bob"], "n": 1, "agreed": 0, "kappa": 0.0, "why_undefined": None}
    ]
    assert said(capsys, run, settle=(LOST, "grader"), who="bob") == f"settled {LOST} grader, by bob\n"
    assert document(capsys, run, who="eve")["summary"]["disagreements"] == []


def test_undo_takes_back_the_latest_record(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, run, label=(LOST, "model"))
    said(capsys, run, label=(LOST, "task"))
    assert said(capsys, run, undo=LOST) == f"took back task of {LOST}: now model\n"
    assert said(capsys, run, undo=LOST) == f"took back model of {LOST}: undecided again\n"
    with pytest.raises(Unusable, match="no record of it"):
        triage(str(run), undo=LOST)
    assert len((run / "labels.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    "options", [{"plain": True}, {"as_json": True}, {"as_csv": True}, {"summary": True, "plain": True}]
)
def test_blind_output_tells_no_arm(run: Path, capsys: pytest.CaptureFixture[str], options: dict[str, bool]) -> None:
    events = (run / "events.jsonl").read_text().replace('"name":"small"', '"name":"replay against oracle"')
    (run / "events.jsonl").write_text(events)
    said(capsys, run, label=(LOST, "model"), blind=True)
    text = said(capsys, run, blind=True, **options)
    assert "replay" not in text
    assert "oracle" not in text
    assert "blind" in text or "as_csv" in options


def test_a_case_names_its_trial(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    item = next(each for each in document(capsys, run)["queue"] if each["trial"] == LOST)
    blind = document(capsys, run, blind=True)["queue"]
    assert f"case {item['case']}" in {each["trial"] for each in blind}
    text = said(capsys, run, label=(f"case {item['case']}", "b"), blind=True)
    assert text == f"labelled case {item['case']} budget, by ada\n"
    record = json.loads((run / "labels.jsonl").read_text())
    assert (record["trial"], record["blind"]) == (LOST, True)


def test_the_summary_has_rates_agreement_and_what_was_looked_at(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, run, label=(LOST, "model"))
    text = said(capsys, run, summary=True)
    assert "1  50.0 %, 50.0 %" in text
    assert "rules propose for replay: infrastructure 1, model 1" in text
    assert "rules propose for oracle: nothing" in text
    assert "no asymmetry: 1 difference looked at" in text
    assert "agreement: one person's labels so far, or none" in text


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_labels_go_out_and_come_in_once(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    said(capsys, run, label=(LOST, "model"), note="=why\nnot")
    file = tmp_path / f"labels.{suffix}"
    assert said(capsys, run, export_to=file) == f"wrote 1 label to {file}\n"
    with pytest.raises(Unusable, match="--overwrite"):
        triage(str(run), export_to=file)
    said(capsys, run, export_to=file, overwrite=True)
    (run / "labels.jsonl").unlink()
    assert said(capsys, run, import_from=file) == "took in 1 label by ada; 0 were here already\n"
    assert said(capsys, run, import_from=file) == "took in 0 labels; 1 was here already\n"
    item = next(each for each in document(capsys, run)["queue"] if each["trial"] == LOST)
    assert (item["label"]["cause"], item["label"]["imported"], item["label"]["note"]) == ("model", True, "=why\nnot")


def test_an_import_that_is_wrong_takes_in_nothing_and_names_the_row(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("trial,who,at,cause\nhello__replay__1,bob,2026-05-01T09:30:00Z,luck\n")
    with pytest.raises(Unusable, match="row 2, cause: 'luck'"):
        triage(str(run), import_from=file)
    assert not (run / "labels.jsonl").exists()


def test_trials_of_another_run_are_said(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("trial,who,at,cause\ngone,bob,2026-05-01T09:30:00Z,model\n")
    triage(str(run), import_from=file)
    assert "1 trial is not of this run: gone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"label": (LOST, "luck")}, "'luck' is no cause; expected one of infrastructure"),
        ({"label": ("nope", "model")}, "'nope': no such trial"),
        ({"label": ("hello", "model")}, "could be hello__oracle__1, hello__replay__1"),
        ({"label": ("case 99", "model")}, "this run has cases 1 to 4"),
        ({"label": (LOST, "model"), "undo": LOST}, "one at a time"),
        ({"note": "x"}, "--note goes with"),
        ({"as_json": True, "as_csv": True}, "one of them"),
        ({"who": "\x00"}, "is no name"),
        ({"export_to": Path("labels.txt")}, "ends in .csv or .json"),
        ({"import_from": Path("labels")}, "ends in .csv or .json"),
    ],
)
def test_what_can_not_be_done_is_said(run: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(Unusable, match=words):
        triage(str(run), **options)
    assert not (run / "labels.jsonl").exists()


def test_a_trial_that_still_runs_is_not_labelled(tmp_path: Path) -> None:
    run = write(tmp_path / "live", [started(), *planned(["hello"]), *begun(LOST)])
    with pytest.raises(Unusable, match="only trials that are over"):
        triage(str(run), label=(LOST, "model"))


def test_nothing_is_written_into_another_tools_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = tmp_path / "job"
    shutil.copytree(shared_data("harbor-jobs", "no-reward"), job)
    before = {path: path.read_bytes() for path in job.rglob("*") if path.is_file()}
    (item,) = document(capsys, job)["queue"]
    assert item["proposal"]["cause"] == "grader"
    said(capsys, job, label=(item["trial"], "grader"))
    with pytest.raises(Unusable, match="into which nothing is written"):
        triage(str(job), export_to=job / "labels.csv")
    assert {path: path.read_bytes() for path in job.rglob("*") if path.is_file()} == before
    moved = job.rename(tmp_path / "moved")
    found = document(capsys, moved)
    assert found["queue"][0]["label"]["cause"] == "grader"
    assert Path(found["labels_file"]).is_relative_to(tmp_path / "data")


@pytest.mark.parametrize("place", ["agentcompass/*/*", "terminal-bench-core-0.1.1/*/tb_rc2_sonnet_2", "harbor-jobs/*"])
def test_runs_of_every_system_have_a_queue(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _, rest = place.partition("/")
    found = [run for run in sorted(shared_data(folder).glob(rest)) if run.is_dir()]
    assert found
    for run in found:
        assert document(capsys, run)["schema"] == "trialdeck.triage/1"


def test_from_the_command_line(run: Path) -> None:
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from console.main import main; main()", "triage", str(run), *words],
            capture_output=True,
            text=True,
            env={**os.environ, "TERM": "dumb"},
            cwd=Path(__file__).parents[2],
            check=False,
        )

    done = call("--label", LOST, "model", "--note", "n", "--as", "bob")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"labelled {LOST} model, by bob\n", "")
    wrong = call("--label", LOST, "luck")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("trialdeck: 'luck' is no cause")
    assert "Traceback" not in wrong.stderr
