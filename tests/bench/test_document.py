"""The file that a machine reads."""

from __future__ import annotations

import json

from bench import machine
from bench.document import document
from tests.bench.results import MACHINE, check, result


def test_it_says_what_was_measured_on_what_and_whether_that_was_enough() -> None:
    told = json.loads(document(MACHINE, [result(check(0.15, aim=1 / 7))], quick=True))
    assert (told["format"], told["version"], told["quick"], told["ok"]) == ("trialdeck-bench", 1, True, True)
    assert told["machine"]["cpus"] == 2 and told["machine"]["load"] == [0.1, 0.2, 0.3]
    (only,) = told["results"]
    assert only["benchmark"] == "hello" and only["ok"] is True
    assert only["checks"][0] == {
        "name": "ratio",
        "value": 0.15,
        "unit": "",
        "target": 0.2,
        "below": False,
        "aim": 1 / 7,
        "met": True,
        "aim_met": False,
    }
    assert only["series"][0] == {"name": "trialdeck", "unit": "s", "values": [2.0, 1.9, 9.0]}


def test_a_missed_target_shows_at_the_top() -> None:
    told = json.loads(document(MACHINE, [result(check(0.1)), result(unmeasured="no Docker")], quick=False))
    assert told["ok"] is False
    assert [one["ok"] for one in told["results"]] == [True, False]


def test_the_machine_in_a_few_lines() -> None:
    shown = machine.lines(MACHINE)
    assert shown[0] == "2 CPUs, 8.0 GiB, load 0.10 0.20 0.30, Linux 6.1"
    assert shown[-1] == "trialdeck 0.1.0 abc1234, Python 3.12.1; textual 8.2.8"
