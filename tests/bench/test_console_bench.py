"""The busy run that is written, and the cursor that is read off the terminal."""

from __future__ import annotations

from pathlib import Path

from bench.console.terminal import CursorRow
from bench.console.writer import ATTEMPTS, CONCURRENCY, Busy, plan
from engine import events as ev
from engine.state import RunState
from engine.trial_state import DONE, RUNNING


def row(trial: str, at: int = 5) -> str:
    return f"\x1b[{at};1H\x1b[38;2;1;2;3m› \x1b[0m\x1b[1m{trial.replace(' ', '   ')}\x1b[0m  ● agent"


def test_the_cursor_moves_to_another_trial() -> None:
    cursor = CursorRow()
    assert cursor.feed(row("task-0001 A 2"))
    assert cursor.row == "task-0001 A 2"
    assert cursor.feed("\x1b[5;1H  task-0001 A 2" + row("task-0001 B 2", 6))


def test_a_row_that_moves_under_its_cursor_is_no_answer_to_a_key() -> None:
    cursor = CursorRow()
    cursor.feed(row("task-0001 A 2"))
    assert not cursor.feed("\x1b[5;1H  task-0009 A 1" + row("task-0001 A 2", 9))


def test_a_row_cut_by_the_end_of_a_read_counts_once_it_is_whole() -> None:
    cursor = CursorRow()
    cursor.feed(row("task-0001 A 2"))
    text = row("task-0002 B 3")
    cut = text.index("B")
    assert not cursor.feed(text[:cut])
    assert cursor.feed(text[cut:])


def test_other_marks_and_titles_are_no_cursor() -> None:
    cursor = CursorRow()
    assert not cursor.feed("\x1b[1;1H runs › busy\x1b]0;title › task-0001 A 1\x07\x1b[2;1H› nothing")
    assert cursor.row == ""


def test_the_plan_has_the_trials_it_says() -> None:
    planned = plan(100)
    assert sum(isinstance(event, ev.TrialPlanned) for event in planned) == 100
    assert planned[0].attempts == ATTEMPTS if isinstance(planned[0], ev.RunPlanned) else False


def test_the_busy_run_is_a_run_that_could_have_been(tmp_path: Path) -> None:
    """As many at a time as it says, every trial to its end, nothing out of order."""
    planned = plan(100)
    state = RunState()
    state.apply_all(planned)
    busy = Busy(tmp_path, [event.trial for event in planned if isinstance(event, ev.TrialPlanned)], 40)
    most = 0
    for event in busy.stream():
        state.apply(event)
        most = max(most, state.count(RUNNING))
    assert most == CONCURRENCY
    assert {trial.state for trial in state.trials.values()} <= DONE
    assert len({trial.state for trial in state.trials.values()}) > 1
    assert not busy.running
