"""What goes into a container: every file under the very name that it is to have there."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

from engine.environments.docker.archive_in import pack_bytes, pack_path


def names(source: Path, target: str) -> list[str]:
    with pack_path(source, PurePosixPath(target)) as packed, tarfile.open(fileobj=packed) as archive:
        return archive.getnames()


def test_a_hidden_name_right_below_the_root_keeps_its_dot(tmp_path: Path) -> None:
    (tmp_path / "settings").write_text("x")
    assert names(tmp_path, "/.config") == [".config/settings"]
    assert names(tmp_path / "settings", "/.settings") == [".settings"]
    with pack_bytes(b"x", PurePosixPath("/.flag"), 0o644) as packed, tarfile.open(fileobj=packed) as archive:
        assert archive.getnames() == [".flag"]


def test_the_content_of_a_folder_for_the_root_itself(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "f").write_text("x")
    (tmp_path / "a").symlink_to("b")
    assert names(tmp_path, "/") == ["a", "b", "b/c", "b/c/f"]


def test_folders_nested_deeper_than_python_can_follow(tmp_path: Path) -> None:
    made = tmp_path
    for _ in range(1200):
        made = made / "d"
        made.mkdir()
    try:
        assert len(names(tmp_path, "/app")) == 1200
    finally:
        while made != tmp_path:  # shutil's own removal recurses, too
            made.rmdir()
            made = made.parent
