"""The settings file: read with errors that name file and key, written without losing a comment."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from console.settings import Notifications, Settings, SettingsInvalid, origins, read_settings, schema
from console.settings_text import commented, remember

HERE = """\
# mine
theme = "light"  # easier by day

[notifications]
bell = false
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.toml"


def written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_without_a_file_everything_is_as_by_default(file: Path) -> None:
    assert read_settings(file) == Settings()
    assert origins(file) == frozenset()


def test_what_the_file_says_goes_before_the_defaults(file: Path) -> None:
    found = read_settings(written(file, HERE))
    assert found.theme == "light" and found.notifications == Notifications(bell=False)
    assert origins(file) == {"theme", "notifications.bell"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('themes = "dark"', "unknown key `themes`; there are theme, user"),
        ('theme = "pink"', "`theme`: invalid enum value 'pink'; it is one of colour-blind, dark, high-contrast"),
        ("[notifications]\nbel = true", "unknown key `notifications.bel`; there are run_ends, goes_bad"),
        ("[notifications]\nbell = 3", "`notifications.bell`: expected `bool`, got `int`"),
        ('read_only = "yes"', "`read_only`: expected `bool`, got `str`"),
        ("run = 3", "`run`: expected `object`, got `int`"),
        ("theme = ", "no TOML: Invalid value (at end of document)"),
        ("\ufeff\x00", "no TOML"),
    ],
)
def test_what_is_wrong_is_named_with_file_key_and_expectation(file: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsInvalid) as error:
        read_settings(written(file, text))
    assert str(error.value).startswith(f"{file}: ") and said in str(error.value)


def test_a_file_that_is_no_text_or_far_too_large_is_said(file: Path) -> None:
    written(file, "")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsInvalid, match="no TOML"):
        read_settings(file)
    file.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(SettingsInvalid, match="more than 1 MB"):
        read_settings(file)


def test_the_commented_file_says_everything_and_changes_nothing(file: Path) -> None:
    text = commented()
    assert read_settings(written(file, text)) == Settings()
    uncommented = "\n".join(
        line.removeprefix("# ") if " = " in line and line.startswith("# ") and '"run.filter"' not in line else line
        for line in text.splitlines()
    )
    values = tomllib.loads("\n".join(line for line in uncommented.splitlines() if not line.startswith("# ")))
    assert msgspec.convert(values, Settings) == Settings()
    for name in Settings.__struct_fields__:
        assert name in text


def test_a_remembered_value_leaves_every_comment_where_it_was(file: Path) -> None:
    written(file, HERE)
    remember("theme", "high-contrast", file)
    remember("run.hidden_columns", ("used", "cpu"), file)
    remember("logs.wrap", True, file)
    text = file.read_text()
    assert "# mine" in text and "# easier by day" in text and "bell = false" in text
    found = read_settings(file)
    assert (found.theme, found.run.hidden_columns, found.logs.wrap) == ("high-contrast", ("used", "cpu"), True)


def test_a_remembered_value_makes_the_file_and_follows_a_link(file: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles.toml"
    elsewhere.write_text("# dot\n")
    file.parent.mkdir(parents=True)
    file.symlink_to(elsewhere)
    remember("theme", "light", file)
    assert file.is_symlink() and elsewhere.read_text() == '# dot\ntheme = "light"\n'


def test_a_file_that_is_no_toml_is_never_written_over(file: Path) -> None:
    written(file, "theme = = 3")
    with pytest.raises(SettingsInvalid, match="no TOML"):
        remember("theme", "light", file)
    assert file.read_text() == "theme = = 3"


def test_the_schema_describes_every_key() -> None:
    found = schema()["$defs"]["Settings"]
    assert set(found["properties"]) == set(Settings.__struct_fields__)
    assert all(value["description"] for value in found["properties"].values())
    assert found["additionalProperties"] is False


def ran(monkeypatch: pytest.MonkeyPatch, config: Path, *arguments: str) -> str:
    from console import main

    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    monkeypatch.setattr(sys, "argv", ["trialdeck", "settings", *arguments])
    import typer

    from console.commands.settings import settings

    app = typer.Typer()
    app.command()(settings)
    assert "settings" in main.COMMANDS
    answer = CliRunner().invoke(app, list(arguments))
    if answer.exception and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    return answer.output


def test_the_command_shows_the_place_the_values_and_their_origin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "trialdeck" / "settings.toml", HERE)
    lines = ran(monkeypatch, tmp_path).splitlines()
    assert lines[0] == str(path)
    origin = {line.split()[0]: line.split()[-1] for line in lines[1:] if line.startswith("  ")}
    assert origin["theme"] == "file" and origin["notifications.bell"] == "file" and origin["times"] == "default"


def test_init_writes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from console.errors import Unusable

    ran(monkeypatch, tmp_path, "--init")
    assert (tmp_path / "trialdeck" / "settings.toml").read_text() == commented()
    with pytest.raises(Unusable, match="is there already"):
        ran(monkeypatch, tmp_path, "--init")


def test_the_command_prints_schema_json_and_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert msgspec.json.decode(ran(monkeypatch, tmp_path, "--schema"))["$defs"]["Settings"]
    assert msgspec.json.decode(ran(monkeypatch, tmp_path, "--json"))["settings"]["theme"] == "dark"
    written(tmp_path / "trialdeck" / "settings.toml", '[keys]\n"run.filter" = "F"\n')
    listed = ran(monkeypatch, tmp_path, "--keys")
    assert " * run.filter " in listed and "   run.sort_back " in listed
