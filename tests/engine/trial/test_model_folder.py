"""The folder of a trial's gateway: private on the host, short, and gone afterwards."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.issues import TrialFailed
from engine.trial.model_folder import KEPT, model_folder, sweep_model_folders


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A short one: pytest's own are longer than a socket's path may be."""
    with tempfile.TemporaryDirectory(prefix="td-") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        yield Path(short) / f"trialdeck-{os.getuid()}"


def test_nobody_else_on_the_host_can_get_at_it_and_everybody_in_main_can() -> None:
    with model_folder() as made:
        assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(made.path.stat().st_mode) == 0o755
        (made.path / "socket").touch()
    assert not made.path.exists()


def test_a_long_temporary_folder_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    long = tmp_path / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with model_folder() as made:
        assert made.path.parent == Path("/tmp") / f"trialdeck-{os.getuid()}"


def test_a_place_that_leads_elsewhere_is_not_used(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.symlink_to(tmp_path)
    monkeypatch.setattr("engine.socket_folder._parents", lambda: [place])
    with pytest.raises(TrialFailed, match="belongs to somebody else"), model_folder():
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_dead_engines_left_is_swept_and_what_is_kept_is_not(place: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    place.mkdir()
    left, kept = (place / f"model-{ended.pid}-{name}" for name in ("a", "b"))
    for folder in (left, kept):
        folder.mkdir()
    (kept / KEPT).touch()
    with model_folder() as made:
        sweep_model_folders()
        assert sorted(path.name for path in place.iterdir()) == sorted([kept.name, made.path.name])
