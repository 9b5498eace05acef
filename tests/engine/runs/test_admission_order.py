"""Who starts next: cap, memory, CPU, and how long the first in line may be passed by."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.events import ArmInfo
from engine.runs.admission import MAX_OVERTAKEN, Admission
from engine.runs.plan import PlannedTask, PlannedTrial
from tests.engine.tasks.task_folders import UNTIMED


def trial(name: str, cpus: float = 0, memory_mb: int = 0) -> PlannedTrial:
    task = PlannedTask(id=name, task=None, cpus=cpus, memory_mb=memory_mb)
    return PlannedTrial(trial=name, task=task, arm=ArmInfo(name="a", agent="nop"), attempt=1, position=1)


def names(count: int) -> list[PlannedTrial]:
    return [trial(f"t{number}") for number in range(count)]


def test_no_more_than_the_cap_run_at_once() -> None:
    admission = Admission(2, 0, 0)
    queue = names(3)
    for expected in queue[:2]:
        choice = admission.choose(queue)
        assert choice.trial is expected
        admission.start(expected)
        queue = queue[1:]
    assert admission.choose(queue).trial is None
    admission.concurrency = 3
    assert admission.choose(queue).trial is queue[0]


def test_cpu_and_memory_each_hold_a_trial_back_and_say_how_much_is_missing() -> None:
    admission = Admission(9, 4.0, 8192)
    admission.start(trial("big", 3, 6144))
    assert admission.lacks(trial("x", 1, 2048)) == ""
    assert admission.lacks(trial("x", 1.5, 0)) == "cpu (needs 1.5, 1 free)"
    assert admission.lacks(trial("x", 0, 4096)) == "memory (needs 4 G, 2 G free)"
    assert admission.lacks(trial("x", 0, 2100)).startswith("memory (needs 2.05 G")


def test_fractions_of_a_cpu_add_up_exactly_enough() -> None:
    admission = Admission(99, 1.0, 0)
    for number in range(10):
        assert admission.lacks(trial(f"t{number}", 0.1)) == ""
        admission.start(trial(f"t{number}", 0.1))
    assert admission.lacks(trial("more", 0.1)).startswith("cpu")


def test_a_trial_larger_than_the_host_starts_alone() -> None:
    admission = Admission(4, 4, 1000)
    giant = trial("giant", 99, 99_000)
    assert admission.choose([giant]).trial is giant
    admission.start(giant)
    assert admission.choose([trial("small", 1, 1)]).trial is None


def test_small_ones_pass_the_first_in_line_only_so_often() -> None:
    admission = Admission(99, 0, 1000)
    admission.start(trial("running", 0, 900))
    head = trial("head", 0, 500)
    for number in range(MAX_OVERTAKEN):
        choice = admission.choose([head, trial(f"small{number}", 0, 1)])
        assert choice.trial is not None and choice.blocked is head and choice.reason.startswith("memory")
        admission.start(choice.trial)
    choice = admission.choose([head, trial("one too many", 0, 1)])
    assert (choice.trial, choice.blocked) == (None, head)
    admission.finish(trial("running", 0, 900))
    assert admission.choose([head]).trial is head


def test_another_first_in_line_may_be_passed_anew() -> None:
    admission = Admission(99, 0, 1000)
    admission.start(trial("running", 0, 900))
    for number in range(MAX_OVERTAKEN):
        admission.choose([trial("head", 0, 500), trial(f"small{number}", 0, 1)])
    assert admission.choose([trial("head", 0, 500), trial("small", 0, 1)]).trial is None
    assert admission.choose([trial("next head", 0, 500), trial("small", 0, 1)]).trial is not None


def test_a_trial_that_only_cleans_up_holds_no_slot_case_74() -> None:
    admission = Admission(1, 0, 1000)
    slow, after = trial("slow", 0, 800), trial("after", 0, 800)
    admission.start(slow)
    assert admission.choose([after]).trial is None
    admission.leave(slow)
    assert admission.choose([after]).trial is after
    admission.finish(slow)
    assert admission.leaving == {} and admission.running == {}


def test_no_more_clean_up_beside_the_running_ones_than_may_run_case_74() -> None:
    admission = Admission(2, 0, 0)
    first = names(2)
    for one in first:
        admission.start(one)
        admission.leave(one)
    assert admission.running == {}
    third = trial("third")
    admission.start(third)
    admission.leave(third)  # the daemon has enough to remove: it keeps its slot
    assert list(admission.running) == ["third"]
    admission.finish(third)
    assert admission.running == {}


@UNTIMED
@given(st.lists(st.tuples(st.floats(0, 6), st.integers(0, 12_000)), max_size=25), st.randoms(use_true_random=False))
def test_everything_starts_in_the_end_and_never_more_than_there_is(
    sizes: list[tuple[float, int]], chance: object
) -> None:
    admission = Admission(4, 4.0, 8000)
    queue = [trial(f"t{number}", *size) for number, size in enumerate(sizes)]
    done = 0
    while done < len(sizes):
        choice = admission.choose(queue)
        if choice.trial is not None:
            queue.remove(choice.trial)
            admission.start(choice.trial)
            running = list(admission.running.values())
            assert len(running) <= 4
            assert len(running) == 1 or sum(one.task.memory_mb for one in running) <= 8000
            continue
        assert admission.running  # nobody waits for nothing
        admission.finish(chance.choice(sorted(admission.running.values(), key=lambda one: one.trial)))  # type: ignore[attr-defined]
        done += 1
