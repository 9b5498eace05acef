"""A pipe in the place of a file is never waited for, whoever put it there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from engine.owner import read_owner
from engine.readers.open_run import FORMATS, open_run
from engine.regular_file import open_regular, regular_file
from engine.runs.card import CardInvalid, read_card
from engine.trajectories.read import find_trajectories, read_trajectory
from engine.triage.label_book import load_labels
from screens.cast_file import is_cast
from screens.files_tree import is_text
from tests.engine.readers.foreign import state_of
from tests.shared_data import shared_data

DEMO = Path(__file__).resolve().parents[2] / "sample_runs" / "recorded" / "demo"


def test_a_file_is_read_and_what_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with regular_file(tmp_path / "file") as file:
        assert file.read() == b"x"
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), tmp_path / "none", tmp_path / "a\0b"):
        with pytest.raises(OSError):
            open_regular(path)


def piped(source: Path, folder: Path, *patterns: str) -> Path:
    """A copy of a run in which the files of these patterns are pipes."""
    shutil.copytree(source, folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    for path in [path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()]:
        path.unlink()
        os.mkfifo(path)
    return folder


@pytest.mark.parametrize("patterns", [("events.jsonl",), ("engine.json", "card.toml"), ("*.jsonl",), ("*",)])
def test_a_run_of_ours_with_pipes_in_it_opens(tmp_path: Path, patterns: tuple[str, ...]) -> None:
    folder = piped(DEMO, tmp_path / "run", *patterns)
    for known in FORMATS:
        known.is_run(folder)
    state_of(folder)
    read_owner(folder)
    load_labels(open_run(folder))
    if "card.toml" in patterns:
        with pytest.raises(CardInvalid, match="no regular file"):
            read_card(folder)


@pytest.mark.parametrize("patterns", [("*.log",), ("result.json",), ("*.txt", "*.json"), ("*",)])
def test_a_job_of_another_system_with_pipes_in_it_opens(tmp_path: Path, patterns: tuple[str, ...]) -> None:
    folder = piped(shared_data("harbor-jobs", "three-tasks"), tmp_path / "job", *patterns)
    state, _ = state_of(folder)
    for trial in state.trials:
        for path in find_trajectories(open_run(folder).trial_folder(trial)):
            read_trajectory(path)
    pipe = next(path for path in folder.rglob("*") if path.is_fifo())
    assert not is_text(pipe) and not is_cast(pipe)
