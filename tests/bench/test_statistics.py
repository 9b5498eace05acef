"""The benchmark of intervals, on small sizes: every figure is there and comes from what it says."""

from __future__ import annotations

import pytest

from bench import statistics


def test_every_figure_is_there_and_the_memory_is_far_from_that_of_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "QUICK_TURNS", 1)
    monkeypatch.setattr(statistics, "_DRAWS", 200)
    said: list[str] = []
    result = statistics.measure_statistics(quick=True, say=said.append)
    assert [check.target for check in result.checks] == [50.0, 2.0, 0.5, 16.0]
    assert all(check.value > 0 for check in result.checks) and len(result.series) == 5 and said
    assert result.checks[3].value < 16.0
