from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from console import show_schema
from console.commands.show import show
from console.out import WIDTH
from console.run_condition import Condition
from console.show_document import show_document
from engine import events as ev
from engine.issues import Phase
from engine.layout import ENGINE
from engine.owner import this_process
from engine.readers.open_run import open_run
from engine.runs.atomic_file import write_json
from engine.state import RunState
from engine.triage.causes import Cause
from engine.triage.label_store import open_labels
from engine.triage.new_label import new_label
from tests.console.run_folders import HOSTILE, begun, ended, planned, scored, started, whole_run, write
from tests.screens.fake_run import at

DOCUMENT = Path(__file__).parents[2] / "docs" / "show-json.md"
STRUCTS = [
    kind
    for kind in vars(show_schema).values()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and not kind.__name__.startswith("_")
]


def shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    show(str(folder), as_json=True)
    found: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    return found


def test_the_document_has_the_run_its_arms_and_its_trials(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(write(tmp_path / "run", whole_run()), capsys)
    assert found["schema"] == "trialdeck.show/1"
    run = found["run"]
    assert (run["name"], run["state"], run["exit_code"], run["planned"], run["done"]) == ("small", "finished", 3, 4, 4)
    assert run["issue_counts"] == {"fatal": 1, "error": 0, "warning": 0}
    assert run["cost_usd"] is None
    assert found["task_set"]["version"] == "1.0"
    assert [trial["trial"] for trial in found["trials"]] == [
        f"{task}__{arm}__1" for task in ("hello", "redis") for arm in ("oracle", "replay")
    ]


def test_an_arm_has_all_its_denominators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    oracle, replay = shown(write(tmp_path / "run", whole_run()), capsys)["arms"]
    counted = ("assigned", "finished", "completed", "scored", "passed", "failed", "unscored", "refused", "cancelled")
    assert [replay[name] for name in counted] == [2, 2, 1, 1, 0, 1, 1, 0, 0]
    assert (replay["rate"], replay["rate_completed"], replay["bounds"]) == (0.0, 0.0, [0.0, 0.5])
    assert (oracle["rate"], oracle["interval_method"]) == (1.0, "Wilson")
    assert oracle["cost_usd"] is None
    assert oracle["cost_unknown"] == 2


def test_a_trial_has_phases_issues_artifacts_hooks_services_and_rewards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = "hello__oracle__1"
    run = [started(), *planned(["hello"], ["oracle"]), *begun(trial)]
    run += [
        ev.PhaseFinished(at=at(2), trial=trial, phase=Phase.PREPARE, seconds=1.5),
        ev.ServiceChanged(at=at(2), trial=trial, service="db", state="exited", exit_code=137),
        ev.ResourcePeaked(at=at(2), trial=trial, service="db", cpu_percent=93.5, memory_bytes=1 << 20),
        ev.HookFinished(
            at=at(2), trial=trial, number=1, of=2, service="db", command="dump", exit_code=3, seconds=0.4, output="no"
        ),
        ev.ArtifactRecorded(at=at(2), trial=trial, service="db", source="/out", status="missing"),
        ev.FilesChanged(at=at(2), trial=trial, added=2, changed=1, deleted=0),
        *scored(trial, True, 0.25),
        *ended(),
    ]
    (found,) = shown(write(tmp_path / "run", run), capsys)["trials"]
    assert found["phases"][0] | {"started_at": ""} == {
        "phase": "prepare",
        "step": "",
        "started_at": "",
        "seconds": 1.5,
        "limit_sec": 600.0,
        "ok": True,
    }
    (service,) = found["services"]
    assert (service["service"], service["exit_code"], service["peak_memory_bytes"]) == ("db", 137, 1 << 20)
    assert found["hooks"][0]["exit_code"] == 3
    assert found["artifacts"][0]["status"] == "missing"
    assert found["files_changed"] == {"added": 2, "changed": 1, "deleted": 0, "unseen": []}
    assert (found["reward"], found["tests_passed"], found["cost_usd"]) == (1.0, 3, 0.25)


def test_every_field_is_always_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(write(tmp_path / "run", [started(), *planned(["hello"], ["oracle"])]), capsys)
    assert set(found["trials"][0]) == set(show_schema.TrialFacts.__struct_fields__)
    assert found["trials"][0]["reward"] is None
    assert set(found["run"]) == set(show_schema.RunFacts.__struct_fields__)


@pytest.mark.parametrize("kind", STRUCTS)
def test_every_field_is_documented(kind: type[msgspec.Struct]) -> None:
    sections = re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)
    section = next((text for text in sections if text.startswith(f"{kind.__name__}\n")), "")
    documented = re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
    assert documented == list(kind.__struct_fields__)


def test_what_is_not_a_number_never_gets_into_the_document(tmp_path: Path) -> None:
    state = RunState()
    state.apply_all([*planned(["hello"], ["oracle"]), *scored("hello__oracle__1", True)])
    state.trials["hello__oracle__1"].reward = float("nan")
    text = msgspec.json.encode(show_document(tmp_path, state, Condition("live")))
    assert b"NaN" not in text
    assert json.loads(text)["trials"][0]["reward"] is None


@pytest.mark.parametrize(
    ("events", "owned", "state", "cause"),
    [
        ([], False, "starting", ""),
        ([started()], True, "live", ""),
        ([started(), ev.RunPaused()], True, "live", "paused"),
        ([started()], False, "interrupted", "engine gone"),
        ([started(), *ended(130)], False, "interrupted", "cancelled"),
        ([started(), *ended(3)], False, "finished", ""),
    ],
)
def test_the_condition_of_a_run_is_one_word(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    events: list[ev.Event],
    owned: bool,
    state: str,
    cause: str,
) -> None:
    folder = write(tmp_path / "run", [*planned(["hello"]), *events])
    if owned:
        write_json(folder / ENGINE, this_process())
    run = shown(folder, capsys)["run"]
    assert (run["state"], run["cause"]) == (state, cause)


@pytest.mark.parametrize("owned", [True, False])
def test_case_76_a_trial_that_ran_when_the_engine_went_is_interrupted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], owned: bool
) -> None:
    waits = ev.TrialWaiting(trial="later__oracle__1", reason="memory")
    folder = write(
        tmp_path / "run", [*planned(["hello", "later"], ["oracle"]), started(), *begun("hello__oracle__1"), waits]
    )
    if owned:
        write_json(folder / ENGINE, this_process())
    document = shown(folder, capsys)
    words = {trial["task"]: trial["state"] for trial in document["trials"]}
    gone = {"hello": "interrupted", "later": "queued"}
    assert words == ({"hello": "running", "later": "waiting"} if owned else gone)
    assert {word for word, number in document["run"]["trials_by_state"].items() if number} == set(words.values())


def test_a_process_with_the_number_of_a_dead_engine_does_not_make_the_run_live(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "run", [*planned(["hello"]), started()])
    write_json(folder / ENGINE, msgspec.structs.replace(this_process(), started=this_process().started - 500))
    assert shown(folder, capsys)["run"]["state"] == "interrupted"


def test_a_run_of_another_host_is_neither_live_nor_dead(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "run", [*planned(["hello"]), started()])
    write_json(folder / ENGINE, msgspec.structs.replace(this_process(), host="far-away"))
    run = shown(folder, capsys)["run"]
    assert (run["state"], run["cause"]) == ("elsewhere", "engine on far-away")


def test_the_text_has_a_line_a_trial_the_issues_and_the_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    show(str(write(tmp_path / "run", whole_run())))
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if line.startswith("✗  redis"))
    assert row.split() == ["✗", "redis", "replay", "1", "unscored", "2.0", "s", "image_build_failed"]
    assert any("image_build_failed: step 3 of 5" in line for line in lines)
    assert any(line.startswith("A − B") for line in lines)


def test_names_of_tasks_are_whole_where_there_is_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = "t" * (2 * WIDTH)
    show(str(write(tmp_path / "run", [started(), *planned([task])])))
    assert task in capsys.readouterr().out


def test_hostile_text_is_harmless_in_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = [started(), *planned([HOSTILE], [HOSTILE]), *ended()]
    folder = write(tmp_path / "run", run)
    for as_json in (True, False):
        show(str(folder), as_json=as_json)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", capsys.readouterr().out)


def test_a_run_that_has_not_begun_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(str(write(tmp_path / "run", [])))
    assert "nothing has happened yet" in capsys.readouterr().out


def test_a_trial_tells_the_cause_that_people_decided_and_hides_what_others_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "run", whole_run())
    monkeypatch.setenv("TRIALDECK_USER", "ada")
    opened = open_run(folder)
    trial = RunState()
    trial.apply_all(whole_run())
    store = open_labels(opened)
    name = "redis__replay__1"
    store.append(new_label(store.run_identity, trial.trials[name], "bob", kind="label", cause=Cause.PROVIDER))

    def told() -> tuple[str | None, bool, bool]:
        found = next(each for each in shown(folder, capsys)["trials"] if each["trial"] == name)
        return found["cause"], found["settled"], found["decided"]

    assert told() == (None, False, False)
    store.append(new_label(store.run_identity, trial.trials[name], "ada", kind="label", cause=Cause.AGENT))
    assert told() == ("agent", False, True)
    store.append(new_label(store.run_identity, trial.trials[name], "bob", kind="settle", cause=Cause.GRADER))
    assert told() == ("grader", True, True)


def test_case_68_what_a_rerun_set_aside_is_told_with_its_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = "hello__oracle__1"
    run = [started(), *planned(["hello"], ["oracle"]), *begun(trial), *scored(trial, False, 0.25)]
    run += [
        ev.RerunWanted(at=at(5), trial=trial, cause="provider", by="ada"),
        ev.TrialInterrupted(at=at(6), trial=trial, run_number=1, reason="rerun", folder=".earlier/1"),
        *begun(trial),
        *scored(trial, True, 0.5),
        *ended(),
    ]
    (found,) = shown(write(tmp_path / "run", run), capsys)["trials"]
    (earlier,) = found["earlier"]
    assert (earlier["state"], earlier["reward"], earlier["cost_usd"]) == ("failed", 0.0, 0.25)
    assert (earlier["cause"], earlier["by"], earlier["folder"]) == ("provider", "ada", ".earlier/1")
    assert (found["reward"], found["discarded_cost_usd"]) == (1.0, 0.25)


def test_time_outs_are_told_beside_how_many_trials_ran_at_once_case_74(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """More of them where more ran: too much at once looks like a weak model."""
    found: list[ev.Event] = [*planned(["x", "y", "z"], ["oracle"]), started()]
    for task, start, late in (("x", 1, True), ("y", 1, True), ("z", 50, False)):
        trial = f"{task}__oracle__1"
        found += [
            ev.TrialStarted(at=at(start), trial=trial),
            ev.TrialFinished(at=at(start + 9), trial=trial, outcome="scored", reward=0.0, passed=False, timed_out=late),
        ]
    folder = write(tmp_path / "run", found)
    show(str(folder))
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("time up")]
    assert line == "time up  for 2 of 3 · 1.0 others ran beside these, 0.0 beside the rest"
    assert [trial["ran_beside"] for trial in shown(folder, capsys)["trials"]] == [1, 1, 0]


def test_where_no_time_was_up_nothing_is_said_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show(str(write(tmp_path / "run", whole_run())))
    assert "time up" not in capsys.readouterr().out
