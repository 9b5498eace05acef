from __future__ import annotations

import os
from pathlib import Path

import pytest

from console.errors import Unusable
from console.find_run import find_run, typed
from engine.layout import CARD, EVENTS

NAMES = ("2025-11-30__10-00-00__sonnet", "2025-11-30__11-00-00__sonnet-again", "2025-12-01__09-00-00__redis")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for number, name in enumerate(NAMES):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / EVENTS).write_text("")
        os.utime(tmp_path / "runs" / name / EVENTS, (1000 - number, 1000 - number))
    return tmp_path / "runs"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (NAMES[0], NAMES[0]),
        ("2025-12", NAMES[2]),
        ("redis", NAMES[2]),
        ("red", NAMES[2]),
        ("sonnet", NAMES[0]),  # all of one name, the beginning of another
        ("sonnet-a", NAMES[1]),
        ("sonnet again!", NAMES[1]),  # as it was called
        ("last", NAMES[0]),  # by its last event, not by its name
    ],
)
def test_a_run_is_found_by_what_a_person_would_type(runs: Path, text: str, found: str) -> None:
    assert find_run(text, runs) == runs / found


def test_a_folder_is_found_wherever_it_lies(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_run(str(runs / NAMES[0]), Path("nowhere")) == runs / NAMES[0]
    monkeypatch.chdir(runs)
    assert find_run(f"./{NAMES[1]}", Path("nowhere")) == Path(NAMES[1])
    assert find_run(NAMES[1], Path("nowhere")) == Path(NAMES[1])
    monkeypatch.chdir(runs / NAMES[2])
    assert find_run(".", Path("nowhere")) == Path()


def test_a_run_whose_engine_has_not_begun_is_one(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / CARD).write_text('digest = "4759"\n')
    assert find_run("new", tmp_path) == tmp_path / "new"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2025-11", f"could be {NAMES[1]}, {NAMES[0]}; type more"),
        ("sonet", f"did you mean {NAMES[0]}"),
        ("11-00-00", f"did you mean {NAMES[1]}?"),
        ("nothing-like-it", f"the newest is {NAMES[2]}; `trialdeck runs` lists all"),
        ("./nowhere", "./nowhere: no such folder"),
        ("", "names no run"),
    ],
)
def test_what_is_not_found_is_answered_with_what_it_might_be(runs: Path, text: str, said: str) -> None:
    with pytest.raises(Unusable) as error:
        find_run(text, runs)
    assert said in str(error.value)


def test_a_folder_of_runs_is_told_from_a_run(runs: Path) -> None:
    with pytest.raises(Unusable, match="not a run but a folder of runs, it holds 3: `trialdeck watch "):
        find_run(str(runs), runs)


@pytest.mark.parametrize("elsewhere", ["runs", "missing"])
def test_a_folder_of_runs_is_known_by_a_bare_name_too(
    runs: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: str
) -> None:
    monkeypatch.chdir(runs.parent)
    runs.rename("jobs")
    with pytest.raises(Unusable, match="jobs: not a run but a folder of runs, it holds 3: `trialdeck watch jobs`"):
        find_run("jobs", Path(elsewhere))


def test_without_any_run_it_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="empty has no runs; give a run's folder, or --runs-dir"):
        (tmp_path / "empty").mkdir()
        find_run("last", tmp_path / "empty")
    with pytest.raises(Unusable, match="missing is not there"):
        find_run("last", tmp_path / "missing")


def test_a_run_is_named_as_it_is_found_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a message tells to type works as it stands."""
    monkeypatch.chdir(tmp_path)
    assert typed(Path("runs/one run")) == "'one run'"
    assert typed(tmp_path / "runs" / "one") == "one"
    assert typed(tmp_path / "elsewhere" / "one") == str(tmp_path / "elsewhere" / "one")
