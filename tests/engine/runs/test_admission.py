"""Which trial may start next."""

from __future__ import annotations

from engine.events import ArmInfo
from engine.runs.admission import Admission
from engine.runs.plan import PlannedTask, PlannedTrial


def trial(name: str, **task: object) -> PlannedTrial:
    planned = PlannedTask(id=name, task=None, **task)  # type: ignore[arg-type]
    return PlannedTrial(trial=name, task=planned, arm=ArmInfo(name="a", agent="nop"), attempt=1, position=1)


def test_what_only_one_trial_can_have_is_waited_for_while_others_overtake() -> None:
    """Case 4, case 16: fixed addresses in one range, in two tasks or twice in one."""
    admission = Admission(4, 0, 0)
    first, second = trial("first", alone=("10.1.0.0/24",)), trial("second", alone=("10.1.0.0/24", "10.2.0.0/24"))
    other = trial("other")
    admission.start(first)
    choice = admission.choose([second, other])
    assert choice.trial is other and choice.blocked is second
    assert choice.reason == "addresses (10.1.0.0/24, held by first)"
    admission.start(other)
    admission.finish(first)
    assert admission.choose([second]).trial is second


def test_memory_is_shared_out_and_a_giant_runs_alone() -> None:
    admission = Admission(4, 0, 1000)
    admission.start(trial("half", memory_mb=600))
    assert admission.choose([trial("giant", memory_mb=5000), trial("small", memory_mb=100)]).trial is not None
    assert "memory" in admission.lacks(trial("giant", memory_mb=5000))
    assert Admission(4, 0, 1000).lacks(trial("giant", memory_mb=5000)) == ""
