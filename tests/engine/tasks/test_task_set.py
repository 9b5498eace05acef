"""Paths that a person names -> the tasks of a run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from engine.issues import Code
from engine.tasks.task_set import TaskSet, TaskSetInvalid, find_tasks
from tests.engine.tasks.task_folders import make_task, write_files
from tests.shared_data import shared_data


def ids(tasks: TaskSet) -> list[str]:
    return [task.id for task in tasks.tasks]


def refused(*paths: Path, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> str:
    with pytest.raises(TaskSetInvalid) as caught:
        find_tasks(paths, include, exclude)
    assert caught.value.issue.message == str(caught.value)
    return str(caught.value)


def test_a_path_is_one_task_or_a_folder_of_tasks(tmp_path: Path) -> None:
    for name in ("b", "a"):
        make_task(tmp_path / "set" / name)
    write_files(tmp_path / "set", {"README.md": "x", "docs/notes.md": "x"})
    assert ids(find_tasks([tmp_path / "set" / "a"])) == ["a"]
    assert ids(find_tasks([tmp_path / "set" / "a" / "task.toml"])) == ["a"]
    assert ids(find_tasks([tmp_path / "set"])) == ["a", "b"]


def test_tasks_are_found_below_the_layouts_of_dataset_repositories(tmp_path: Path) -> None:
    make_task(tmp_path / "repo" / "tasks" / "a")
    make_task(tmp_path / "repo" / "datasets" / "small" / "b")
    make_task(tmp_path / "repo" / "x" / "y" / "z" / "too-deep")
    make_task(tmp_path / "repo" / ".git" / "hidden")
    assert ids(find_tasks([tmp_path / "repo"])) == ["a", "b"]


def test_what_lies_inside_a_task_is_no_task_of_its_own(tmp_path: Path) -> None:
    folder = make_task(tmp_path / "set" / "a")
    make_task(folder / "tests" / "fixture")
    assert ids(find_tasks([tmp_path / "set"])) == ["a"]


def test_ids_of_any_script_are_found_side_by_side(tmp_path: Path) -> None:
    """Case 1: five names, two of which Compose would take for one."""
    names = ["org/Fix_Build", "org-fix_build", "ORG.fix-build", "-Größe-42", "日本語/タスク"]
    for name in names:
        make_task(tmp_path / name)
    found = find_tasks([tmp_path])
    assert sorted(ids(found)) == sorted(["Fix_Build", "org-fix_build", "ORG.fix-build", "-Größe-42", "タスク"])
    assert found.broken == ()


def test_one_broken_task_never_stops_the_others(tmp_path: Path) -> None:
    make_task(tmp_path / "good")
    make_task(tmp_path / "bad", "x = ")
    make_task(tmp_path / "bare", files={"task.toml": None})
    found = find_tasks([tmp_path])
    assert ids(found) == ["good"]
    assert [(broken.id, broken.folder) for broken in found.broken] == [
        ("bad", tmp_path / "bad"),
        ("bare", tmp_path / "bare"),
    ]
    assert {broken.issue.code for broken in found.broken} == {Code.TASK_INVALID}
    assert "bad/task.toml, line 1" in found.broken[0].issue.message
    assert "bare/task.toml: is missing" in found.broken[1].issue.message


def test_a_single_broken_task_is_a_set_of_one_broken_task(tmp_path: Path) -> None:
    make_task(tmp_path / "bare", files={"task.toml": None})
    found = find_tasks([tmp_path / "bare"])
    assert (found.tasks, [broken.id for broken in found.broken]) == ((), ["bare"])


def test_a_path_without_tasks_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    assert "nowhere: there is no such file or folder" in refused(tmp_path / "nowhere")
    assert "empty: holds no task" in refused(tmp_path / "empty")
    assert "file: is a file" in refused(tmp_path / "file")
    assert "no path" in refused()


def test_one_bad_path_among_good_ones_is_an_error(tmp_path: Path) -> None:
    make_task(tmp_path / "a")
    assert "nowhere" in refused(tmp_path / "a", tmp_path / "nowhere")


def test_two_folders_with_one_id_are_an_error_that_names_both(tmp_path: Path) -> None:
    """Case 89: neither the last nor the first wins."""
    make_task(tmp_path / "one" / "a")
    make_task(tmp_path / "two" / "a", "x = ")
    message = refused(tmp_path / "one", tmp_path / "two")
    assert 'two tasks have the id "a"' in message
    assert str(tmp_path / "one" / "a") in message and str(tmp_path / "two" / "a") in message


def test_one_folder_named_twice_is_one_task(tmp_path: Path) -> None:
    make_task(tmp_path / "set" / "a")
    (tmp_path / "alias").symlink_to("set")
    assert ids(find_tasks([tmp_path / "set", tmp_path / "set" / "a", tmp_path / "alias"])) == ["a"]


@pytest.mark.parametrize(
    ("include", "exclude", "chosen"),
    [
        ((), (), ["fix-a", "fix-b", "größe", "make[1]"]),
        (("fix-*",), (), ["fix-a", "fix-b"]),
        (("fix-a", "größe"), (), ["fix-a", "größe"]),
        (("gro\u0308\u00dfe",), (), ["größe"]),
        (("make[1]",), (), ["make[1]"]),
        (("org/*",), (), ["fix-b"]),
        (("fix-?",), ("*-b",), ["fix-a"]),
        ((), ("org/second",), ["fix-a", "größe", "make[1]"]),
        ((), ("nothing-like-it",), ["fix-a", "fix-b", "größe", "make[1]"]),
    ],
)
def test_globs_choose_by_id_or_by_name(
    tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], chosen: list[str]
) -> None:
    for name in ("fix-a", "größe", "make[1]"):
        make_task(tmp_path / name)
    make_task(tmp_path / "fix-b", '[task]\nname = "org/second"\n')
    assert ids(find_tasks([tmp_path], include, exclude)) == chosen


def test_an_include_that_matches_nothing_is_an_error_with_what_is_near(tmp_path: Path) -> None:
    for name in ("fix-build", "fix-tests"):
        make_task(tmp_path / name)
    message = refused(tmp_path, include=("fix-tests", "fix-biuld"))
    assert 'no task matches "fix-biuld"' in message and "fix-build" in message
    assert "excluded by *" in refused(tmp_path, exclude=("*",))


def test_broken_tasks_are_chosen_by_their_id_too(tmp_path: Path) -> None:
    make_task(tmp_path / "good")
    make_task(tmp_path / "bad", "x = ")
    assert find_tasks([tmp_path], exclude=["bad"]).broken == ()
    assert find_tasks([tmp_path], include=["bad"]).tasks == ()


def test_the_digest_of_a_set_covers_the_content_of_the_chosen_tasks(tmp_path: Path) -> None:
    for root in ("here", "there"):
        for name in ("a", "b"):
            make_task(tmp_path / root / name)
    here, there = find_tasks([tmp_path / "here"]), find_tasks([tmp_path / "there"])
    assert here.digest == there.digest
    assert find_tasks([tmp_path / "here"], include=["a"]).digest != here.digest
    (tmp_path / "there" / "b" / "tests" / "test.sh").write_text("exit 1\n")
    assert find_tasks([tmp_path / "there"]).digest != here.digest


def test_a_set_is_named_after_its_folder(tmp_path: Path) -> None:
    make_task(tmp_path / "bench" / "tasks" / "a")
    make_task(tmp_path / "own" / "b")
    assert find_tasks([tmp_path / "bench" / "tasks"]).name == "bench"
    assert find_tasks([tmp_path / "own" / "b"]).name == "b"
    assert find_tasks([tmp_path / "bench", tmp_path / "own"]).name == "bench + own"


def test_real_tasks_are_found_in_place() -> None:
    found = find_tasks([shared_data("deep-swe")])
    assert (len(found.tasks), found.broken, found.name) == (113, (), "deep-swe")


# --- the git commit ---------------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(folder: Path) -> str:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "tasks")
    return git(folder, "rev-parse", "HEAD")


def test_the_version_is_the_git_commit_with_a_mark_where_files_differ(tmp_path: Path) -> None:
    make_task(tmp_path / "set" / "a")
    make_task(tmp_path / "set" / "b")
    commit = repository(tmp_path)
    assert find_tasks([tmp_path / "set"]).version == commit
    (tmp_path / "elsewhere").write_text("not part of the set")
    assert find_tasks([tmp_path / "set"]).version == commit
    (tmp_path / "set" / "a" / "tests" / "new.sh").write_text("x")
    assert find_tasks([tmp_path / "set"]).version == f"{commit}-dirty"
    assert find_tasks([tmp_path / "set" / "b"]).version == commit
    assert find_tasks([tmp_path / "set" / "b", tmp_path / "set" / "a"]).version == f"{commit}-dirty"


def test_a_folder_that_is_in_no_commit_has_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_task(tmp_path / "repo" / "a")
    make_task(tmp_path / "plain" / "b")
    repository(tmp_path / "repo")
    make_task(tmp_path / "repo" / "untracked" / "c")
    assert find_tasks([tmp_path / "plain"]).version == ""
    assert find_tasks([tmp_path / "repo" / "untracked"]).version == ""
    assert find_tasks([tmp_path / "plain", tmp_path / "repo" / "a"]).version == ""
    monkeypatch.setenv("GIT_DIR", os.fspath(tmp_path / "repo" / ".git"))
    assert find_tasks([tmp_path / "plain"]).version == ""


def test_without_git_there_is_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_task(tmp_path / "a")
    repository(tmp_path)
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert find_tasks([tmp_path]).version == ""
