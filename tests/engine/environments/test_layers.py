"""What changed in a container, read off its layers: made by hand here, and held against the daemon's own answer."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from engine.environments.docker.layers import Layers, LayersUnreadable, layers_of, touched


class Overlay:
    """Two lower layers and an upper one, as overlayfs would keep them."""

    def __init__(self, folder: Path) -> None:
        self.upper, self.middle, self.bottom = (folder / name for name in ("upper", "middle", "bottom"))
        for layer in (self.upper, self.middle, self.bottom):
            layer.mkdir()

    def touched(self) -> dict[str, str]:
        return dict(touched(Layers(str(self.upper), (str(self.middle), str(self.bottom)))))


@pytest.fixture
def overlay(tmp_path: Path) -> Overlay:
    return Overlay(tmp_path)


def file(place: Path, text: str = "x", at: int = 1_000_000_000) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    os.utime(place, (at, at))
    return place


def whiteout(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(0, 0))
    except PermissionError:
        pytest.skip("this kernel lets only root make whiteouts")


def mark_opaque(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        os.setxattr(folder, b"user.overlay.opaque", b"y")
    except OSError:
        pytest.skip("no extended attributes in the temporary folder")


def test_added_changed_and_deleted(overlay: Overlay) -> None:
    file(overlay.bottom / "etc/kept")
    file(overlay.bottom / "etc/edited")
    file(overlay.middle / "etc/removed")
    file(overlay.upper / "etc/edited", "xy")
    file(overlay.upper / "etc/new")
    whiteout(overlay.upper / "etc/removed")
    assert overlay.touched() == {"/etc/edited": "changed", "/etc/new": "added", "/etc/removed": "deleted"}


def test_a_file_that_was_only_copied_up_is_not_a_change(overlay: Overlay) -> None:
    file(overlay.bottom / "etc/passwd", "root")
    file(overlay.upper / "etc/passwd", "root")
    assert overlay.touched() == {}


def test_a_mode_is_a_change_also_of_a_folder(overlay: Overlay) -> None:
    (overlay.bottom / "srv").mkdir(mode=0o755)
    (overlay.upper / "srv").mkdir(mode=0o700)
    assert overlay.touched() == {"/srv": "changed"}


def test_a_layer_that_deleted_something_hides_what_lies_below_it(overlay: Overlay) -> None:
    file(overlay.bottom / "opt/tool")
    whiteout(overlay.middle / "opt/tool")
    file(overlay.upper / "opt/tool")
    assert overlay.touched() == {"/opt/tool": "added"}


def test_deleting_what_no_layer_shows_is_no_change(overlay: Overlay) -> None:
    (overlay.bottom / "tmp").mkdir()
    whiteout(overlay.upper / "tmp/scratch")
    assert "/tmp/scratch" not in overlay.touched()


def test_a_folder_put_in_another_ones_place(overlay: Overlay) -> None:
    file(overlay.bottom / "doc/old")
    file(overlay.bottom / "doc/both", "before")
    file(overlay.upper / "doc/both", "after!!")
    mark_opaque(overlay.upper / "doc")
    found = overlay.touched()
    assert found["/doc/old"] == "deleted"
    assert found["/doc/both"] in ("added", "changed")


def test_a_folder_in_a_files_place(overlay: Overlay) -> None:
    file(overlay.bottom / "data")
    file(overlay.upper / "data/row")
    assert overlay.touched() == {"/data": "changed", "/data/row": "added"}


def test_names_that_are_no_utf_8(overlay: Overlay) -> None:
    os.close(os.open(os.fsencode(overlay.upper) + b"/\xff", os.O_CREAT | os.O_WRONLY))
    assert list(overlay.touched()) == ["/\udcff"]


@pytest.mark.parametrize(
    "graph",
    [None, {}, {"Name": "btrfs", "Data": None}, {"Name": "overlay2", "Data": {"UpperDir": "/u"}}],
)
def test_other_storage_is_left_to_the_daemon(graph: dict[str, Any] | None) -> None:
    assert layers_of(graph) is None


def test_layers_of_an_inspect() -> None:
    data = {"UpperDir": "/u", "LowerDir": "/i:/a:/b"}
    assert layers_of({"Name": "overlay2", "Data": data}) == Layers("/u", ("/i", "/a", "/b"))


def test_a_layer_that_is_not_on_this_host() -> None:
    with pytest.raises(LayersUnreadable):
        list(touched(Layers("/nowhere/upper", ("/nowhere/lower",))))


def test_folders_nested_deeper_than_python_can_follow_are_left_to_the_daemon(overlay: Overlay) -> None:
    made = overlay.upper
    for _ in range(1200):
        made = made / "d"
        made.mkdir()
    try:
        with pytest.raises(LayersUnreadable):
            overlay.touched()
    finally:
        while made != overlay.upper:  # shutil's own removal recurses, too
            made.rmdir()
            made = made.parent
