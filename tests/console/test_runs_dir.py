"""Where runs are looked for."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.deck import trialdeck


def runs(place: Path, *words: str, settings: str = "") -> str:
    config = place / "config"
    (config / "trialdeck").mkdir(parents=True, exist_ok=True)
    (config / "trialdeck" / "settings.toml").write_text(settings)
    return trialdeck("runs", *words, cwd=place, env={"XDG_CONFIG_HOME": str(config)}).stdout


def test_the_folder_of_the_settings_is_looked_into_unless_the_command_names_another(tmp_path: Path) -> None:
    assert runs(tmp_path).startswith("runs is not there yet")
    assert runs(tmp_path, settings='runs_dir = "measured"').startswith("measured is not there yet")
    assert runs(tmp_path, "--runs-dir", "other", settings='runs_dir = "measured"').startswith("other is not there yet")


def test_a_broken_settings_file_hides_no_runs(tmp_path: Path) -> None:
    assert runs(tmp_path, settings="runs_dir = [[[").startswith("runs is not there yet")
