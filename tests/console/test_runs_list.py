from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from console.commands.runs import runs
from engine.layout import ENGINE, EVENTS
from engine.owner import this_process
from engine.runs.atomic_file import write_json
from tests.console.run_folders import begun, ended, planned, scored, started, whole_run, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "done", whole_run())
    some = [started(), *planned(["hello", "redis"]), *begun("hello__oracle__1"), *scored("hello__oracle__1", True)]
    write(tmp_path / "gone", some)
    write(tmp_path / "cancelled", [*some, *ended(130)])
    write(tmp_path / "live", some)
    write_json(tmp_path / "live" / ENGINE, this_process())
    for age, name in enumerate(("live", "cancelled", "gone", "done")):
        os.utime(tmp_path / name / EVENTS, (1_000_000 - age, 1_000_000 - age))
    (tmp_path / "no-run").mkdir()
    return tmp_path


def listed(folder: Path, capsys: pytest.CaptureFixture[str], limit: int = 0) -> list[str]:
    runs(runs_dir=folder, limit=limit)
    return capsys.readouterr().out.splitlines()


def test_each_run_has_its_state_and_how_far_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(folder, capsys)
    assert [line.split("  ")[0] for line in lines[::2]] == ["live", "cancelled", "gone", "done"]
    assert "live, 1 of 4" in lines[0]
    assert "interrupted (cancelled), 1 of 4" in lines[2]
    assert "interrupted (engine gone), 1 of 4" in lines[4]
    assert "finished · 4 of 4 done · 1 issue" in lines[6]


def test_each_arm_has_its_passes_and_its_denominator(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(folder, capsys)
    assert lines[7] == "    samples 1.0: oracle 2/2 passed 100.0 %; replay 0/2 passed 0.0 %"
    assert "oracle 1/1 passed 100.0 %, 1 of 2 done; replay 0/0 passed —, 0 of 2 done" in lines[1]


def test_json_is_one_object_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs(runs_dir=folder, as_json=True)
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {run["schema"] for run in found} == {"trialdeck.runs/1"}
    assert [(run["state"], run["cause"], run["done"], run["planned"]) for run in found] == [
        ("live", "", 1, 4),
        ("interrupted", "cancelled", 1, 4),
        ("interrupted", "engine gone", 1, 4),
        ("finished", "", 4, 4),
    ]
    assert found[3]["arms"][1] == {"name": "replay", "passed": 0, "finished": 2, "assigned": 2}


def test_a_limit_takes_the_newest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [line.split("  ")[0] for line in listed(folder, capsys, limit=1)[::2]] == ["live"]


def test_a_broken_event_file_hides_no_other_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "done" / EVENTS).write_bytes(b'\xff\x00{"type":"run_pl')
    lines = listed(folder, capsys)
    assert len(lines[::2]) == 4


def test_a_folder_without_runs_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs(runs_dir=tmp_path / "runs")
    assert "is not there yet; `trialdeck run` makes one" in capsys.readouterr().out
