from __future__ import annotations

from pathlib import Path

import pytest

from engine.layout import CARD, EVENTS
from engine.readers import found_runs as module
from engine.readers.found_runs import found_runs
from tests.engine.readers.agentcompass_samples import Sample
from tests.engine.readers.swe_bench_samples import RUN, evaluated, run_folder, summary
from tests.shared_data import shared_data


def ours(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / EVENTS).write_text("")
    return folder


def names(*places: Path, **given: int) -> list[str]:
    return [run.folder.name for run in found_runs(places, **given)]


def test_runs_of_every_system_are_found_wherever_they_lie(tmp_path: Path) -> None:
    ours(tmp_path / "runs" / "mine")
    Sample(tmp_path / "results" / "sonnet" / "r7").begin()
    evaluated(tmp_path / "swe", "django__django-1", True)
    found = {run.folder.name: run.kind for run in found_runs([tmp_path])}
    assert found == {"mine": "trialdeck", "r7": "agentcompass", RUN: "swe-bench"}


def test_the_shared_folders_are_found_as_what_they_are() -> None:
    kinds = [run.kind for run in found_runs([shared_data("harbor-jobs")])]
    assert kinds == ["harbor"] * 13
    assert [run.kind for run in found_runs([shared_data("agentcompass")])] == ["agentcompass"]
    assert [run.kind for run in found_runs([shared_data("terminal-bench-core-0.1.1")])] == ["terminal-bench"] * 2
    assert names(shared_data("deep-swe")) == []


def test_a_run_is_not_looked_into(tmp_path: Path) -> None:
    ours(ours(tmp_path / "outer") / "inner")
    assert names(tmp_path) == ["outer"]
    assert names(tmp_path / "outer") == ["outer"]


def test_each_run_comes_once_whatever_leads_to_it(tmp_path: Path) -> None:
    ours(tmp_path / "a" / "run")
    (tmp_path / "a" / "last").symlink_to("run")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert len(names(tmp_path, tmp_path / "a", tmp_path / "a" / "run")) == 1
    assert names(tmp_path / "a") == ["last"]


def test_a_link_to_runs_elsewhere_is_followed(tmp_path: Path) -> None:
    ours(tmp_path / "disk" / "run")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "more").symlink_to(tmp_path / "disk")
    assert names(tmp_path / "here") == ["run"]


def test_nearer_runs_come_first_and_the_search_ends(tmp_path: Path) -> None:
    ours(tmp_path / "a" / "b" / "c" / "deep")
    ours(tmp_path / "near")
    assert names(tmp_path) == ["near", "deep"]
    assert names(tmp_path, depth=3) == ["near"]
    assert names(tmp_path, most=1) == []


def test_hidden_folders_and_packages_are_passed_over(tmp_path: Path) -> None:
    for name in (".git", "node_modules", "__pycache__"):
        ours(tmp_path / name / "run")
    assert names(tmp_path) == []


def test_what_is_missing_or_no_folder_has_no_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert names(tmp_path / "missing", tmp_path / "file") == []


def test_a_run_with_its_card_alone_is_one(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / CARD).write_text('digest = "4759"\n')
    assert names(tmp_path) == ["new"]


def test_a_report_is_a_run_only_where_its_evaluation_is_not(tmp_path: Path) -> None:
    evaluated(tmp_path / "whole", "django__django-1", True)
    summary(tmp_path / "whole", resolved=["django__django-1"])
    (tmp_path / "alone").mkdir()
    path = summary(tmp_path / "alone", resolved=["django__django-1"])
    assert sorted(run.folder for run in found_runs([tmp_path])) == sorted([path, run_folder(tmp_path / "whole")])


def test_many_reports_in_one_folder_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        summary(tmp_path, model=f"m{number}", resolved=["a__b-1"])
    assert len(names(tmp_path)) == 5
    monkeypatch.setattr(module, "_MOST_REPORTS", 3)
    assert len(names(tmp_path)) == 3


def test_a_card_that_a_person_wrote_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / CARD).write_text('# A run card\n\nname = "mine"\n')
    assert names(tmp_path) == []
