"""Programs that the suite needs beside Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.machine.tools import missing_packages


def test_only_packages_of_programs_that_path_lacks_are_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").write_text("#!/bin/sh\n")
    (tmp_path / "there").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_packages({"there": "package-a", "gone": "package-b"}) == ["package-b"]
