"""Folders for sockets of our own: short, private, and swept when their process is gone."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import socket_folder
from engine.socket_folder import new_socket_folder, sweep_socket_folders


@pytest.fixture(autouse=True)
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short one: pytest's own are longer than a socket's path may be."""
    with tempfile.TemporaryDirectory(prefix="td-") as short:
        folder = Path(short) / f"trialdeck-{os.getuid()}"
        monkeypatch.setattr(socket_folder, "_parents", lambda: [folder])
        yield folder


def gone_process() -> int:
    ended = subprocess.Popen(["true"])
    ended.wait()
    return ended.pid


def test_only_this_user_can_enter_it_also_where_its_parent_was_open(parent: Path) -> None:
    parent.mkdir(mode=0o777)
    parent.chmod(0o777)
    folder = new_socket_folder("some", "a.sock")
    assert folder.parent == parent
    assert [stat.S_IMODE(path.stat().st_mode) for path in (parent, folder)] == [0o700, 0o700]
    assert stat.S_IMODE(new_socket_folder("some", "a.sock", mode=0o755).stat().st_mode) == 0o755


def test_a_path_that_is_too_long_for_a_socket_is_said() -> None:
    with pytest.raises(OSError, match="too long for a socket"):
        new_socket_folder("some", "a" * 100 + ".sock")
    with pytest.raises(OSError, match="too long for a socket"):
        new_socket_folder("some", "a.sock", longest=20)


def test_a_parent_that_leads_elsewhere_is_neither_used_nor_swept(parent: Path, tmp_path: Path) -> None:
    (tmp_path / f"some-{gone_process()}-a").mkdir()
    parent.symlink_to(tmp_path)
    with pytest.raises(OSError, match="belongs to somebody else"):
        new_socket_folder("some", "a.sock")
    sweep_socket_folders("some")
    assert len(list(tmp_path.iterdir())) == 1


def test_what_dead_processes_left_is_swept_of_its_kind_alone(parent: Path, tmp_path: Path) -> None:
    dead = gone_process()
    mine = new_socket_folder("some", "a.sock")
    (parent / f"some-{dead}-left").mkdir()
    stays = [parent / f"other-{dead}-left", parent / f"some-{dead}-kept", parent / ("some-" + "9" * 40 + "-x")]
    for folder in stays:
        folder.mkdir()
    (parent / f"some-{dead}-link").symlink_to(tmp_path)
    sweep_socket_folders("some", spared=lambda folder: folder.name.endswith("kept"))
    assert sorted(parent.iterdir()) == sorted([mine, parent / f"some-{dead}-link", *stays])
    assert tmp_path.is_dir()
