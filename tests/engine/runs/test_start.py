"""An engine's process that loads while its run is still being planned."""

from __future__ import annotations

import subprocess
from pathlib import Path

from engine.layout import ENGINE_LOG
from engine.runs.start import EngineStandingBy, new_run_id

UNUSABLE = 2
END_SEC = 60.0


def ended(process: subprocess.Popen[bytes]) -> int:
    return process.wait(END_SEC)


def test_runs_of_one_name_in_two_runs_folders_are_two_runs_for_docker(tmp_path: Path) -> None:
    """Each removes what bears its label."""
    here, there = (new_run_id(tmp_path / place / "2026-01-01__00-00-00__hello") for place in ("a", "b"))
    assert here != there
    assert here.startswith("2026-01-01__00-00-00__hello__")


def test_it_takes_the_folder_and_logs_there(tmp_path: Path) -> None:
    folder = tmp_path / "a run\nof größe"
    folder.mkdir()
    with EngineStandingBy() as standing_by:
        process = standing_by.launch(folder)
    assert ended(process) == UNUSABLE, "there is no card in this folder"
    assert "card.toml" in (folder / ENGINE_LOG).read_text()


def test_without_a_run_it_is_gone_when_the_block_ends() -> None:
    with EngineStandingBy() as standing_by:
        process = standing_by._process
        assert process is not None
    assert process.returncode is not None


def test_one_that_died_is_replaced(tmp_path: Path) -> None:
    with EngineStandingBy() as standing_by:
        first = standing_by._process
        assert first is not None
        first.kill()
        first.wait()
        process = standing_by.launch(tmp_path)
    assert process is not first
    assert ended(process) == UNUSABLE
    assert "card.toml" in (tmp_path / ENGINE_LOG).read_text()
