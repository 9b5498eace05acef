"""The known answers, as `compare --self-test` works them out."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.analysis import self_test
from engine.analysis.pairs import form_pairs
from engine.analysis.self_test import FIFTHS, known_answers, self_test_lines
from tests.engine.analysis.test_terminal_bench_answers import read_arm
from tests.shared_data import shared_data


def test_every_known_answer_is_met() -> None:
    answers = known_answers()
    assert len(answers) >= 30 and [answer.what for answer in answers if not answer.ok] == []
    assert self_test_lines(answers)[-1].endswith("known answers, every one is met")


def test_an_answer_that_is_off_or_can_not_be_worked_out_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(a_only: int, b_only: int) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(self_test, "mcnemar", broken)
    answers = known_answers()
    off = [answer.what for answer in answers if not answer.ok]
    assert off and all("McNemar" in what or "mid-p" in what or "first attempts" in what for what in off)
    assert self_test_lines(answers)[-1].endswith(f"{len(off)} OFF")
    assert any(line.startswith("✗ OFF") for line in self_test_lines(answers))


def test_what_is_kept_of_the_real_arms_is_what_they_show() -> None:
    data = shared_data("terminal-bench-core-0.1.1")
    a, b = (read_arm(data / name) for name in ("20250924_droid_gpt-5", "20250923_droid_claude-4-sonnet"))
    pairs = form_pairs(a, b)
    found = Counter(sum(one.resolved for one in pair.a) - sum(one.resolved for one in pair.b) for pair in pairs)
    assert dict(found) == FIFTHS
