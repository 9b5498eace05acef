"""The log benchmark on a small log: both count the same, and every figure is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import logs


def test_search_and_grep_agree_on_what_is_measured(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    size = logs.write_log(log, 1 << 20)
    assert size == log.stat().st_size
    assert logs.search(log, logs.EXPRESSION) == logs.grep(log, logs.EXPRESSION) > 0
    assert logs.search(log, logs.LITERAL) == logs.grep(log, logs.LITERAL) == 0


def test_every_figure_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "QUICK_BYTES", 1 << 20)
    said: list[str] = []
    result = logs.measure_logs(quick=True, say=said.append)
    assert [check.name for check in result.checks][:2] == ["first page", "end"]
    assert len(result.checks) == 5 and len(result.series) == 4 and said
