"""A trial's engine time out of a run's events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench.floor import read_trials
from engine import events as ev
from engine.issues import Phase

START = datetime(2025, 11, 30, tzinfo=UTC)


def test_the_trial_that_built_the_image_is_left_out(tmp_path: Path) -> None:
    events: list[ev.Event] = []
    for trial, at, seconds in (("one", 0.0, 9.0), ("two", 8.5, 1.2), ("three", 9.5, 1.4)):
        events += [
            ev.TrialStarted(at=START + timedelta(seconds=at), trial=trial),
            ev.PhaseFinished(trial=trial, phase=Phase.PREPARE, seconds=seconds / 2),
            ev.PhaseFinished(trial=trial, phase=Phase.VERIFY, seconds=0.25),
            ev.PhaseFinished(trial=trial, phase=Phase.VERIFY, seconds=0.25, step="b"),
            ev.TrialFinished(trial=trial, outcome="scored", seconds=seconds),
        ]
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"".join(map(ev.encode, events)))
    trials = read_trials(file)
    assert trials.seconds == pytest.approx([1.2, 1.4])
    assert trials.phases == {"prepare": [0.6, 0.7], "verify": [0.5, 0.5]}
    assert trials.apart == pytest.approx([1.0])
