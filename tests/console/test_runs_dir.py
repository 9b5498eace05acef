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


def test_what_is_said_before_the_command_holds_for_it_unless_it_is_said_again(tmp_path: Path) -> None:
    def said(*words: str) -> str:
        done = trialdeck(*words, cwd=tmp_path, env={"XDG_CONFIG_HOME": str(tmp_path)})
        return f"{done.stdout}{done.stderr}"

    assert said("--runs-dir", "other", "runs").startswith("other is not there yet")
    assert said("--runs-dir", "other", "runs", "--runs-dir", "third").startswith("third is not there yet")
    assert "other" in said("--runs-dir", "other", "show", "last")
    assert "other" in said("--runs-dir", "other", "card", "diff", "last", "last")
