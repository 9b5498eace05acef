"""Wheels by the user's own pip."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from engine.agents.capsules.capsule import CapsuleUnusable
from engine.agents.capsules.pip_download import download_wheel, unpack_wheel

WHEEL = "sample-1.0-py3-none-any.whl"


def wheel(folder: Path) -> Path:
    folder.mkdir()
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        program = zipfile.ZipInfo("sample/program")
        program.external_attr = 0o100755 << 16
        archive.writestr(program, "#!/bin/sh\n")
        archive.writestr("sample/data", "x")
        archive.writestr("sample-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n")
        archive.writestr("sample-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("sample-1.0.dist-info/RECORD", "")
    return folder / WHEEL


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index that is a folder: nothing of a network."""
    found = wheel(tmp_path / "wheels")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(found.parent))
    return found


def test_a_wheel_is_fetched_with_the_user_s_configuration(local: Path, tmp_path: Path) -> None:
    assert download_wheel("sample", "1.0", tmp_path / "into").read_bytes() == local.read_bytes()


def test_another_content_is_refused(local: Path, tmp_path: Path) -> None:
    with pytest.raises(CapsuleUnusable, match=r"sample 1\.0"):
        download_wheel("sample", "1.0", tmp_path / "into", sha256=("0" * 64,))


def test_a_version_that_is_not_there_is_named(local: Path, tmp_path: Path) -> None:
    with pytest.raises(CapsuleUnusable, match=r"sample 2\.0"):
        download_wheel("sample", "2.0", tmp_path / "into")


def test_without_pip_the_way_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho 'python: No module named pip' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    with pytest.raises(CapsuleUnusable, match="ensurepip"):
        download_wheel("sample", "1.0", tmp_path / "into")


def test_programs_of_a_wheel_can_be_run_when_it_is_unpacked(local: Path, tmp_path: Path) -> None:
    unpack_wheel(local, tmp_path / "out")
    assert (tmp_path / "out/sample/program").stat().st_mode & 0o100
    assert not (tmp_path / "out/sample/data").stat().st_mode & 0o100
