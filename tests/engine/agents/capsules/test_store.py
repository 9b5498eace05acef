"""Capsules in the user's cache: whole or not there, and refused once they are not what was built."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.agents.capsules import build as building
from engine.agents.capsules import store
from engine.agents.capsules.build import build, find_or_build
from engine.agents.capsules.capsule import Capsule, CapsuleUnusable, Contents
from engine.agents.capsules.recipe import Recipe, Say
from engine.user_places import capsules_dir

TAG = "sample-v1"


def silent(line: str) -> None:
    """Nobody listens."""


def make(tag: str, folder: Path, say: Say) -> Contents:
    (folder / "bin").mkdir()
    (folder / "bin" / "run").write_text("#!/bin/sh\necho run\n")
    (folder / "bin" / "run").chmod(0o4775)
    (folder / "data").write_text("data")
    (folder / "data").chmod(0o600)
    (folder / "again").symlink_to("bin/run")
    return Contents(versions={"run": "1.0"}, programs={"run": "bin/run"}, env={"DATA": "{place}/data"})


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str, Path, Say], Contents]], None]:
    """Lets the tests' own recipe be the one for TAG."""
    monkeypatch.setattr(building, "_checked", set())

    def use(made: Callable[[str, Path, Say], Contents]) -> None:
        one = Recipe(tag=TAG, example=TAG, summary="a sample", make=made)
        monkeypatch.setattr(building, "recipe_for", lambda tag: one)

    use(make)
    return use


@pytest.fixture
def capsule(recipe: object) -> Capsule:
    return build(TAG, silent)


def left() -> list[str]:
    return sorted(path.name for path in capsules_dir().iterdir() if not path.name.startswith(".lock"))


def refusal(*, whole: bool = False) -> str:
    with pytest.raises(CapsuleUnusable) as caught:
        store.find(TAG, whole=whole)
    assert f"trialdeck capsule remove {TAG}" in str(caught.value)
    return str(caught.value)


def test_what_was_built_is_found(capsule: Capsule) -> None:
    assert store.find(TAG) == store.find(TAG, whole=True) == capsule
    assert store.tags() == [TAG] and left() == [TAG]
    assert capsule.programs == {"run": f"/opt/trialdeck/capsules/{TAG}/bin/run"}
    assert capsule.env == {"DATA": f"/opt/trialdeck/capsules/{TAG}/data"}
    assert capsule.files == 3 and len(capsule.digest) == 64


def test_nothing_is_found_where_nothing_was_built() -> None:
    assert store.find(TAG) is None and store.tags() == [] and store.remove(TAG) is False


def test_modes_are_the_same_whatever_the_builder_had(capsule: Capsule) -> None:
    modes = {path.name: path.stat().st_mode & 0o7777 for path in (capsule.folder / "bin").iterdir()}
    assert modes == {"run": 0o755} and (capsule.folder / "data").stat().st_mode & 0o7777 == 0o644


def test_the_same_files_have_the_same_digest_whenever_they_are_built(capsule: Capsule) -> None:
    os.utime(capsule.folder / "data", (1, 1))
    assert store.remove(TAG) is True
    assert build(TAG, silent).digest == capsule.digest


def test_other_words_about_the_same_files_are_another_capsule(
    capsule: Capsule, recipe: Callable[[Callable[[str, Path, Say], Contents]], None]
) -> None:
    def other(tag: str, folder: Path, say: Say) -> Contents:
        make(tag, folder, say)
        return Contents(versions={"run": "1.0"}, programs={"run": "data"})

    store.remove(TAG)
    recipe(other)
    assert build(TAG, silent).digest != capsule.digest


def test_a_changed_byte_is_found_when_every_file_is_read(capsule: Capsule) -> None:
    (capsule.folder / "data").write_text("daTa")
    assert store.find(TAG) is not None  # the same size: a look at names alone can't tell
    assert "contents" in refusal(whole=True)


@pytest.mark.parametrize("change", ["longer", "mode", "added", "removed", "link", "renamed"])
def test_what_shows_without_reading_is_found_at_once(capsule: Capsule, change: str) -> None:
    data = capsule.folder / "data"
    match change:
        case "longer":
            data.write_text("data and more")
        case "mode":
            data.chmod(0o755)
        case "added":
            (capsule.folder / "more").touch()
        case "removed":
            data.unlink()
        case "link":
            (capsule.folder / "again").unlink()
            (capsule.folder / "again").symlink_to("/bin/sh")
        case "renamed":
            data.rename(capsule.folder / "date")
    assert "built with" in refusal() or "was built" in refusal()


def test_a_program_put_into_the_manifest_is_refused(capsule: Capsule) -> None:
    manifest = capsule.folder / store.MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b"bin/run", b"../../x"))
    refusal(whole=True)


@pytest.mark.parametrize("text", ["", "{", '{"format": 1}', "[]", '"' + "x" * 100])
def test_a_manifest_that_cant_be_read_is_named(capsule: Capsule, text: str) -> None:
    (capsule.folder / store.MANIFEST).write_text(text)
    assert "capsule.json" in refusal()


def test_a_capsule_of_another_machine_or_with_another_name_is_refused(
    capsule: Capsule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "mips")
    assert "mips" in refusal()
    capsule.folder.rename(capsule.folder.with_name("other-v1"))
    with pytest.raises(CapsuleUnusable, match=TAG):
        store.find("other-v1")


def test_a_socket_in_it_is_refused(capsule: Capsule) -> None:
    os.mkfifo(capsule.folder / "pipe")
    with pytest.raises(CapsuleUnusable, match="neither a file"):
        store.find(TAG)


@pytest.mark.parametrize("tag", ["", "..", "../x", "a/b", "A", ".lock-x", "x" * 90, "a b", "x\n"])
def test_what_cant_be_a_tag_leads_nowhere(tag: str) -> None:
    with pytest.raises(CapsuleUnusable):
        store.find(tag)
    with pytest.raises(CapsuleUnusable):
        store.remove(tag)


def test_a_build_that_fails_leaves_nothing(recipe: Callable[[Callable[[str, Path, Say], Contents]], None]) -> None:
    def half(tag: str, folder: Path, say: Say) -> Contents:
        (folder / "half").touch()
        raise CapsuleUnusable("the other half is missing")

    recipe(half)
    with pytest.raises(CapsuleUnusable, match="other half"):
        build(TAG, silent)
    assert left() == [] and store.find(TAG) is None


def test_what_a_killed_build_left_is_not_taken_for_a_capsule_and_goes_with_the_next_one(recipe: object) -> None:
    cut = capsules_dir() / f".aside-{TAG}-dead"
    (cut / "capsule").mkdir(parents=True)
    (cut / "capsule" / "half").touch()
    assert store.find(TAG) is None and store.tags() == []
    build(TAG, silent)
    assert left() == [TAG]


def test_errors_of_the_system_are_said_in_words(
    recipe: Callable[[Callable[[str, Path, Say], Contents]], None],
) -> None:
    def full(tag: str, folder: Path, say: Say) -> Contents:
        raise OSError(28, "No space left on device", "/somewhere")

    recipe(full)
    with pytest.raises(CapsuleUnusable, match="No space left"):
        build(TAG, silent)


def test_two_builders_at_once_build_once(recipe: Callable[[Callable[[str, Path, Say], Contents]], None]) -> None:
    begun, go_on = threading.Event(), threading.Event()
    built: list[str] = []

    def slow(tag: str, folder: Path, say: Say) -> Contents:
        built.append(tag)
        begun.set()
        assert go_on.wait(30)
        return make(tag, folder, say)

    recipe(slow)
    found: list[Capsule] = []
    waiting = threading.Semaphore(0)

    def say(line: str) -> None:
        if "wait for it" in line:
            waiting.release()

    threads = [threading.Thread(target=lambda: found.append(find_or_build(TAG, say))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(30) and waiting.acquire(timeout=30) and waiting.acquire(timeout=30)
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert built == [TAG] and len(found) == 3 and len({one.digest for one in found}) == 1


def test_one_that_is_there_is_not_built_again_nor_overwritten_where_it_has_changed(capsule: Capsule) -> None:
    lines: list[str] = []
    assert build(TAG, lines.append) == capsule and lines == []
    (capsule.folder / "data").write_text("changed by somebody")
    with pytest.raises(CapsuleUnusable, match="remove"):
        build(TAG, silent)


def test_every_file_is_read_once_in_a_process(capsule: Capsule) -> None:
    (capsule.folder / "data").write_text("daTa")
    with pytest.raises(CapsuleUnusable, match="contents"):
        find_or_build(TAG, silent)


def test_a_cache_that_cant_be_written_is_named(recipe: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(CapsuleUnusable, match="XDG_CACHE_HOME"):
        build(TAG, silent)
