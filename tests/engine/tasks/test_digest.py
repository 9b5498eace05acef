"""Digests: what counts as content, and what doesn't."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from engine.tasks.digest import combined_digest, content_digest, environment_digest
from tests.engine.tasks.task_folders import write_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "f", {"a": "1", "b/c": "2", "b/run.sh": "3"})


def test_a_copy_has_the_same_digest(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(folder, copy)
    os.utime(copy / "a", (0, 0))
    assert content_digest(copy) == content_digest(folder)
    assert environment_digest(copy) == environment_digest(folder)


@pytest.mark.parametrize("change", ["content", "name", "new", "gone", "executable", "moved", "to a link", "target"])
def test_every_change_of_content_changes_both_digests(folder: Path, change: str) -> None:
    (folder / "link").symlink_to("a")
    before = content_digest(folder), environment_digest(folder)
    match change:
        case "content":
            (folder / "a").write_text("1 ")
        case "name":
            (folder / "a").rename(folder / "A")
        case "new":
            (folder / "b" / ".hidden").write_text("")
        case "gone":
            (folder / "b" / "c").unlink()
        case "executable":
            (folder / "b" / "run.sh").chmod(0o755)
        case "moved":
            (folder / "b" / "c").rename(folder / "c")
        case "to a link":
            (folder / "a").unlink()
            (folder / "a").symlink_to("1")
        case "target":
            (folder / "link").unlink()
            (folder / "link").symlink_to("b")
    after = content_digest(folder), environment_digest(folder)
    assert after[0] != before[0] and after[1] != before[1]


def test_what_a_clone_does_not_keep_is_no_content_of_a_task(folder: Path) -> None:
    before = content_digest(folder)
    write_files(folder, {".git/HEAD": "x", "b/__pycache__/x.pyc": "x", ".DS_Store": "x"})
    (folder / "empty").mkdir()
    (folder / "a").chmod(0o600)
    assert content_digest(folder) == before


@pytest.mark.parametrize("name", [".git/HEAD", "__pycache__/x.pyc", "empty/"])
def test_what_a_build_copies_is_content_of_an_environment(folder: Path, name: str) -> None:
    before = environment_digest(folder)
    if name.endswith("/"):
        (folder / name).mkdir()
    else:
        write_files(folder, {name: "x"})
    assert environment_digest(folder) != before


def test_a_mode_that_a_build_copies_is_content_of_an_environment(folder: Path) -> None:
    (folder / "a").chmod(0o644)
    before = environment_digest(folder)
    (folder / "a").chmod(0o600)
    assert environment_digest(folder) != before


def test_a_boundary_between_name_and_content_cannot_be_moved(tmp_path: Path) -> None:
    one = write_files(tmp_path / "one", {"ab": "c", "d": ""})
    two = write_files(tmp_path / "two", {"a": "bc", "d": ""})
    assert content_digest(one) != content_digest(two)


def test_names_are_bytes(tmp_path: Path) -> None:
    """Case 19: names that are not UTF-8, and names with a line end."""
    folder = write_files(tmp_path / "f", {"two\nlines": "x"})
    before = content_digest(folder)
    Path(os.fsdecode(os.fsencode(folder) + b"/bad\xffname")).write_text("x")
    middle = content_digest(folder)
    Path(os.fsdecode(os.fsencode(folder) + b"/bad\xfename")).write_text("x")
    assert len({before, middle, content_digest(folder)}) == 3


def test_links_are_not_followed_even_into_a_loop(folder: Path) -> None:
    (folder / "loop").symlink_to(".")
    (folder / "dangling").symlink_to("/nowhere")
    assert len(content_digest(folder)) == 64


def test_what_is_no_file_is_not_opened(folder: Path) -> None:
    before = content_digest(folder)
    os.mkfifo(folder / "pipe")
    assert content_digest(folder) != before


def test_a_combined_digest_does_not_depend_on_the_order() -> None:
    assert combined_digest({"a": "1", "b": "2"}) == combined_digest({"b": "2", "a": "1"})
    assert combined_digest({"a": "1", "b": "2"}) != combined_digest({"a": "2", "b": "1"})
