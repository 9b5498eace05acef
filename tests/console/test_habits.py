"""What a settings file says is checked before anything is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.habits import read_habits
from console.settings import SettingsInvalid


def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "trialdeck").mkdir()
    (tmp_path / "trialdeck" / "settings.toml").write_text(text)


def test_a_hidden_column_that_there_is_not_is_told_with_those_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _settings(tmp_path, monkeypatch, '[run]\nhidden_columns = ["memory", "mem"]\n')
    with pytest.raises(SettingsInvalid, match=r"`run\.hidden_columns`: no column 'mem'; there are .*memory"):
        read_habits()


def test_columns_are_hidden_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _settings(tmp_path, monkeypatch, '[run]\nhidden_columns = ["memory", "cpu"]\n')
    assert read_habits().settings.run.hidden_columns == ("memory", "cpu")
