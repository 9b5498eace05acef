"""`trialdeck card`: cards that a person writes, and those that runs have pinned."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from console.commands.card import card
from console.errors import Unusable
from engine.agents.harbor.presence import harbor_version
from engine.runs.card import CardInvalid

SAMPLES = Path(__file__).resolve().parents[2] / "sample_runs"
DEMO = SAMPLES / "recorded" / "demo"


def typed(*words: str | Path) -> Result:
    return CliRunner().invoke(card, [str(word) for word in words])


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    shutil.copytree(SAMPLES / "tasks" / "hello", tmp_path / "tasks" / "hello")
    path = tmp_path / "mine.toml"
    assert typed("new", path).exit_code == 0
    return path


def test_a_new_card_is_checked_frozen_and_no_longer_changed(draft: Path) -> None:
    assert "arm         candidate: nop" in typed("check", draft).stdout
    assert "frozen, digest" in typed("freeze", draft).stdout
    assert typed("check", draft).exit_code == 0
    draft.write_text(draft.read_text().replace("attempts = 1", "attempts = 2"))
    assert isinstance(typed("check", draft).exception, CardInvalid)
    assert isinstance(typed("new", draft).exception, Unusable)


def test_the_card_of_a_run_is_read_by_its_file_or_its_folder(draft: Path) -> None:
    found = typed("check", DEMO / "card.toml")
    assert found.exit_code == 0, found.exception
    assert "digest      4759e4fe3be0" in found.stdout and "its frozen part is as it was" in found.stdout
    assert typed("diff", DEMO, DEMO / "card.toml").stdout == "the cards are the same\n"
    apart = json.loads(typed("diff", draft, DEMO / "card.toml", "--json").stdout)
    assert {"field": "attempts", "a": "1", "b": "2"}.items() <= next(
        one for one in apart["differences"] if one["field"] == "attempts"
    ).items()
    assert "the task sets differ: the scores are of different tasks" in apart["incomparable"]
    assert not any(one["field"] in ("acceptance", "primary_metric") for one in apart["differences"])


def test_a_run_whose_card_was_changed_is_refused(tmp_path: Path) -> None:
    shutil.copytree(DEMO, tmp_path / "run", ignore=shutil.ignore_patterns("*__*"))
    path = tmp_path / "run" / "card.toml"
    path.write_text(path.read_text().replace("seed = 4", "seed = 5"))
    assert "frozen part was changed" in str(typed("check", path).exception)


def test_a_draft_is_no_card_of_a_run(draft: Path) -> None:
    other = draft.with_name("card.toml")
    draft.rename(other)
    assert typed("check", other).exit_code == 0


@pytest.mark.skipif(bool(harbor_version()), reason="Harbor is in this interpreter")
def test_an_arm_that_this_host_lacks_the_agent_of_is_said_and_the_rest_of_the_card_runs(draft: Path) -> None:
    lacking = '[[arms]]\nname = "theirs"\nagent = "harbor"\nparameters = {agent = "nop"}\n'
    draft.write_text(draft.read_text().replace("[[arms]]", f"{lacking}\n[[arms]]", 1))
    found = typed("check", draft)
    assert found.exit_code == 0, found.exception
    assert "! arm theirs would not be run: Harbor's agents are not here" in found.stdout
