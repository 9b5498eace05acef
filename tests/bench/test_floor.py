"""A trial's engine time out of a run's events."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.floor import trial_seconds
from engine import events as ev
from engine.issues import Phase


def test_the_trial_that_built_the_image_is_left_out(tmp_path: Path) -> None:
    events: list[ev.Event] = []
    for trial, seconds in (("one", 9.0), ("two", 1.2), ("three", 1.4)):
        events += [
            ev.PhaseFinished(trial=trial, phase=Phase.PREPARE, seconds=seconds / 2),
            ev.PhaseFinished(trial=trial, phase=Phase.VERIFY, seconds=0.25),
            ev.PhaseFinished(trial=trial, phase=Phase.VERIFY, seconds=0.25, step="b"),
            ev.TrialFinished(trial=trial, outcome="scored", seconds=seconds),
        ]
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"".join(map(ev.encode, events)))
    found, phases = trial_seconds(file)
    assert found == pytest.approx([1.2, 1.4])
    assert phases == {"prepare": [0.6, 0.7], "verify": [0.5, 0.5]}
