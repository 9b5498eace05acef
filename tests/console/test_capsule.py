"""`trialdeck capsule`: listed, built, checked, removed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from console import main
from console.commands.capsule import capsule
from engine.agents.capsules import recipes
from engine.agents.capsules.capsule import Contents
from engine.agents.capsules.recipe import Recipe, Say
from engine.agents.capsules.store import folder_of

TAG = "sample-v1"


def make(tag: str, folder: Path, say: Say) -> Contents:
    say("copy a file")
    (folder / "run").write_text("#!/bin/sh\n")
    return Contents(versions={"run": "1.2", "integrity": "sha512-abc"}, programs={"run": "run"})


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Recipe(tag=TAG, example=TAG, summary="a sample", make=make, network=False)
    monkeypatch.setattr(recipes, "RECIPES", (one,))


def said(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(capsule, [*arguments], catch_exceptions=code == 0)
    assert result.exit_code == code, result.output
    return result.output


def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """As a person sees it: one line, exit code 2."""
    monkeypatch.setattr(sys, "argv", ["trialdeck", "capsule", *arguments])
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    return err


def test_what_can_be_built_is_listed_before_there_is_any() -> None:
    assert said("list").strip() == f"{TAG}  not built: a sample; needs no network"
    assert said("check").strip() == "no capsule is built"


def test_a_capsule_is_built_listed_checked_and_removed() -> None:
    assert f"{TAG}  ✓ sound  run 1.2" in said("build", TAG)
    listed = said("list")
    assert "✓ sound  run 1.2" in listed and "not built" not in listed and "sha512" not in listed
    assert "✓ sound" in said("check", TAG)
    assert said("remove", TAG).strip() == f"{TAG}  removed"
    assert not folder_of(TAG).exists()


def test_the_document_says_all_of_it() -> None:
    said("build", TAG)
    found = json.loads(said("list", "--json"))
    assert found["schema"] == "trialdeck.capsules/1"
    [row] = found["capsules"]
    assert row["state"] == "sound" and row["place_in_main"] == f"/opt/trialdeck/capsules/{TAG}"
    assert row["versions"]["integrity"] == "sha512-abc" and len(row["digest"]) == 64
    assert json.loads(said("check", TAG, "--json")) == found


def test_a_changed_capsule_is_told_with_the_way_out() -> None:
    said("build", TAG)
    (folder_of(TAG) / "run").write_text("#!/bin/sh \n")
    output = said("check", code=2)
    assert "✗ unusable" in output and f"trialdeck capsule remove {TAG}" in output
    assert "✗ unusable" in said("list")
    assert json.loads(said("check", TAG, "--json", code=2))["capsules"][0]["state"] == "unusable"
    said("remove", TAG)


def test_what_is_not_there_is_said_in_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "can be built with that tag" in refused(capsys, monkeypatch, "build", "nothing-v1")
    assert "there is no capsule" in refused(capsys, monkeypatch, "check", TAG)
    assert "there is no capsule" in refused(capsys, monkeypatch, "remove", TAG)
    assert "no tag" in refused(capsys, monkeypatch, "remove", "../x")
