from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.readers.reader import Liveness
from screens.run_filter import FilterError, parse
from screens.run_order import COLUMNS, in_order
from screens.run_summary import ArmSummary, RunSummary
from screens.widgets.runs_table import RunsTable


def run(name: str, **given: object) -> RunSummary:
    plain: dict[str, object] = {
        "folder": Path("/runs") / name,
        "kind": "trialdeck",
        "name": name,
        "task_set": "samples 1.0",
        "arms": (ArmSummary("oracle", 1, 2, 4),),
        "liveness": Liveness.FINISHED,
        "done": 2,
        "planned": 4,
        "issues": 0,
        "started_at": datetime(2025, 11, 30, tzinfo=UTC),
        "last_event_at": datetime(2025, 11, 30, tzinfo=UTC),
        "seconds": 1.0,
        "exit_code": 0,
        "stamp": (1,),
    }
    return RunSummary(**plain | given)  # type: ignore[arg-type]


RUNS = [
    run("redis small"),
    run("job-7", kind="harbor", liveness=Liveness.STALE, exit_code=None),
    run("cancelled", exit_code=130, arms=(ArmSummary("sol-6.1 terminus2", 0, 0, 4),)),
    run("other", folder=Path("/elsewhere/other"), task_set="terminal-bench 2.0"),
]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", [0, 1, 2, 3]),
        ("RED", [0]),
        ("!redis", [1, 2, 3]),
        ("kind:harbor", [1]),
        ("kind:harbor state:stale", [1]),
        ("state:interrupted", [2]),
        ("!state:finished", [1, 2]),
        ("arm:sol", [2]),
        ("tasks:terminal", [3]),
        ("folder:elsewhere", [3]),
        ('name:"redis small"', [0]),
        ("/^(job|can)", [1, 2]),
        ("/^job-7$/ stale", [1]),
        ("kind:", [0, 1, 2, 3]),
        ("!", [0, 1, 2, 3]),
        ("/", [0, 1, 2, 3]),
    ],
)
def test_a_filter_lets_through_what_it_says(text: str, shown: list[int]) -> None:
    found = parse(text)
    assert [number for number, run in enumerate(RUNS) if found(run)] == shown


@pytest.mark.parametrize(("text", "said"), [("colour:red", "no field 'colour'"), ("/[", "regex:"), ("/*", "regex:")])
def test_what_is_no_filter_is_said_in_a_few_words(text: str, said: str) -> None:
    with pytest.raises(FilterError, match=said):
        parse(text)


@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_sorts_both_ways_and_keeps_what_is_unknown_last(column: str) -> None:
    unknown = run("zz", arms=(), issues=None, seconds=None, started_at=None, last_event_at=None, planned=0, task_set="")
    runs = [
        run("a", issues=1, seconds=1.0, done=1, exit_code=0),
        run(
            "b", issues=2, seconds=2.0, done=2, exit_code=3, kind="harbor", started_at=datetime(2025, 12, 1, tzinfo=UTC)
        ),
        unknown,
    ]
    up, down = in_order(runs, column, False), in_order(runs, column, True)
    assert sorted(run.name for run in up) == sorted(run.name for run in down) == ["a", "b", "zz"]
    if column in ("issues", "elapsed", "started", "done"):
        assert [run.name for run in up] == ["a", "b", "zz"]
        assert [run.name for run in down] == ["b", "a", "zz"]


def test_every_column_of_the_table_can_be_sorted_by() -> None:
    assert {column.name for column in RunsTable.COLUMNS} == set(COLUMNS)
