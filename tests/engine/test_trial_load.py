"""How many trials ran at once (case 74)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.trial_load import running_beside
from engine.trial_state import TrialState


def trial(name: str, start: float | None, end: float | None = None) -> TrialState:
    zero = datetime(2026, 1, 1, tzinfo=UTC)
    moments = [zero + timedelta(seconds=at) if at is not None else None for at in (start, end)]
    return TrialState(trial=name, task=name, arm="a", attempt=1, started_at=moments[0], finished_at=moments[1])


def test_each_trial_is_told_how_many_others_ran_beside_it() -> None:
    trials = [trial("a", 0, 10), trial("b", 0, 5), trial("c", 5, 10), trial("d", 20, 30), trial("e", 25, None)]
    assert running_beside(trials) == pytest.approx({"a": 1, "b": 1, "c": 1, "d": 0.5})
    alone, three = [trial("a", 0, 4)], [trial(name, 0, 4) for name in "abc"]
    assert running_beside(alone) == {"a": 0}
    assert running_beside(three) == pytest.approx({"a": 2, "b": 2, "c": 2})


def test_of_a_trial_that_never_started_nothing_is_known() -> None:
    assert running_beside([trial("queued", None)]) == {}
    assert running_beside([trial("queued", None), trial("moment", 3, 3)]) == {"moment": 0}


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(-5, 20) | st.none()), max_size=20))
def test_a_clock_that_was_set_makes_no_negative_number(times: list[tuple[int, int | None]]) -> None:
    trials = [
        trial(str(number), start, None if lasted is None else start + lasted)
        for number, (start, lasted) in enumerate(times)
    ]
    beside = running_beside(trials)
    assert len(beside) == sum(lasted is not None for _, lasted in times)
    assert all(0 <= others < len(times) + 1e-9 for others in beside.values())
