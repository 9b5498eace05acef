"""Packages of the npm registry: exactly the version asked for, and what the registry says of its content."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.agents.capsules.capsule import CapsuleUnusable
from engine.agents.capsules.npm_pack import Packed, integrity_of, pack, unpack
from tests.engine.agents.capsules.fake_clients import FakeNpm


def silent(line: str) -> None:
    """Nobody listens."""


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNpm:
    return FakeNpm(tmp_path / "npm", monkeypatch)


def packed(tmp_path: Path, integrity: str = "") -> Packed:
    return pack("@scope/package", "1.0.0", tmp_path / "into", integrity=integrity, say=silent)


def test_what_the_registry_says_of_the_content_is_compared(npm: FakeNpm, tmp_path: Path) -> None:
    found = packed(tmp_path)
    assert found.version == "1.0.0" and found.integrity == npm.integrity
    assert [line.split()[:2] for line in npm.asked] == [
        ["view", "@scope/package@1.0.0"],
        ["pack", "@scope/package@1.0.0"],
    ]
    assert "--ignore-scripts" in npm.asked[1]


def test_a_known_integrity_is_compared_without_asking_the_registry(npm: FakeNpm, tmp_path: Path) -> None:
    assert packed(tmp_path, npm.integrity).integrity == npm.integrity
    assert [line.split()[0] for line in npm.asked] == ["pack"]


def test_another_content_is_refused_with_both_integrities(npm: FakeNpm, tmp_path: Path) -> None:
    expected = npm.integrity
    npm.package({"package/cli": b"something else"})
    with pytest.raises(CapsuleUnusable) as caught:
        packed(tmp_path, expected)
    assert expected in str(caught.value) and npm.integrity in str(caught.value)


@pytest.mark.parametrize("said", ["", '""', "{}", "[]", "sha512", '"sha1-abc"', "not json"])
def test_a_version_that_the_registry_does_not_know_is_named(npm: FakeNpm, tmp_path: Path, said: str) -> None:
    npm.says(said)
    with pytest.raises(CapsuleUnusable, match=r"@scope/package 1\.0\.0"):
        packed(tmp_path)


def test_npm_s_own_words_are_passed_on(npm: FakeNpm, tmp_path: Path) -> None:
    npm.fails(
        "npm error code E404\nnpm error 404 Not Found\nnpm error A complete log of this run can be found in: /x\n"
    )
    with pytest.raises(CapsuleUnusable, match="E404") as caught:
        packed(tmp_path)
    assert "complete log" not in str(caught.value)


def test_without_npm_one_is_downloaded_for_this_once(
    npm: FakeNpm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def unpacked(aside: Path) -> Path:
        asked.append(aside)
        (aside / "bin").mkdir(parents=True)
        node = aside / "bin" / "node"
        node.write_text(f'#!/bin/sh\nshift\nexec {npm.folder / "npm"} "$@"\n')
        node.chmod(0o755)
        return aside

    monkeypatch.setattr("engine.agents.capsules.node.unpacked", unpacked)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert packed(tmp_path).version == "1.0.0"
    assert asked == [tmp_path / "into" / "node"]


def test_an_archive_is_unpacked_into_its_folder(npm: FakeNpm, tmp_path: Path) -> None:
    folder = unpack(packed(tmp_path), tmp_path / "out")
    assert folder == tmp_path / "out" / "package" and (folder / "cli").stat().st_mode & 0o100


@pytest.mark.parametrize("name", ["../outside", "package/../../outside"])
def test_a_member_that_would_leave_the_folder_is_refused(npm: FakeNpm, tmp_path: Path, name: str) -> None:
    npm.package({"package/cli": b"", name: b"x"})
    with pytest.raises(CapsuleUnusable, match="outside"):
        unpack(packed(tmp_path), tmp_path / "out")
    assert not (tmp_path / "outside").exists()


def test_an_absolute_name_stays_in_the_folder(npm: FakeNpm, tmp_path: Path) -> None:
    npm.package({f"{tmp_path}/evil": b"x"})
    assert unpack(packed(tmp_path), tmp_path / "out").is_relative_to(tmp_path / "out")
    assert not (tmp_path / "evil").exists()


def test_a_broken_archive_is_refused(npm: FakeNpm, tmp_path: Path) -> None:
    (npm.folder / "package.tgz").write_bytes(b"\x1f\x8bnothing")
    npm.says(f'"{integrity_of(npm.folder / "package.tgz")}"')
    with pytest.raises(CapsuleUnusable, match="unpacked"):
        unpack(packed(tmp_path), tmp_path / "out")
