"""What runs again, and why the rest doesn't."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.commands.rerun import rerun
from engine.readers.open_run import open_run
from engine.triage.causes import Cause
from engine.triage.label_store import open_labels
from engine.triage.new_label import new_label
from engine.trial_state import TrialState
from tests.console.one_command import told

DEMO = Path(__file__).parents[2] / "sample_runs" / "recorded" / "demo"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DEMO, tmp_path / "demo"))


def test_a_labelled_trial_that_may_not_run_again_is_named_with_the_reason(run: Path) -> None:
    store = open_labels(open_run(run))
    trial = TrialState(trial="hello__replay__1", task="hello", arm="replay", attempt=1)
    at = datetime(2026, 1, 2, tzinfo=UTC)
    store.append(new_label(store.run_identity, trial, "ada", kind="label", cause=Cause.INFRASTRUCTURE, at=at))
    done = told(rerun, run, "--dry-run")
    assert "not again: hello__replay__1  infrastructure: it has a verdict" in done.stdout
    assert "no trial that has such a cause may" in str(done.exception)


def test_where_nothing_has_such_a_cause_it_is_said_so(run: Path) -> None:
    done = told(rerun, run, "--dry-run")
    assert "nothing runs again: no trial has such a cause" in str(done.exception)
    assert f"`trialdeck triage {run}` decides causes" in str(done.exception)
