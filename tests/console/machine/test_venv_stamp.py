"""When `.venv` is taken as it is, and when it's made again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from console.machine import venv
from console.machine.progress import Progress
from console.machine.venv import FOLDER, HELD_BY, STAMP, digest, ensure_venv, explain, is_ready, python_in, stamped

DEV = frozenset({"dev"})
MODELS = frozenset({"models"})
NONE: frozenset[str] = frozenset()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'trialdeck'\n")
    python_in(tmp_path).parent.mkdir(parents=True)
    python_in(tmp_path).write_text("")
    return tmp_path


def finish(root: Path, extras: frozenset[str]) -> None:
    stamp = {"digest": digest(root), "extras": sorted(extras)}
    (root / FOLDER / STAMP).write_text(json.dumps(stamp))


def test_a_finished_environment_is_taken_as_it_is(checkout: Path) -> None:
    finish(checkout, NONE)
    assert is_ready(checkout, NONE, digest(checkout))


def test_one_without_the_extras_is_completed_and_one_with_more_serves(checkout: Path) -> None:
    finish(checkout, NONE)
    assert not is_ready(checkout, DEV, digest(checkout))
    finish(checkout, DEV)
    assert is_ready(checkout, NONE, digest(checkout))


def test_what_one_extra_holds_of_another_is_not_installed_again(checkout: Path) -> None:
    finish(checkout, DEV)
    assert is_ready(checkout, MODELS, digest(checkout))
    finish(checkout, MODELS)
    assert not is_ready(checkout, DEV, digest(checkout))


def test_an_extra_holds_what_is_said_of_it() -> None:
    project = tomllib.loads((Path(venv.__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    for whole, parts in HELD_BY.items():
        for part in parts:
            assert set(extras[part]) <= set(extras[whole])


def test_extras_that_were_there_are_kept_when_others_come(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(checkout, MODELS)
    installed: list[frozenset[str]] = []
    monkeypatch.setattr(venv, "_create", lambda root, progress: None)
    monkeypatch.setattr(venv, "_install", lambda root, extras, progress: installed.append(extras))
    ensure_venv(checkout, Progress(), frozenset({"harbor"}))
    assert installed == [frozenset({"harbor", "models"})]
    assert stamped(checkout) == (digest(checkout), frozenset({"harbor", "models"}))


def test_a_changed_project_file_or_python_or_place_asks_for_a_new_one(checkout: Path, tmp_path: Path) -> None:
    before = digest(checkout)
    assert digest(checkout, python="3.99") != before
    assert digest(checkout, executable="/elsewhere/python3") != before
    (checkout / "pyproject.toml").write_text("[project]\nname = 'trialdeck'\nversion = '2'\n")
    assert digest(checkout) != before


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"digest": 1}', '{"digest": "x", "extras": null}'])
def test_a_broken_or_missing_stamp_is_not_trusted(checkout: Path, text: str) -> None:
    assert not is_ready(checkout, NONE, "x")
    (checkout / FOLDER / STAMP).write_text(text)
    assert not is_ready(checkout, NONE, "x")


def test_an_environment_whose_python_is_gone_is_made_again(checkout: Path) -> None:
    finish(checkout, NONE)
    python_in(checkout).unlink()
    assert not is_ready(checkout, NONE, digest(checkout))


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("NewConnectionError('<...>: Failed to establish a new connection: Name or service not known')", "reached"),
        ("SSLError(SSLCertVerificationError(1, 'CERTIFICATE_VERIFY_FAILED'))", "certificate"),
        ("ERROR: No matching distribution found for textual>=99", "can't be found"),
        ("ERROR: something else", "couldn't install"),
    ],
)
def test_pips_failures_are_explained_with_its_own_words(output: str, said: str) -> None:
    trouble = explain(output)
    assert said in trouble.what
    assert output in str(trouble)
